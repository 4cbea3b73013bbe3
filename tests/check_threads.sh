#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Run the command with several threads on small scenes of every kind and fail if ThreadSanitizer
# reports anything.
# usage: check_threads.sh COMMAND SCENE_DIR, COMMAND built with the preset tsan
set -eu
command=$1
scenes=$2
# A report ends the process with exit code 66, which the command never uses itself.
export TSAN_OPTIONS="exitcode=66 halt_on_error=1 ${TSAN_OPTIONS:-}"

# SCENE STEPS [NAME=VALUE...]: more bodies than one tile (512), and the data that dual solvers share
cases='
chain 3 links=6000
chain 3 links=3000 joint=hinge
tree 3 depth=13
willow 1
star 3 arms=40 links=50
net 3 rows=30 columns=30
four-bar-chain 3 segments=400
falling-joints 25 pairs=300
redmax/tree-65535 2 depth=12
redmax/whip 3 links=20
'

failed=0
printf '%s' "$cases" | {
    while read -r scene steps settings; do
        [ -n "$scene" ] || continue
        set --
        case $scene in redmax/*) set -- --formulation redmax ;; esac
        for setting in $settings; do set -- "$@" --set "$setting"; done
        status=0
        "$command" run "$scenes/$scene.json" "$@" --steps "$steps" --threads 4 --quiet || status=$?
        printf '%s %s: exit code %d\n' "$scene" "$settings" "$status"
        [ "$status" -eq 0 ] || failed=1
    done
    exit "$failed"
}
