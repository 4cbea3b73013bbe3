#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# README.md has at most 120 lines, shows the marked part of examples/c/net.c to the letter, and no
# link of a Markdown page in this repository points to a file that does not exist.
# usage: check_readme.sh SOURCE_DIR
set -eu
cd "$1"
failed=0
complain() {
    echo "$1"
    failed=1
}

lines=$(wc -l <README.md)
[ "$lines" -le 120 ] || complain "README.md: $lines lines, the limit is 120"

shown=$(sed -n '/^```c$/,/^```$/{/^```/!p}' README.md)
source=$(sed -n '/\[readme$/,/readme\]$/{/readme/!p}' examples/c/net.c)
[ "$shown" = "$source" ] || complain "README.md: the C program is not the marked part of examples/c/net.c"

count=0
for page in $(git ls-files '*.md' 2>/dev/null || find . -name '*.md' -not -path './build/*'); do
    folder=$(dirname "$page")
    for target in $(grep -o '](\([^)# ]*\)' "$page" | sed 's/](//' | sort -u); do
        case $target in *://* | '') continue ;; esac
        count=$((count + 1))
        [ -e "$folder/$target" ] || complain "$page: $target does not exist"
    done
done

echo "$lines lines, $count links checked"
[ "$failed" = 0 ] && [ "$count" -gt 0 ]
