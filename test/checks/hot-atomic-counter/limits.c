// What the rule is known to miss (fn_) or to report wrongly (fp_).
// RUN: %check-unit %s --format=json | FileCheck %s --implicit-check-not='"rule": "hot-atomic-counter"'
// CHECK: "findings": [

int fn_example(int x) { return x; }
