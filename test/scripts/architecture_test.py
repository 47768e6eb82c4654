"""The architecture checks see what they are there to see."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def check(name, tree):
    return subprocess.run(
        [sys.executable, ROOT / f"test/architecture/check-{name}.py", "--root", tree],
        text=True, capture_output=True)


class Tree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name)

    def put(self, path, text=""):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


class Includes(Tree):
    def setUp(self):
        super().setUp()
        for header in ("analysis/facts/Facts.h", "analysis/program/Program.h",
                       "analysis/program/Finding.h", "analysis/report/Report.h",
                       "checks/Rule.h", "checks/other-rule/Other.h"):
            self.put(header)

    def complaints(self, path, include):
        self.put(path, f"#include {include}\n")
        return check("includes", self.root).stdout.splitlines()[:-1]

    def assert_allowed(self, path, include):
        self.assertEqual(self.complaints(path, include), [])

    def assert_refused(self, path, include):
        found = self.complaints(path, include)
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(f"{path}: includes "), found)
        (self.root / path).unlink()

    def test_allowed(self):
        self.assert_allowed("analysis/extract/A.cpp", '"clang/AST/Decl.h"')
        self.assert_allowed("tool/decontend/A.cpp", '"clang/AST/Decl.h"')
        self.assert_allowed("tool/decontend/A.cpp", '<sqlite3.h>')
        self.assert_allowed("analysis/facts/A.cpp", '"llvm/Support/JSON.h"')
        self.assert_allowed("analysis/report/A.cpp", '"analysis/program/Finding.h"')
        self.assert_allowed("checks/a-rule/A.cpp", '"analysis/program/Program.h"')
        self.assert_allowed("checks/Rules.cpp", '"checks/other-rule/Other.h"')

    def test_refused(self):
        self.assert_refused("checks/a-rule/A.cpp", '"clang/AST/Decl.h"')
        self.assert_refused("checks/a-rule/A.cpp", '"analysis/report/Report.h"')
        self.assert_refused("checks/a-rule/A.cpp", '<sqlite3.h>')
        self.assert_refused("checks/a-rule/A.cpp", '"checks/other-rule/Other.h"')
        self.assert_refused("checks/a-rule/A.cpp", '"../other-rule/Other.h"')
        self.assert_refused("analysis/facts/A.cpp", '"llvm/Object/ELF.h"')
        self.assert_refused("analysis/facts/A.cpp", '"analysis/program/Program.h"')
        self.assert_refused("analysis/report/A.cpp", '"analysis/program/Program.h"')
        self.assert_refused("runtime/a.c", '"analysis/facts/Facts.h"')


class Drift(Tree):
    PAGE = "".join(f"## {s}\n" for s in (
        "What it finds", "Example", "What it does not report", "Remedies",
        "Guards", "Limits"))

    def setUp(self):
        super().setUp()
        self.put("checks/Checks.def", 'RULE("a-rule", ARule)\n')
        self.put("checks/Rules.cpp", '#include "checks/a-rule/ARule.h"\n')
        self.put("checks/a-rule/ARule.h")
        self.put("docs/checks/a-rule.md", self.PAGE)
        self.put("test/checks/a-rule/bad.c")

    def found(self):
        return check("drift", self.root).stdout

    def test_whole(self):
        self.assertEqual(check("drift", self.root).returncode, 0, self.found())

    def test_missing(self):
        for path in ("checks/a-rule/ARule.h", "docs/checks/a-rule.md",
                     "test/checks/a-rule/bad.c"):
            text = (self.root / path).read_text()
            (self.root / path).unlink()
            self.assertEqual(check("drift", self.root).returncode, 1, path)
            self.put(path, text)
        self.test_whole()

    def test_unlisted(self):
        self.put("docs/checks/b-rule.md", self.PAGE)
        self.assertIn("docs/checks/b-rule: not a rule", self.found())

    def test_section_missing(self):
        self.put("docs/checks/a-rule.md", self.PAGE.replace("## Guards\n", ""))
        self.assertIn("wanted in this order", self.found())

    def test_long_file_and_vague_name(self):
        self.put("analysis/facts/Long.cpp", "\n" * 451)
        self.put("tool/StringUtils.cpp")
        self.assertIn("451 lines", self.found())
        self.assertIn("StringUtils.cpp: the name says nothing", self.found())


if __name__ == "__main__":
    unittest.main()
