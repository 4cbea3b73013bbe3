#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Only sources compiled for an instruction set use it: all other code of the library runs on every
# x86-64. No object has fused multiply-adds, which would give other bits than a product and a sum.
# usage: check_isa.sh BUILD_DIR
set -eu
cd "$1"

failed=0
count=0
for object in $(find CMakeFiles/mabd_objects.dir CMakeFiles/mabd_stages_baseline.dir \
    CMakeFiles/mabd_lanes_baseline.dir -name '*.o' | LC_ALL=C sort); do
    count=$((count + 1))
    # names of AVX instructions begin with v
    if objdump -d --no-show-raw-insn "$object" | grep -Eq '^ *[0-9a-f]+:[[:space:]]+v[a-z]|%[yz]mm'; then
        echo "$object: has instructions of AVX"
        failed=1
    fi
done
for object in $(find CMakeFiles -path '*mabd_*.dir*' -name '*.o' | LC_ALL=C sort); do
    if objdump -d --no-show-raw-insn "$object" | grep -Eq '[[:space:]]vfn?m(add|sub)'; then
        echo "$object: has fused multiply-adds"
        failed=1
    fi
done
echo "$count objects checked"
[ "$count" -gt 0 ] || failed=1
exit $failed
