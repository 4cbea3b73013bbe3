#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every header compiles alone as C17; the public headers and the source shared with CUDA also as
# C++17. Each begins with its SPDX line and has #pragma once. A header of src that its own .c file
# includes first has been compiled alone as C17 by the build, with the same warnings.
# usage: check_headers.sh SOURCE_DIR C_COMPILER CXX_COMPILER [FLAG...]
set -eu
source_dir=$1 cc=$2 cxx=$3
shift 3
cd "$source_dir"

failed=0
complain() {
    echo "$1"
    failed=1
}
warnings="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror"

# compile HEADER LANGUAGE STANDARD COMPILER [FLAG...]: a file that includes it and nothing else
compile() {
    header=$1 language=$2 standard=$3 compiler=$4
    shift 4
    # shellcheck disable=SC2086 # a list of options
    printf '#include "%s"\nint main(void);\n' "$header" |
        "$compiler" -x "$language" "-std=$standard" $warnings -D_POSIX_C_SOURCE=200809L \
            -Iinclude -Isrc -I. "$@" -fsyntax-only - ||
        complain "$header does not compile alone as $standard"
}

# built_alone PATH HEADER: the .c file beside it includes it before anything else
built_alone() {
    source=${1%.h}.c
    case $1 in src/*) ;; *) return 1 ;; esac
    [ -f "$source" ] && [ "$(grep -m 1 '^#' "$source")" = "#include \"$2\"" ]
}

count=0
for path in $(find include src bench -name '*.h' | LC_ALL=C sort); do
    count=$((count + 1))
    case $(head -n 1 "$path") in
        '// SPDX-License-Identifier: Apache-2.0') ;;
        *) complain "$path: line 1 must be the SPDX line" ;;
    esac
    [ "$(grep -c '^#pragma once$' "$path")" = 1 ] || complain "$path: needs #pragma once"

    header=${path#include/}
    header=${header#src/}
    built_alone "$path" "$header" || compile "$header" c c17 "$cc" "$@"
    case $path in
        src/math/lanes.h) ;; # uses vector extensions of C compilers
        include/mabd/* | src/math/* | src/joint/* | src/contact/* | src/formulation/affine/element/* | \
            src/dual/*_kernel.h | src/rigid/*)
            compile "$header" c++ c++17 "$cxx" "$@"
            ;;
    esac
done

for path in $(find src cuda tests bench -name '*.c' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' | LC_ALL=C sort); do
    case $(head -n 1 "$path") in
        '// SPDX-License-Identifier: Apache-2.0') ;;
        *) complain "$path: line 1 must be the SPDX line" ;;
    esac
done

echo "$count headers checked"
[ "$failed" = 0 ] && [ "$count" -gt 0 ]
