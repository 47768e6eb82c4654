"""bench-analyser on the example, and on a source that it must leave alone."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DECONTEND = Path(os.environ.get("DECONTEND_BUILD", ROOT / "build/release"),
                 "bin/decontend")


@unittest.skipUnless(DECONTEND.exists(), "decontend is not built")
class BenchAnalyser(unittest.TestCase):
    def test_measures_and_leaves_sources_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            sources = []
            for name in "abc":
                source = Path(folder, f"{name}.c")
                source.write_text(f"int {name}(void) {{ return 0; }}\n")
                sources.append(source)
            before = [s.stat() for s in sources]
            database, out = Path(folder, "db"), Path(folder, "out.json")
            subprocess.run([sys.executable, ROOT / "scripts/compile-database",
                            "-o", database, *sources], check=True)
            subprocess.run([sys.executable, ROOT / "scripts/bench-analyser",
                            "-p", database, "--decontend", DECONTEND, "--root",
                            folder, "--json", out], check=True,
                           stdout=subprocess.DEVNULL)
            after = [s.stat() for s in sources]
            self.assertEqual([(s.st_ino, s.st_mtime_ns, s.st_size) for s in before],
                             [(s.st_ino, s.st_mtime_ns, s.st_size) for s in after])
            self.assertEqual(sorted(p.name for p in Path(folder).glob("*.c*")),
                             ["a.c", "b.c", "c.c"])
            summary = json.loads(out.read_text())
        self.assertEqual(summary["units"], 3)
        runs = summary["runs"]
        self.assertEqual(list(runs), ["clang", "cold", "warm", "touched"])
        self.assertTrue(all(not run["failed"] for run in runs.values()))
        self.assertEqual([runs[r]["cached"] for r in ("cold", "warm", "touched")],
                         [0, 3, 2])


if __name__ == "__main__":
    unittest.main()
