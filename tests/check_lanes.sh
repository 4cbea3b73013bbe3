#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gcc turns every loop over lanes that has a body in braces into vector code. A loop that stays
# scalar gives the right result several times as slowly, which no other test notices. The baseline
# is not checked: SSE2 has no instruction that selects between two values.
# usage: check_lanes.sh BUILD_DIR   (of gcc, optimised)
set -eu
cd "$1"
list=$(mktemp)
trap 'rm -f "$list"' EXIT

# Compilations of the lanes, one a line.
sed -n 's/^ *"command": "\(.*\)",$/\1/p' compile_commands.json | sed 's/\\\(.\)/\1/g' |
    grep ' -o CMakeFiles/mabd_lanes_' | grep -v 'mabd_lanes_baseline' >"$list" || { echo "this build compiles no loops over lanes"; exit 1; }

failed=0
loops=0
while IFS= read -r command; do
    source=${command##* -c }
    isa=${command#* -o CMakeFiles/mabd_lanes_}
    isa=${isa%%.dir*}
    wanted=$(grep -n 'MABD_EACH_LANE(l) {$' "$source" | cut -d: -f1)
    got=$(sh -c "$(printf '%s' "$command" | sed 's/ -o [^ ]*/ -o \/dev\/null/') -fopt-info-vec-optimized" 2>&1 |
        sed -n 's/^.*'"${source##*/}"':\([0-9]*\):[0-9]*: optimized: loop vectorized.*/\1/p')
    for line in $wanted; do
        loops=$((loops + 1))
        if ! printf '%s\n' "$got" | grep -qx "$line"; then
            echo "$source:$line: this loop is not a vector loop ($isa)"
            failed=1
        fi
    done
done <"$list"
echo "$loops loops checked"
[ "$loops" -gt 0 ] || failed=1
exit $failed
