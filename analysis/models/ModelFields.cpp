//===- ModelFields.cpp - Fields of a mapping, read and checked ------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/models/ModelFields.h"
#include "analysis/models/Models.h"

using namespace llvm;

namespace decontend {

bool FieldReader::fail(Value N, const Twine &Want, const Twine &Got) {
  if (Failure.empty())
    Failure = mismatch(Name, N, Want, Got);
  return false;
}

bool FieldReader::map(Value N, StringRef What, ArrayRef<Key> Keys) {
  if (N.Kind != YamlNode::Map)
    return fail(N, "a mapping (" + What + ")");
  StringMap<unsigned> Seen;
  for (auto [At, Item] : zip_equal(N.Keys, N.Items)) {
    const Key *Found = find_if(
        Keys, [&, &At = At](const Key &K) { return K.Name == At.Text; });
    if (Found == Keys.end()) {
      std::string Known = join(
          map_range(Keys, [](const Key &K) { return K.Name.str(); }), ", ");
      return fail(At, "a key of " + What + " (" + Known + ")");
    }
    auto [It, New] = Seen.try_emplace(At.Text, At.Line);
    if (!New)
      return fail(At, "each key once",
                  describe(At) + " again (first in line " + Twine(It->second) +
                      ")");
    if (!Found->Read(Item))
      return false;
  }
  return true;
}

bool FieldReader::list(Value N, StringRef What, const ReadValue &Item) {
  if (N.Kind != YamlNode::List)
    return fail(N, "a list of " + What);
  return all_of(N.Items, Item);
}

bool FieldReader::text(Value N, StringRef What, std::string &To) {
  StringRef Trimmed = StringRef(N.Text).trim();
  if (N.Kind != YamlNode::Scalar || Trimmed.empty() ||
      any_of(Trimmed, [](char C) { return C == '\n' || C == '\0'; }))
    return fail(N, What);
  To = Trimmed.str();
  return true;
}

bool FieldReader::oneOrMore(Value N, StringRef What,
                            std::vector<std::string> &To) {
  auto Add = [&](Value Item) {
    To.emplace_back();
    return text(Item, What, To.back());
  };
  if (N.Kind == YamlNode::Scalar)
    return Add(N);
  if (N.Kind != YamlNode::List || N.Items.empty())
    return fail(N, What + Twine(" or a list of them"));
  return all_of(N.Items, Add);
}

bool FieldReader::context(Value N, uint16_t &To) {
  constexpr StringRef What = "a context (init, exit, setup, teardown, hot, "
                             "async, admin, report)";
  auto Add = [&](Value Item) {
    uint16_t Bit = Item.Kind == YamlNode::Scalar ? contextFromName(Item.Text)
                                                 : uint16_t(CtxNone);
    if (Bit == CtxNone)
      return fail(Item, What);
    if (To & Bit)
      return fail(Item, "each context once");
    To |= Bit;
    return true;
  };
  if (N.Kind == YamlNode::Scalar)
    return Add(N);
  if (N.Kind != YamlNode::List || N.Items.empty())
    return fail(N, What + Twine(" or a list of them"));
  return all_of(N.Items, Add);
}

FieldReader::ReadValue FieldReader::toFlag(bool &To) {
  return [this, &To](Value N) {
    if (N.Kind != YamlNode::Scalar || (N.Text != "true" && N.Text != "false"))
      return fail(N, "true or false");
    To = N.Text == "true";
    return true;
  };
}

FieldReader::ReadValue FieldReader::toArg(int &To) {
  return [this, &To](Value N) {
    unsigned Number = 0;
    if (N.Kind != YamlNode::Scalar ||
        StringRef(N.Text).getAsInteger(10, Number) || Number > 31)
      return fail(N, "the number of an argument (0 to 31)");
    To = Number;
    return true;
  };
}

bool FieldReader::once(Value At, StringRef Kind, StringRef Text) {
  auto [It, New] = FirstLine.try_emplace((Kind + " " + Text).str(), At.Line);
  return New || fail(At, "one model of the " + Kind + " '" + Text + "'",
                     "another (first in line " + Twine(It->second) + ")");
}

} // namespace decontend
