#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# No source file is longer than 800 lines: a file that grows past it does two jobs.
# usage: check_sizes.sh SOURCE_DIR
set -eu
cd "$1"
limit=800

# shellcheck disable=SC2046 # names in this tree have no spaces
awk -v limit="$limit" '
function finish() {
    if (lines > limit) {
        printf "%s: %d lines, the limit is %d\n", file, lines, limit
        failed = 1
    }
}
FNR == 1 { finish(); file = FILENAME; files++ }
{ lines = FNR }
END {
    finish()
    printf "%d files checked\n", files
    exit failed || files == 0
}' $(find include src tests bench cuda cmake -type f \
    \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' -o -name '*.sh' -o -name '*.cmake' \) \
    2>/dev/null | LC_ALL=C sort) dev
