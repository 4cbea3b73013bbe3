#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Check every #include against the order of the rooms: a room includes lower ranks and itself, and
# no two rooms include each other, directly or through others.
#
# A room is a folder. A folder with sub-folders is several rooms, since its sub-folders need its
# types and its own files need the sub-folders:
#   types   headers below the sub-folders; each is needed by another room than the folder itself
#   top     all other files of the folder, above the sub-folders
#   root    a .c file above its folder that nothing includes: it names the sub-folders or fills a
#           table of functions
# The check prints these files, so that a folder cannot hide a cycle behind a long list.
# usage: check_includes.sh SOURCE_DIR
set -eu
cd "$1"

# A solver of the dual system is a file that defines an ops table; its header, if it has one, is its
# own.
solvers=$(grep -l '^const mabd_dual_ops mabd_dual_' src/dual/*.c 2>/dev/null |
    sed 's|.*/||; s|\.c$||' | tr '\n' ' ' || true)

# shellcheck disable=SC2046 # names in this tree have no spaces
awk -v solvers="$solvers" '
# The one table. rank: a room includes rooms of lower rank and itself. sees: the highest rank it may
# include all the same; empty = all lower ones.
function room(name, order, highest, reason) {
    rank[name] = order
    sees[name] = highest == "" ? order : highest
    why[name] = reason
}
# only: a room includes these rooms and no others, whatever their rank.
function only(name, list,    parts, i, n) {
    limited[name] = 1
    n = split(list, parts, " ")
    for (i = 1; i <= n; i++) allowed_room[name, parts[i]] = 1
}
# types, root: a file that counts as another room than its folder (see above).
function types(path) { override[path] = "affine types"; kind[path] = "types"; parts_in_order[++part_count] = path }
function root(path, name) { override[path] = name; kind[path] = "root"; parts_in_order[++part_count] = path }
# library: a header of a dependency may be included below one path only.
function library(header, path) { owner[header] = owner[header] " " path }

BEGIN {
    room("base",        0, "", "knows no physics")
    room("math",        1, "", "inline source shared by C17, C++17 and CUDA")
    room("topology",    2, 0,  "integers only: needs no mathematics")
    room("scene",       2, "", "the only place that sets defaults and rejects")
    room("contact",     2, 1,  "geometry of contacts: no scene, no model, no state")
    room("joint",       3, 2,  "values of the rows of joints: no Jacobians, no state")
    room("generate",    3, "", "scenes from a few parameters, through the builder of scene")
    room("import/json", 4, 3,  "text to builder calls")
    room("model",       4, 3,  "a scene turned into trusted arrays and a plan")
    room("collide",     5, "", "model and poses to contact points")
    room("dual",        5, 1,  "solvers see arrays of blocks: no scene, no model, no simulation")
    room("rigid",       6, "", "rows, inertia and loads of rigid bodies: knows no formulation")
    room("formulation", 7, "", "the table of a formulation and the registry")
    room("affine types",    7.1, "", "the data of the affine formulation")
    room("affine/element",  7.2, "", "one body, one joint, one contact: inline source for lanes and threads")
    room("affine/cpu",      7.3, "", "stages on the CPU: lanes, tiles, threads")
    room("affine/contact",  7.4, "", "contact rows of the affine formulation")
    room("affine",          7.5, "", "the affine time step")
    room("quaternion",      7.5, "", "the quaternion formulation")
    room("redmax",          7.5, "", "the redmax formulation")
    room("variational",     7.5, "", "the variational formulation")
    room("impulse",         7.5, "", "the impulse formulation")
    room("formulation registry", 7.9, "", "the only place that names formulations")
    room("sim",         8, "", "the object behind mabd_sim: knows formulation.h and no formulation")
    room("gradient",    9, "", "tape, losses and optimiser: knows formulation.h and no formulation")
    room("record",      9, 1,  "files are written through the public API, so that it is always enough")
    room("render",      9, 1,  "pictures need geometry only")
    room("cli",        11,   "", "the command is a user of the public API")
    room("cli/bench",  11.5, "", "measures through the public API, but for kernels of contact and dual")
    room("cli/compare", 11.6, "", "formulations on one scene; draws with the plots of cli/bench")
    room("cli/gradient", 11.5, "", "derivatives of a run, through the public API")
    room("cli main",   11.9, "", "the table of commands")
    room("cuda/exec",     1.5, "", "runs kernels on the processor")
    room("cuda/runtime",  2.5, "", "devices, launches, reductions, libraries")
    room("cuda/dual",     5.5, "", "dual solvers on a device")
    room("cuda/affine",   7.45, "", "the affine formulation on a device")
    room("bench/peers",   9, 1,  "other engines on the scenes of mabd")
    room("bench/cuda-model", 12, "", "counts what kernels do")

    only("collide", "base math contact scene model collide")
    only("sim", "base math scene topology model rigid formulation sim")
    only("gradient", "base math scene topology joint import/json model rigid formulation sim gradient")
    only("cuda/exec", "base cuda/exec")
    only("cuda/runtime", "base math cuda/exec cuda/runtime")
    only("cuda/dual", "base math topology dual cuda/exec cuda/runtime cuda/dual")
    only("cuda/affine", "base math topology joint dual model cuda/exec cuda/runtime cuda/dual cuda/affine " \
         "formulation affine_types affine/element")
    only("cli", "base math cli")
    only("cli/bench", "base math contact dual cli cli/bench bench/peers")
    only("cli/compare", "base math cli cli/bench cli/compare")
    only("cli/gradient", "base math cli cli/gradient")
    only("cli main", "cli cli/bench cli/compare cli/gradient")

    root("src/cli/main.c", "cli main")
    root("src/formulation/registry.c", "formulation registry")
    root("src/formulation/affine/cpu/backend.c", "affine")
    types("src/formulation/affine/data.h")
    types("src/formulation/affine/body_types.h")
    types("src/formulation/affine/scheme.h")
    types("src/formulation/affine/dual_select.h")
    types("src/formulation/affine/report.h")
    types("src/formulation/affine/limits.h")
    types("src/formulation/affine/fields.def")
    types("src/formulation/affine/backend.h")
    types("src/formulation/affine/contact/contact.h")

    library("jansson.h", "src/import/json/"); library("jansson.h", "src/cli/")
    library("hdf5.h", "src/record/");   library("hdf5_hl.h", "src/record/")
    library("zlib.h", "src/render/");   library("zlib.h", "src/record/")
    library("cholmod.h", "src/dual/");  library("cblas.h", "src/dual/")
    library("lapacke.h", "src/dual/"); library("cblas.h", "cuda/exec/")
    library("umfpack.h", "tests/support/")   # GPL: tests only
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
# The room of a file of the tree, by its path.
function room_of(path,    name) {
    if (path in override) return override[path]
    if (path ~ /^include\//) return "public"
    name = path
    sub(/\/[^\/]*$/, "", name)
    sub(/^src\//, "", name)
    sub(/^formulation\/affine/, "affine", name)
    sub(/^formulation\/quaternion/, "quaternion", name)
    sub(/^formulation\/redmax/, "redmax", name)
    sub(/^formulation\/variational/, "variational", name)
    sub(/^formulation\/impulse/, "impulse", name)
    return name
}
# The file that an include names, "" if there is none.
function file_of(header) {
    if (exists("include/" header)) return "include/" header
    if (exists("src/" header)) return "src/" header
    if (header ~ /^(cuda|bench)\// && exists(header)) return header
    return ""
}
FNR == 1 {
    files++
    here = room_of(FILENAME)
    stem = FILENAME
    sub(/.*\//, "", stem)
    sub(/\.[a-z]+$/, "", stem)
    if (here != "public" && !(here in rank))
        complain("room " here " is not in the table of tests/check_includes.sh")
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
    file = file_of(header)
    if (file == "") { complain("\"" header "\" is not \"room/file.h\" of this tree"); next }
    there = room_of(file)
    if (kind[file] == "root") complain("\"" header "\" is the root of a folder: nothing includes it")
    if (here != "affine") needed[file] = 1
    if (there == "public") next
    if (here == "public") { complain("a public header includes public headers only"); next }
    if (!(there in rank)) { complain("room " there " is not in the table of tests/check_includes.sh"); next }
    key = there
    sub(/ /, "_", key)
    if (there != here) {
        if (here in limited ? !((here, key) in allowed_room) : rank[there] >= rank[here] || rank[there] > sees[here])
            complain(here " must not include " there " (" here ": " why[here] ")")
        else if (!((here, there) in edge)) {
            edge[here, there] = FILENAME
            out[here] = out[here] "|" there
        }
    }
    name = header
    sub(/.*\//, "", name)
    sub(/\.h$/, "", name)
    if (there == "dual" && here == "dual" && (name in is_solver) && name != stem)
        complain("a dual solver must not include its sibling " name)
    if (there ~ /^(affine|quaternion|redmax|variational|impulse)/ && here ~ /^(affine|quaternion|redmax|variational|impulse)/) {
        a = here; b = there
        sub(/[ \/].*/, "", a); sub(/[ \/].*/, "", b)
        if (a != b) complain("formulation " a " must not include its sibling " b)
    }
}
# Depth-first search over the rooms: a room that is met again on the way closes a cycle.
function visit(name, way,    parts, i, n) {
    if (index("|" way "|", "|" name "|")) { printf "cycle between rooms: %s|%s\n", way, name; failed = 1; return }
    if (visited[name]) return
    n = split(out[name], parts, "|")
    for (i = 1; i <= n; i++) if (parts[i] != "") visit(parts[i], way "|" name)
    visited[name] = 1
}
# Print the files of one kind and check them.
function list_parts(which, text,    path, i, n) {
    printf "  %-6s %s\n", which, text
    for (i = 1; i <= part_count; i++) {
        path = parts_in_order[i]
        if (kind[path] != which) continue
        printf "           %s\n", path
        if (!exists(path)) { print path ": no such file"; failed = 1 }
        else if (which == "root" && path !~ /\.c$/) { print path ": a root is a .c file"; failed = 1 }
        else if (which == "types" && path !~ /\.(h|def)$/) { print path ": types are headers"; failed = 1 }
        else if (which == "types" && !(path in needed)) {
            print path ": no other room needs it, so it is not one of the types"
            failed = 1
        }
    }
}
END {
    for (name in rank) { visit(name, ""); rooms++ }
    for (name in rank) arrows += split(out[name], parts, "|") > 0 ? split(out[name], parts, "|") - 1 : 0
    printf "%d includes in %d files checked, %d arrows between %d rooms%s\n", includes, files, arrows, rooms,
        failed ? "" : ", no cycle"
    print "folders with sub-folders are several rooms:"
    list_parts("types", "src/formulation/affine, below its sub-folders")
    list_parts("root", "above their folders")
    exit failed || includes == 0
}' $(find include src bench cuda -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' -o -name '*.def' | LC_ALL=C sort)
