#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Check the text of the tree:
#   lines      sources have at most 100 columns
#   names      file names are unique: headers everywhere, other sources outside of src/formulation
#   gt         no test uses gt() of Criterion, which holds for equal values: lt() does not
#   comments   every function of include/mabd has a doc comment directly above it that stands alone
# usage: check_text.sh SOURCE_DIR
set -eu
cd "$1"
failed=0

sources() {
    find src include cuda tests bench examples -type f \( -name '*.[ch]' -o -name '*.cu' \
        -o -name '*.cuh' -o -name '*.cpp' -o -name '*.def' \) | LC_ALL=C sort
}

# Scripts: only their comments have to fit.
scripts() {
    find cuda tests bench -type f \( -name '*.sh' -o -name CMakeLists.txt \) | LC_ALL=C sort
    find cmake CMakeLists.txt dev -type f | LC_ALL=C sort
}

# COUNT FILE of every source with lines of more than 100 characters
long_lines() {
    # shellcheck disable=SC2046 # names in this tree have no spaces
    {
        LC_ALL=C.UTF-8 grep -cE '^.{101,}$' $(sources)
        LC_ALL=C.UTF-8 grep -cE '^ *#.{100,}$' $(scripts)
    } | awk -F: '$2 > 0 { print $2, $1 }'
}

# FILE:LINE of every use of gt()
greater() {
    grep -rnE '(^|[^a-z_])gt\(' tests --include='*.[ch]' --include='*.cpp' | cut -d: -f1,2
}

check_names() {
    twice=$(find include src cuda bench tests -name '*.h' -o -name '*.cuh' | sed 's|.*/||' | sort | uniq -d)
    twice="$twice $(find src cuda bench tests \( -name '*.c' -o -name '*.cu' -o -name '*.cpp' \) \
        -not -path 'src/formulation/*' | sed 's|.*/||' | sort | uniq -d)"
    for name in $twice; do echo "several files have the name $name"; done
    [ -z "${twice# }" ]
}

# NAME of every function of include/mabd without a doc comment of its own
bare_functions() {
    awk '
        FNR == 1 { comment = "" }
        /^\/\/\// { comment = comment $0 " "; next }
        /^MABD_API/ {
            name = $0
            if (name !~ /\(/) { getline more; name = name more }
            sub(/ *\(.*/, "", name)
            sub(/.*[ *]/, "", name)
            if (comment == "" || comment ~ /^\/\/\/ (The same|Both|Likewise|Its |And )|[Aa]s above/)
                print name
        }
        { comment = "" }' include/mabd/*.h
}

long_lines | awk '
    { printf "%s: %d lines of more than 100 columns\n", $2, $1 }
    END { exit NR > 0 }' || failed=1
bare_functions | awk '
    { printf "include/mabd: %s: expected a doc comment directly above it that stands alone\n", $1 }
    END { exit NR > 0 }' || failed=1
check_names || failed=1
greater | awk '
    { printf "%s: gt() holds for equal values, write lt() with its arguments swapped\n", $1 }
    END { exit NR > 0 }' || failed=1
exit "$failed"
