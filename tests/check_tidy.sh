#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run clang-tidy on the C sources of the library, the command and the benchmarks, with the options
# of a build. A source whose preprocessed text, options and checks passed before is not checked
# again: the marks are in BUILD_DIR/tidy. A source that the build compiles for several instruction
# sets is checked once. Sources of other engines are checked where the build compiles them.
# usage: check_tidy.sh SOURCE_DIR BUILD_DIR CLANG_TIDY JOBS
set -eu

# check_tidy.sh --one FILE: check one source, with the settings in the environment
if [ "$1" = --one ]; then
    file=$2
    command=$(grep -F -m 1 -A 1 -- "-c $PWD/$file\"" "$MABD_TIDY_BUILD/commands" || true)
    if [ -z "$command" ]; then
        case $file in bench/peers/engine_*) exit 0 ;; esac
        echo "$file: the build does not compile it"
        exit 1
    fi
    command=$(printf '%s' "$command" | head -n 1 | sed 's/^"//; s/"$//; s/\\\(.\)/\1/g; s/ -o [^ ]*//; s/ -c / -E -CC /')
    key=$( (cat .clang-tidy; echo "$MABD_TIDY_VERSION $command"; cd "$MABD_TIDY_BUILD" && sh -c "$command") |
        sha256sum | cut -d' ' -f1)
    mark=$MABD_TIDY_BUILD/tidy/$key
    [ ! -e "$mark" ] || exit 0
    output=$("$MABD_TIDY" -p "$MABD_TIDY_BUILD/tidy" --quiet "$file" 2>&1) || { printf '%s\n' "$output"; exit 1; }
    : >"$mark"
    exit 0
fi

script=$(realpath "$0")
cd "$1"
MABD_TIDY_BUILD=$(realpath "$2") MABD_TIDY=$3
MABD_TIDY_VERSION=$("$MABD_TIDY" --version)
export MABD_TIDY_BUILD MABD_TIDY MABD_TIDY_VERSION
mkdir -p "$MABD_TIDY_BUILD/tidy"
sed -n 's/^ *"command": \(".*"\),$/\1/p' "$MABD_TIDY_BUILD/compile_commands.json" >"$MABD_TIDY_BUILD/commands"
# clang-tidy runs once for each entry of a source: the first one is kept.
awk '/^{/ { entry = "" } { entry = entry $0 "\n" } /^ *"file":/ { source = $2 }
    /^}/ && !seen[source]++ { sub(/}.*/, "}", entry); printf "%s%s", between, entry; between = ",\n" }
    BEGIN { print "[" } END { print "\n]" }' \
    "$MABD_TIDY_BUILD/compile_commands.json" >"$MABD_TIDY_BUILD/tidy/compile_commands.json"
# The largest sources first: the last ones to finish are short.
find src bench -name '*.c' -exec wc -c {} + | awk '$2 != "total" { print }' | sort -rn | awk '{ print $2 }' |
    xargs -P "$4" -n 1 "$script" --one
echo "$(find src bench -name '*.c' | wc -l) sources checked"
