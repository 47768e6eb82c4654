"""./dev and the small scripts behind it."""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def run(*argv, **more):
    return subprocess.run([str(a) for a in argv], text=True, capture_output=True,
                          **more)


class Dev(unittest.TestCase):
    def test_prints_help(self):
        done = run(ROOT / "dev")
        self.assertEqual(done.returncode, 0)
        for command in ("setup", "build", "run", "test", "kernel", "bench",
                        "format", "new-check"):
            self.assertRegex(done.stdout, rf"(?m)^  {command}\b")

    def test_wrong_use(self):
        for argv in (["bogus"], ["bench"], ["bench", "bogus"], ["kernel"],
                     ["kernel", "../6.1"], ["kernel", "6.1", "no.patch"],
                     ["setup", "--bogus"], ["test", "--bogus"]):
            done = run(ROOT / "dev", *argv)
            self.assertEqual(done.returncode, 3, argv)
            self.assertTrue(done.stderr, argv)

    def test_prepared_kernel_is_used_as_it_is(self):
        with tempfile.TemporaryDirectory() as cache:
            ready = Path(cache, "kernel/build/6.1-wide")
            ready.mkdir(parents=True)
            (ready / "compile_commands.json").write_text("[]")
            done = run("env", f"DECONTEND_CACHE={cache}", ROOT / "dev", "kernel",
                       "-w", "6.1")
            self.assertEqual(done.stdout, f"{ready}\n", done.stderr)


class TestSummary(unittest.TestCase):
    def summary(self, **files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                Path(folder, name.replace("_", ".")).write_text(text)
            return run(sys.executable, ROOT / "scripts/test-summary", folder)

    CTEST = ('<testsuite><testcase name="unit" status="{unit}">{inner}</testcase>'
             '<testcase name="drift" status="run"/></testsuite>')

    def test_counts_inside_entries(self):
        done = self.summary(
            ctest_xml=self.CTEST.format(unit="run", inner=""),
            unit_xml='<testsuites><testsuite><testcase name="a" status="run"/>'
                     '<testcase name="b" status="run"><skipped/></testcase>'
                     '</testsuite></testsuites>',
            whole_txt="skipped linux\npassed ipcns\n")
        self.assertEqual(done.stdout, "3 passed, 0 failed, 2 skipped\n")
        self.assertEqual(done.returncode, 0)

    def test_crash_is_a_failure(self):
        done = self.summary(
            ctest_xml=self.CTEST.format(unit="fail", inner="<failure/>"))
        self.assertEqual(done.stdout, "1 passed, 1 failed, 0 skipped\n")
        self.assertEqual(done.returncode, 1)

    def test_nothing_ran(self):
        self.assertEqual(self.summary(ctest_xml="<testsuite/>").returncode, 1)


class CompileDatabase(unittest.TestCase):
    def test_writes_absolute_entries(self):
        with tempfile.TemporaryDirectory() as folder:
            run(sys.executable, ROOT / "scripts/compile-database", "-o",
                Path(folder, "db"), "a.c", "b.cpp", "--", "-DX", cwd=folder,
                check=True)
            text = Path(folder, "db/compile_commands.json").read_text()
        entries = json.loads(text)
        self.assertEqual([e["arguments"][:2] for e in entries],
                         [["clang-19", "-DX"], ["clang++-19", "-DX"]])
        self.assertTrue(all(Path(e["file"]).is_absolute() for e in entries))


if __name__ == "__main__":
    unittest.main()
