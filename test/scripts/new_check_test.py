"""new-check in a copy of the tree: what it lays down is whole and compiles."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAME, CLASS = "busy-wait", "BusyWait"


def run(*argv, **more):
    return subprocess.run([str(a) for a in argv], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)


class NewCheck(unittest.TestCase):
    def setUp(self):
        self.work = tempfile.TemporaryDirectory()
        self.addCleanup(self.work.cleanup)
        self.copy = Path(self.work.name, "tree")
        shutil.copytree(ROOT, self.copy, symlinks=True, ignore=lambda folder, names:
                        {"build", ".git", ".cache", "__pycache__"} & set(names))

    def new_check(self, name):
        return run(sys.executable, self.copy / "scripts/new-check", "--root",
                   self.copy, name)

    def succeeds(self, *argv, **more):
        done = run(*argv, **more)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_lays_down_a_whole_rule(self):
        made = self.new_check(NAME)
        self.assertEqual(made.returncode, 0, made.stdout)
        for path in (f"checks/{NAME}/{CLASS}.h", f"checks/{NAME}/{CLASS}.cpp",
                     f"docs/checks/{NAME}.md", f"test/unit/{CLASS}Test.cpp",
                     *(f"test/checks/{NAME}/{kind}.c"
                       for kind in ("bad", "ok", "fix", "limits"))):
            self.assertTrue((self.copy / path).is_file(), path)
            self.assertIn(path, made.stdout)
        rules = [line for line
                 in (self.copy / "checks/Checks.def").read_text().splitlines()
                 if line.startswith("RULE(")]
        self.assertIn(f'RULE("{NAME}", {CLASS})', rules)
        self.assertEqual(rules, sorted(rules))
        listing = (self.copy / "checks/Rules.cpp").read_text()
        self.assertRegex(listing, rf'#include "(checks/)?{NAME}/{CLASS}\.h"\n'
                                  r'#include "(checks/)?')
        for check in ("drift", "includes"):
            self.succeeds(sys.executable,
                          self.copy / f"test/architecture/check-{check}.py",
                          "--root", self.copy)

    def test_is_formatted_and_compiles(self):
        self.assertEqual(self.new_check(NAME).returncode, 0)
        sources = [self.copy / f"checks/{NAME}/{CLASS}.h",
                   self.copy / f"checks/{NAME}/{CLASS}.cpp",
                   self.copy / f"test/unit/{CLASS}Test.cpp"]
        self.succeeds("clang-format-19", "--dry-run", "-Werror", *sources)
        for source in sources[1:]:
            self.succeeds("clang++-19", "-std=c++20", "-fsyntax-only", "-Wall",
                          "-Wextra", "-Wno-unused-parameter", "-Werror",
                          "-I", self.copy,
                          "-isystem", "/usr/lib/llvm-19/include", source)

    def test_refuses(self):
        for name in ("BusyWait", "busy_wait", "9busy", "busy-", "", "a/b"):
            self.assertEqual(self.new_check(name).returncode, 3, name)
        self.assertEqual(self.new_check("sync-rcu-wait").returncode, 3)
        self.assertEqual(self.new_check(NAME).returncode, 0)
        self.assertEqual(self.new_check(NAME).returncode, 3)

    @unittest.skipUnless(os.environ.get("DECONTEND_TEST_KERNEL"),
                         "builds a whole copy: ./dev test --kernel")
    def test_the_copy_builds_and_passes(self):
        self.assertEqual(self.new_check(NAME).returncode, 0)
        build = self.copy / "build/release"
        self.succeeds("cmake", "--preset", "release", cwd=self.copy)
        self.succeeds("cmake", "--build", build)
        self.succeeds("ctest", "--test-dir", build, "--output-on-failure", "-R",
                      "^(unit|architecture-.*)$")
        self.succeeds(sys.executable, "/usr/lib/llvm-19/build/utils/lit/lit.py",
                      "-sv", f"-Dbuild={build}", self.copy / f"test/checks/{NAME}")


if __name__ == "__main__":
    unittest.main()
