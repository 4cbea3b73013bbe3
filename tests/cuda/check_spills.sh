#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The compiler flags of kernels make register spills an error, and nothing else.
# usage: check_spills.sh SOURCE.cu COMPILER FLAG...
set -eu
source=$1 compiler=$2
shift 2
[ $# -gt 0 ] || { echo "no flags to look at"; exit 1; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# compile THREADS [FLAG...]: blocks of so many threads, for sm_80
compile() {
    threads=$1
    shift
    "$compiler" -std=c++20 -arch=sm_80 -DMABD_TEST_THREADS="$threads" "$@" -c "$source" \
        -o "$folder/spills.o" >"$folder/output" 2>&1
}

compile 128 "$@" || { cat "$folder/output"; echo "a kernel with registers enough does not compile"; exit 1; }
compile 1024 || { cat "$folder/output"; echo "without the flags a kernel that spills does not compile"; exit 1; }
if compile 1024 "$@"; then
    echo "a kernel that spills compiles"
    exit 1
fi
grep -i spill "$folder/output" || { cat "$folder/output"; echo "it failed for another reason"; exit 1; }
