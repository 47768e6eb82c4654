# How lit runs the tests below this folder. By hand:
#   lit.py -sv -Dbuild=build/release test/checks/sync-rcu-wait
# with lit.py from /usr/lib/llvm-19/build/utils/lit.
import os
import sys

import lit.formats

source = os.path.dirname(os.path.abspath(__file__))
root = os.path.dirname(source)
build = os.path.abspath(
    lit_config.params.get("build", os.path.join(root, "build", "release")))
llvm = "/usr/lib/llvm-19/bin"

config.name = "decontend"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".c", ".cpp", ".test"]
config.excludes = ["Inputs", "architecture", "examples", "fuzz", "results",
                   "runtime", "scripts", "tools", "unit", "whole"]
config.test_source_root = source
config.test_exec_root = os.path.join(build, "test", "lit")

decontend = os.path.join(build, "bin", "decontend")
plugin = os.path.join(build, "lib", "libdecontend-tidy.so")
check_unit = " ".join([sys.executable, os.path.join(source, "tools", "check-unit"),
                       "--decontend", decontend, "--work", "%t"])
# The first that matches wins the text, so longer names come first.
config.substitutions += [
    ("%check-unit", check_unit),
    ("%clang-tidy", "clang-tidy-19"),
    ("%decontend", decontend),
    ("%plugin", plugin),
    ("%root", root),
]

config.environment["PATH"] = os.pathsep.join([llvm, os.environ["PATH"]])
# Neither the user's cache nor colours may reach a test.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
config.environment.pop("DECONTEND_CACHE", None)
config.environment["NO_COLOR"] = "1"

if os.path.exists(plugin):
    config.available_features.add("plugin")
if os.path.exists(os.path.join(build, "bin", "decontend-clangd")):
    config.available_features.add("clangd")
if any(os.path.exists(os.path.join(folder, "urcu.h"))
       for folder in ("/usr/include", "/usr/include/x86_64-linux-gnu",
                      "/usr/include/aarch64-linux-gnu")):
    config.available_features.add("liburcu")
