#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Install a build into a temporary prefix, move the prefix, and use it as a stranger would: build a
# program by find_package and by pkg-config, with the shared and the static library, and run the
# installed command from another directory.
# usage: check_install.sh BUILD_DIR CONSUMER_DIR C_COMPILER
set -eu
build=$1 consumer=$2 cc=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/moved

fail() {
    printf '%s\n' "$*"
    exit 1
}

cmake --install "$build" --prefix "$folder/installed" >"$folder/log" || { cat "$folder/log"; exit 1; }
mv "$folder/installed" "$prefix"
library=$(find "$prefix" -name 'libmabd.so')
[ -n "$library" ] || fail "libmabd.so is not installed"
libdir=${library%/*}
for file in include/mabd/mabd.h share/mabd/scenes/net.json share/mabd/scenes/redmax/whip.json \
    bin/mabd share/man/man1/mabd.1 \
    share/bash-completion/completions/mabd share/zsh/site-functions/_mabd \
    share/fish/vendor_completions.d/mabd.fish; do
    [ -s "$prefix/$file" ] || fail "$file is not installed"
done
[ -z "$(find "$prefix/share/mabd/scenes" -name README.md)" ] || fail "README.md is installed as a scene"
# Installed text must not name the build or the source tree.
if grep -rIl -e "$build" "$prefix"; then fail "these installed files name the build directory"; fi

# find_package
for kind in shared static; do
    { cmake -S "$consumer" -B "$folder/$kind" -DCMAKE_PREFIX_PATH="$prefix" -DMABD_KIND=$kind \
        -DCMAKE_C_COMPILER="$cc" -DCMAKE_BUILD_TYPE=Release && cmake --build "$folder/$kind"; } \
        >"$folder/log" 2>&1 || { cat "$folder/log"; fail "find_package, $kind library: the build failed"; }
    output=$("$folder/$kind/consumer") || fail "find_package, $kind library: the program failed: $output"
    echo "find_package, $kind library: $output"
done

# pkg-config; the static library is chosen by hiding the shared one.
export PKG_CONFIG_PATH="$libdir/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}"
pkg-config --exists --print-errors mabd || fail "pkg-config does not find mabd"
# shellcheck disable=SC2046 # lists of options
"$cc" "$consumer/consumer.c" $(pkg-config --cflags --libs mabd) -o "$folder/by_pc" ||
    fail "pkg-config, shared library: the build failed"
output=$(LD_LIBRARY_PATH="$libdir" "$folder/by_pc") || fail "pkg-config, shared library: the program failed: $output"
echo "pkg-config, shared library: $output"

# The command, from a directory that knows nothing of the scenes.
mkdir "$folder/elsewhere"
output=$(cd "$folder/elsewhere" && "$prefix/bin/mabd" run net --steps 3 --out net.h5 2>&1) ||
    fail "mabd run net --steps 3: exit code $?: $output"
[ -s "$folder/elsewhere/net.h5" ] || fail "mabd run net wrote no recording"
echo "mabd run net: $(printf '%s\n' "$output" | head -n 1)"
bash -n "$prefix/share/bash-completion/completions/mabd" || fail "the completion of bash has errors"
grep -q '^\.TH ' "$prefix/share/man/man1/mabd.1" || fail "mabd.1 is no man page"

# The static library by pkg-config last: it removes the shared one.
rm "$libdir"/libmabd.so*
# shellcheck disable=SC2046
"$cc" "$consumer/consumer.c" $(pkg-config --cflags --libs --static mabd) -o "$folder/by_pc_static" ||
    fail "pkg-config, static library: the build failed"
output=$("$folder/by_pc_static") || fail "pkg-config, static library: the program failed: $output"
echo "pkg-config, static library: $output"
