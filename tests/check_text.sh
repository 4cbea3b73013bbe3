#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Check the text of the tree:
#   lines      sources have at most 100 columns
#   names      file names are unique: headers everywhere, other sources outside of src/formulation
#   comments   every function of include/mabd has a doc comment directly above it that stands alone
# tests/text_exceptions.txt lists the older text that breaks the first and the last rule. The list
# may only shrink: new text follows the rules.
# usage: check_text.sh SOURCE_DIR           check
#        check_text.sh SOURCE_DIR --list    print the list as it would be now
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

list() {
    long_lines | sed 's/^/lines /'
    bare_functions | sed 's/^/comment /'
}

if [ "${2:-}" = --list ]; then
    list
    exit
fi
list | awk '
    NR == FNR && $1 == "lines" { lines[$3] = $2 }
    NR == FNR && $1 == "comment" { bare[$2] = 1 }
    NR == FNR { next }
    $1 == "lines" { total += $2 }
    $1 == "lines" && $2 > lines[$3] + 0 {
        printf "%s: %d lines of more than 100 columns; expected at most %d\n", $3, $2, lines[$3]
        failed = 1
    }
    $1 == "comment" { functions++ }
    $1 == "comment" && !($2 in bare) {
        printf "include/mabd: %s: expected a doc comment directly above it that stands alone\n", $2
        failed = 1
    }
    END {
        printf "%d long lines and %d functions without a doc comment are left\n", total, functions
        exit failed
    }' tests/text_exceptions.txt - || failed=1
check_names || failed=1
exit "$failed"
