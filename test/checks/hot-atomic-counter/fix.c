// What a rewrite must give. None so far.
// RUN: %check-unit %s --format=json | FileCheck %s --implicit-check-not='"rule": "hot-atomic-counter"'
// CHECK: "findings": [

int bad_rewritten(int x) { return x; }
