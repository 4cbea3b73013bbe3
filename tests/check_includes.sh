#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every #include against the order of the modules: arrows point one way, from later to earlier.
# usage: check_includes.sh SOURCE_DIR
set -eu
cd "$1"

# A solver of the dual system is a file that defines an ops table; its header, if it has one, is its own.
solvers=$(grep -l '^const mabd_dual_ops mabd_dual_' src/dual/*.c 2>/dev/null |
    sed 's|.*/||; s|\.c$||' | tr '\n' ' ' || true)

# shellcheck disable=SC2046 # names in this tree have no spaces
awk -v solvers="$solvers" '
# The one table. rank: a module may include modules of a lower rank and itself. sees: the highest rank
# it may include all the same; empty = all lower ones.
function module(name, order, highest, reason) {
    rank[name] = order
    sees[name] = highest == "" ? order : highest
    why[name] = reason
}
# library: a header of a dependency may be included below one path only.
function library(header, path) {
    owner[header] = owner[header] " " path
}
BEGIN {
    module("base",        0, "", "knows no physics")
    module("math",        1, "", "inline function text shared by C17, C++17 and CUDA")
    module("topology",    2, 0,  "integers only: needs no mathematics")
    module("scene",       2, "", "the only place that parses, sets defaults and rejects")
    module("body",        2, "", "one affine body: no scene, no state")
    module("joint",       3, 2,  "rows between two affine bodies: no state")
    module("contact",     3, 1,  "geometry of contacts: no scene, no model, no state")
    module("model",       4, "", "a scene turned into trusted arrays and a plan")
    module("dual",        5, 1,  "solvers see arrays of blocks: no scene, no model, no simulation")
    module("cpu",         6, "", "the stages of a step, over model and dual solvers")
    module("formulation", 7, "", "a way to step a model, built from stages")
    module("step",        8, "", "the simulation: picks a formulation, keeps time and state")
    module("record",      9, 1,  "files are written through the public API, so that it is always enough")
    module("render",      9, 1,  "pictures need geometry only")
    module("cli",         9, 1,  "the command is a user of the public API")
    module("bench",      10, "", "times whole steps, and kernels by themselves")

    library("jansson.h", "src/scene/"); library("jansson.h", "src/cli/")
    library("hdf5.h", "src/record/");   library("hdf5_hl.h", "src/record/")
    library("zlib.h", "src/render/");   library("zlib.h", "src/record/")
    library("cholmod.h", "src/dual/");  library("cblas.h", "src/dual/")
    library("lapacke.h", "src/dual/")
    library("umfpack.h", "src/dual/kkt_oracle.c")   # GPL: tests only
    library("mujoco/mujoco.h", "bench/peers/"); library("ode/ode.h", "bench/peers/")

    count = split(solvers, list, " ")
    for (i = 1; i <= count; i++) is_solver[list[i]] = 1
}
function complain(text) {
    printf "%s:%d: %s\n", FILENAME, FNR, text
    failed = 1
}
function exists(path,    line, found) {
    found = (getline line < path) >= 0
    close(path)
    return found
}
FNR == 1 {
    files++
    parts = split(FILENAME, path, "/")
    here = path[1] == "src" ? path[2] : path[1] == "bench" ? "bench" : "public"
    stem = path[parts]
    sub(/\.[a-z]+$/, "", stem)
    if (here != "public" && !(here in rank))
        complain("module " here " is not in the table of tests/check_includes.sh")
}
/^[ \t]*#[ \t]*include/ {
    includes++
    if (match($0, /<[^>]*>/)) {
        header = substr($0, RSTART + 1, RLENGTH - 2)
        if (!(header in owner)) next
        allowed = 0
        count = split(owner[header], list, " ")
        for (i = 1; i <= count; i++) if (index(FILENAME, list[i]) == 1) allowed = 1
        if (!allowed) complain("<" header "> belongs to" owner[header])
        next
    }
    if (!match($0, /"[^"]*"/)) { complain("an include must name its file"); next }
    header = substr($0, RSTART + 1, RLENGTH - 2)
    there = header
    sub(/\/.*/, "", there)

    if (there == "mabd") {
        if (!exists("include/" header)) complain("include/" header " does not exist")
        next
    }
    if (here == "public") { complain("a public header includes public headers only"); next }
    if ((here == "cli" || here == "bench") && there == "bench" && exists(header)) next
    if (!(there in rank)) { complain("write \"" header "\" as \"module/file.h\""); next }
    if (!exists("src/" header)) { complain("src/" header " does not exist"); next }

    if (there != here && (rank[there] >= rank[here] || rank[there] > sees[here]))
        complain(here " must not include " there " (" here ": " why[here] ")")

    name = header
    sub(/.*\//, "", name)
    sub(/\.h$/, "", name)
    if (there == "dual" && here == "dual" && (name in is_solver) && name != stem)
        complain("a dual solver must not include its sibling " name)
    if (there == "formulation" && here == "formulation") {
        levels = split(header, folder, "/")
        if (levels == 3 && folder[2] != path[3])
            complain("formulation " path[3] " must not include its sibling " folder[2])
    }
}
END {
    printf "%d includes in %d files checked\n", includes, files
    exit failed || includes == 0
}' $(find include src bench -name '*.[ch]' 2>/dev/null | LC_ALL=C sort)
