//===- ModelsDigest.cpp - What identifies a set of models -----------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/models/Models.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/HashBuilder.h"

using namespace llvm;

namespace decontend {

void Models::computeDigest() {
  HashBuilder<BLAKE3, endianness::little> Hash;
  // Strings are hashed with their length, so fields cannot run together. The
  // first string changes whenever the meaning of a field does.
  auto Str = [&](StringRef S) { Hash.add(S); };
  Str("decontend-models-3");
  Hash.add(Functions.size());
  for (const FunctionModel &F : Functions) {
    Str(F.Name);
    Hash.add(F.Wait.has_value());
    if (F.Wait) {
      Hash.add(F.Wait->Cost, F.Wait->DomainArg);
      for (const std::string *S :
           {&F.Wait->Flavour, &F.Wait->Deferred, &F.Wait->BarrierCall,
            &F.Wait->HeadType, &F.Wait->FreeMacro, &F.Wait->Expedite})
        Str(*S);
    }
    Hash.add(F.Frees, F.CacheArg, F.Unlinks, F.UnlinksIfNull, F.DropsRef,
             F.TakesRef, F.Acquires, F.Releases, F.LockIsGlobal, F.Allocates,
             F.Sleeps, F.Inert, F.StopsDevice, F.DestroysDomain, F.WaitsForWork,
             F.Opaque);
    Hash.add(F.LockMode, F.LockOn, F.LockRest, F.AssertsArg, F.ReturnsArg,
             F.NoReturn, F.LockWith.size());
    for (const std::string &S : F.LockWith)
      Str(S);
    Hash.add(F.LockUnless.size());
    for (const std::string &S : F.LockUnless)
      Str(S);
    Str(F.LockObject);
    Str(F.FreeByRcu);
    Str(F.Lock);
    Str(F.Defers);
    Str(F.Asserts);
    Hash.add(F.Reports, F.Clock, F.Atomic.has_value());
    if (F.Atomic)
      Hash.add(F.Atomic->Op, F.Atomic->On, F.Atomic->By, F.Atomic->Returns,
               F.Atomic->Tests);
    Hash.add(F.Callbacks.size());
    for (const CallbackModel &C : F.Callbacks) {
      Hash.add(C.Arg, C.Context, C.Inline);
      Str(C.Holds);
    }
  }
  Hash.add(Slots.size());
  for (const SlotModel &S : Slots) {
    Str(S.Slot);
    Hash.add(S.Context);
    Str(S.Why);
    Str(S.Holds);
    Hash.add(S.Worker);
  }
  Hash.add(Entries.size());
  for (const EntryModel &E : Entries) {
    Str(E.Pattern);
    Hash.add(E.Kind, E.Context, E.Exports);
    Str(E.Why);
  }
  Hash.add(CounterTypes.size());
  for (const CounterTypeModel &C : CounterTypes) {
    Str(C.Type);
    Hash.add(C.Kind, C.Width);
  }
  Hash.add(Records.size());
  for (const RecordModel &R : Records) {
    Str(R.Record);
    Hash.add(R.Sharing);
    Str(R.Why);
  }
  Hash.add(Paces.size());
  for (const PaceModel &P : Paces) {
    Str(P.Pattern);
    Hash.add(P.At);
  }
  Hash.add(Remedies.size());
  for (const CounterRemedy &R : Remedies) {
    Hash.add(R.InitFails, R.Variable, R.For.size());
    for (const std::string &Type : R.For)
      Str(Type);
    for (const std::string *S :
         {&R.Id,          &R.Language, &R.Type,         &R.Header,
          &R.Needs,       &R.Init,     &R.InitHeader,   &R.Destroy,
          &R.Inc,         &R.Dec,      &R.Add,          &R.Sub,
          &R.AddBatch,    &R.AddLocal, &R.SubLocal,     &R.LocalNeeds,
          &R.Set,         &R.Read,     &R.ReadPositive, &R.Sum,
          &R.SumPositive, &R.SumLocks, &R.Define,       &R.DefineStatic,
          &R.BootFailure, &R.Declare,  &R.EachCpu,      &R.OfCpu})
      Str(*S);
  }
  DigestHex = toHex(Hash.final(), /*LowerCase=*/true);
}

} // namespace decontend
