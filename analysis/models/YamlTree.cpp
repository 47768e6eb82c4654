//===- YamlTree.cpp - A YAML document with its places ---------------------===//
//
// Part of decontend, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "analysis/models/YamlTree.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Casting.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/YAMLParser.h"
#include <fmt/format.h>
#include <utility>

using namespace llvm;

namespace decontend {

std::string mismatch(StringRef Name, const YamlNode &N, const Twine &Want,
                     const Twine &Got) {
  return fmt::format("{}:{}:{}: expected {}, found {}", Name.str(), N.Line,
                     N.Column, Want.str(), Got.str());
}

std::string describe(const YamlNode &N) {
  switch (N.Kind) {
  case YamlNode::Null:
    return "nothing";
  case YamlNode::List:
    return "a list";
  case YamlNode::Map:
    return "a mapping";
  case YamlNode::Scalar:
    break;
  }
  // Errors are one line each, whatever the file holds.
  std::string Out = "'";
  for (char C : StringRef(N.Text).take_front(60))
    Out += static_cast<unsigned char>(C) < ' ' ? ' ' : C;
  return Out + (N.Text.size() > 60 ? "...'" : "'");
}

namespace {

/// Copies one document. Keeps the first error only: what the parser says after
/// it has lost its way helps nobody.
class TreeCopier {
public:
  TreeCopier(StringRef Name, StringRef Text)
      : Name(Name), Text(Text), Input(MemoryBufferRef(Text, Name), Manager) {
    Manager.setDiagHandler(
        [](const SMDiagnostic &D, void *Self) {
          static_cast<TreeCopier *>(Self)->syntaxError(D);
        },
        this);
  }

  Expected<YamlNode> copy() {
    YamlNode Root;
    yaml::document_iterator Doc = Input.begin();
    if (Doc != Input.end()) {
      if (yaml::Node *N = Doc->getRoot())
        Root = copyNode(*N, 0);
      if (Failure.empty() && !Input.failed()) {
        ++Doc;
        if (Failure.empty() && Doc != Input.end()) {
          yaml::Node *Second = Doc->getRoot();
          if (Second && !isa<yaml::NullNode>(Second))
            fail(place(*Second), "the end of the file", "a second document");
        }
      }
    }
    if (Failure.empty() && Input.failed())
      fail(Root, "YAML", "a syntax error");
    if (!Failure.empty())
      return createStringError(inconvertibleErrorCode(), "%s", Failure.c_str());
    return Root;
  }

private:
  static constexpr unsigned MaxDepth = 16;

  void fail(const YamlNode &At, const Twine &Want, const Twine &Got) {
    if (Failure.empty())
      Failure = mismatch(Name, At, Want, Got);
  }

  void syntaxError(const SMDiagnostic &D) {
    YamlNode At;
    At.Line = D.getLineNo() > 0 ? D.getLineNo() : 1;
    At.Column = D.getColumnNo() >= 0 ? D.getColumnNo() + 1 : 1;
    fail(At, "YAML", "a syntax error (" + D.getMessage() + ")");
  }

  /// The library says that a flow list, a flow map or an alias starts at the
  /// token after its first one; find the first one again.
  SMLoc start(const yaml::Node &N) {
    SMLoc Start = N.getSourceRange().Start;
    if (!Start.isValid() || isa<yaml::ScalarNode>(N))
      return Start;
    size_t Offset = Start.getPointer() - Text.data();
    if (Offset > Text.size())
      return Start;
    StringRef Before = Text.take_front(Offset);
    if (isa<yaml::AliasNode>(N))
      Before = Before.take_front(Before.rfind('*') + 1);
    else
      Before = Before.rtrim();
    if (Before.ends_with("[") || Before.ends_with("{") || Before.ends_with("*"))
      return SMLoc::getFromPointer(Before.end() - 1);
    return Start;
  }

  YamlNode place(const yaml::Node &N) {
    YamlNode Out;
    SMLoc Start = start(N);
    if (Start.isValid())
      std::tie(Out.Line, Out.Column) = Manager.getLineAndColumn(Start);
    return Out;
  }

  YamlNode copyNode(yaml::Node &N, unsigned Depth) {
    YamlNode Out = place(N);
    if (Depth > MaxDepth) {
      fail(Out, "fewer than " + Twine(MaxDepth) + " levels", "one more");
      return Out;
    }
    SmallString<64> Storage;
    if (auto *S = dyn_cast<yaml::ScalarNode>(&N)) {
      Out.Kind = YamlNode::Scalar;
      Out.Text = S->getValue(Storage).str();
    } else if (auto *B = dyn_cast<yaml::BlockScalarNode>(&N)) {
      Out.Kind = YamlNode::Scalar;
      Out.Text = B->getValue().trim().str();
    } else if (auto *L = dyn_cast<yaml::SequenceNode>(&N)) {
      Out.Kind = YamlNode::List;
      for (yaml::Node &Item : *L) {
        Out.Items.push_back(copyNode(Item, Depth + 1));
        if (!Failure.empty())
          return Out;
      }
    } else if (auto *M = dyn_cast<yaml::MappingNode>(&N)) {
      Out.Kind = YamlNode::Map;
      for (yaml::KeyValueNode &Pair : *M)
        if (!copyPair(Pair, Depth, Out))
          return Out;
    } else if (isa<yaml::AliasNode>(&N)) {
      fail(Out, "a name in quotes, if it starts with '*'", "a YAML alias");
    }
    return Out;
  }

  bool copyPair(yaml::KeyValueNode &Pair, unsigned Depth, YamlNode &Out) {
    yaml::Node *KeyNode = Pair.getKey();
    if (!KeyNode || !Failure.empty())
      return false;
    YamlNode Key = copyNode(*KeyNode, Depth + 1);
    if (Failure.empty() && Key.Kind != YamlNode::Scalar)
      fail(Key, "a key", describe(Key));
    yaml::Node *ValueNode = Failure.empty() ? Pair.getValue() : nullptr;
    if (!ValueNode)
      return false;
    YamlNode Value = copyNode(*ValueNode, Depth + 1);
    // A missing value has no place of its own; the next token's would mislead.
    if (Value.Kind == YamlNode::Null) {
      Value.Line = Key.Line;
      Value.Column = Key.Column;
    }
    Out.Keys.push_back(std::move(Key));
    Out.Items.push_back(std::move(Value));
    return Failure.empty();
  }

  StringRef Name, Text;
  std::string Failure;
  SourceMgr Manager;
  yaml::Stream Input;
};

} // namespace

Expected<YamlNode> parseYaml(StringRef Name, StringRef Text) {
  return TreeCopier(Name, Text).copy();
}

} // namespace decontend
