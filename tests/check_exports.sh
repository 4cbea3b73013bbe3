#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The shared library exports exactly the functions that include/mabd declares with MABD_API, and its
# users need no C++ runtime.
# usage: check_exports.sh SOURCE_DIR LIBRARY
set -eu
source_dir=$1 library=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# A declaration may run over several lines: its name is the first mabd_ before a parenthesis.
cat "$source_dir"/include/mabd/*.h | sed 's|//.*||' | tr '\n' ' ' | sed 's/MABD_API/\n&/g' |
    sed -n 's/^MABD_API[^(;]*[ *]\(mabd_[a-z0-9_]*\) *(.*/\1/p' | sort -u >"$folder/declared"
nm -D --defined-only "$library" | awk '{ print $3 }' | sort -u >"$folder/exported"

failed=0
count=$(wc -l <"$folder/declared")
[ "$count" -gt 100 ] || { echo "only $count functions found in include/mabd"; failed=1; }
missing=$(comm -23 "$folder/declared" "$folder/exported")
extra=$(comm -13 "$folder/declared" "$folder/exported")
[ -z "$missing" ] || { printf 'declared, not exported:\n%s\n' "$missing"; failed=1; }
[ -z "$extra" ] || { printf 'exported, not declared:\n%s\n' "$extra"; failed=1; }
if readelf -d "$library" | grep 'NEEDED.*libstdc++'; then
    echo "the library needs the C++ runtime"
    failed=1
fi
echo "$count functions declared, $(wc -l <"$folder/exported") symbols exported"
exit "$failed"
