#!/usr/bin/env python3
"""Proves who may include whom (docs/architecture.md) by reading the includes."""

import argparse
import re
import sys
from pathlib import Path

# What the files of a folder may include of the project, besides their own
# folder. A full path allows that header only.
PROJECT = {
    "analysis/facts": [],
    "analysis/models": ["analysis/facts", "embedded/ModelTexts.h"],
    "analysis/extract": ["analysis/facts", "analysis/models"],
    "analysis/program": ["analysis/facts", "analysis/models"],
    "analysis/rewrite": ["analysis/facts"],
    "analysis/report": ["analysis/program/Finding.h", "analysis/rewrite/Plan.h"],
    # Facts and models are part of what Program.h and Plan.h speak of.
    "checks": ["checks/Rule.h", "checks/Checks.def", "analysis/facts",
               "analysis/models", "analysis/program", "analysis/rewrite"],
}
# Who may include headers of these libraries.
LIBRARIES = {
    "clang/": ["analysis/extract", "tool"],
    "clang-tidy/": ["tool"],
    "clang-c/": [],
    "sqlite3.h": ["analysis/program", "tool"],
}
# LLVM as far as facts go: data structures and the support library.
FACTS_LLVM = ("llvm/ADT/", "llvm/Support/")
INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', re.MULTILINE)
SOURCES = {".h", ".hpp", ".c", ".cpp", ".def"}


def layer_of(file):
    """The folder whose rules hold for a file; checks/<id> is one per rule."""
    parts = file.parts
    return "/".join(parts[:2]) if parts[0] == "analysis" else parts[0]


def own_folder(file):
    parts = file.parts
    if parts[0] == "checks" and len(parts) == 2:
        return "checks"  # Rules.cpp lists them all.
    return "/".join(parts[:2])


def within(header, allowed):
    return any(header == a or header.startswith(a.rstrip("/") + "/")
               for a in allowed)


def resolve(root, file, quoted, name):
    """Path of a project header from the root, or None if it is a library's."""
    candidates = [Path(name), Path("checks") / name]
    if quoted:
        candidates.insert(0, file.parent / name)
    for candidate in candidates:
        if (root / candidate).is_file():
            return (root / candidate).resolve().relative_to(root).as_posix()
    return name if name.startswith("embedded/") else None


def complaints(root, file):
    layer = layer_of(file)
    for quote, name in INCLUDE.findall((root / file).read_text()):
        for library, users in LIBRARIES.items():
            if name.startswith(library) and layer not in users:
                yield f"{file}: includes {name}, which only {users or 'nobody'} may"
        if (layer == "analysis/facts" and name.startswith("llvm/")
                and not name.startswith(FACTS_LLVM)):
            yield f"{file}: includes {name}; facts use LLVM's ADT and Support only"
        header = resolve(root, file, quote == '"', name)
        if header is None or within(header, [own_folder(file)]):
            continue
        if layer == "runtime":
            yield f"{file}: includes {header}; the runtime stands alone"
        elif layer in PROJECT and not within(header, PROJECT[layer]):
            yield f"{file}: includes {header}, which {layer} may not"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    root = parser.parse_args().root.resolve()
    files = sorted(f.relative_to(root)
                   for top in ("analysis", "checks", "tool", "runtime")
                   for f in (root / top).rglob("*") if f.suffix in SOURCES)
    found = [c for f in files for c in complaints(root, f)]
    for complaint in found:
        print(complaint)
    print(f"{len(files)} files, {len(found)} complaints")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
