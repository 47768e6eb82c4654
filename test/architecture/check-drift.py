#!/usr/bin/env python3
"""Proves that code, pages and tests of every rule exist, and no others, and that
the tree keeps to its house rules on file sizes and names."""

import argparse
import re
import sys
from pathlib import Path

RULE = re.compile(r'^RULE\("([^"]*)", (\w+)\)$', re.MULTILINE)
KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
# Sections that every page docs/checks/<id>.md has, in this order.
SECTIONS = ["What it finds", "Example", "What it does not report", "Remedies",
            "Guards", "Limits"]
CODE = ("analysis", "checks", "tool", "runtime")
SOURCES = {".h", ".hpp", ".c", ".cpp"}
TESTS = {".c", ".cpp", ".test"}
MAX_LINES = 450
VAGUE = re.compile(r"(utils?|common|helpers?|manager|misc)", re.IGNORECASE)


def folders(path):
    return {p.name for p in path.iterdir() if p.is_dir()} if path.is_dir() else set()


def headings(page):
    return re.findall(r"^## (.+?)\s*$", page.read_text(), re.MULTILINE)


def in_order(wanted, found):
    rest = iter(found)
    return all(w in rest for w in wanted)


def rule_complaints(root):
    rules = RULE.findall((root / "checks/Checks.def").read_text())
    ids = [rule for rule, _ in rules]
    if not ids:
        yield 'checks/Checks.def: no line of the form RULE("id", Class)'
    if ids != sorted(set(ids)):
        yield "checks/Checks.def: not sorted by id, or an id is listed twice"
    tests = root / "test/checks"
    pages = {p.stem for p in (root / "docs/checks").glob("*.md")} - {"README"}
    for what, there in (("checks", folders(root / "checks")),
                        ("test/checks", folders(tests)), ("docs/checks", pages)):
        for name in sorted(there - set(ids)):
            yield f"{what}/{name}: not a rule of checks/Checks.def"
        for name in sorted(set(ids) - there):
            yield f"{what}: nothing for the rule {name}"
    listing = (root / "checks/Rules.cpp").read_text()
    for rule, name in rules:
        if not KEBAB.fullmatch(rule):
            yield f"checks/Checks.def: {rule} is not in kebab case"
        if f'{rule}/{name}.h"' not in listing:
            yield f"checks/Rules.cpp: does not include {rule}/{name}.h"
        if not (root / f"checks/{rule}/{name}.h").is_file():
            yield f"checks/{rule}: no {name}.h"
        if rule in folders(tests) and not any(
                f.suffix in TESTS for f in (tests / rule).rglob("*")):
            yield f"test/checks/{rule}: no test in it"
        if rule in pages:
            found = headings(root / f"docs/checks/{rule}.md")
            if not in_order(SECTIONS, found):
                yield (f"docs/checks/{rule}.md: sections are {found}, "
                       f"wanted in this order: {SECTIONS}")


def file_complaints(root):
    for top in CODE:
        for file in sorted((root / top).rglob("*")):
            if file.suffix not in SOURCES:
                continue
            name = file.relative_to(root)
            lines = file.read_text().count("\n")
            if lines > MAX_LINES:
                yield f"{name}: {lines} lines, more than {MAX_LINES}"
            if VAGUE.fullmatch(file.stem) or re.search(
                    r"(Utils?|Common|Helpers?|Manager|Misc)$", file.stem):
                yield f"{name}: the name says nothing"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=Path, required=True)
    root = parser.parse_args().root.resolve()
    found = [*rule_complaints(root), *file_complaints(root)]
    for complaint in found:
        print(complaint)
    print(f"{len(found)} complaints")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
