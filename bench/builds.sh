#!/usr/bin/env bash
# usage: bench/builds.sh BEFORE AFTER > FILE.csv    (paths of two builds of the command)
# Processor time of a step of scenes with contacts by two builds, in turns: the difference of two
# runs of different lengths, the least of three. One thread.
set -euo pipefail
before=$1 after=$2
scenes=$(cd "$(dirname "$0")/../scenes" && pwd)
TIMEFORMAT=%U

seconds() { # command scene steps settings...
    local command=$1 scene=$2 steps=$3
    shift 3
    { time "$command" run "$scenes/$scene.json" --steps "$steps" --threads 1 --quiet "$@" \
        >/dev/null 2>&1; } 2>&1
}

row() { # scene first last settings...
    local scene=$1 first=$2 last=$3 least_before=1e9 least_after=1e9 t build
    shift 3
    for _ in 1 2 3; do
        for build in before after; do
            t=$(echo "$(seconds "${!build}" "$scene" "$first" "$@")" \
                "$(seconds "${!build}" "$scene" "$last" "$@")" |
                awk -v n=$((last - first)) '{print 1e3 * ($2 - $1) / n}')
            if [ $build = before ]; then
                least_before=$(echo "$t $least_before" | awk '{print $1 < $2 ? $1 : $2}')
            else
                least_after=$(echo "$t $least_after" | awk '{print $1 < $2 ? $1 : $2}')
            fi
        done
    done
    echo "$scene $* $first $last $least_before $least_after" |
        awk '{n = NF; print $1 "," $(n - 3) "," $(n - 2) "," $(n - 1) "," $n "," $n / $(n - 1)}'
}

echo "# machine: $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), shared with other work"
echo "# command: bench/builds.sh BEFORE AFTER (pulley-huge with strands=12)"
echo "scene,first_step,last_step,before_ms_per_step,after_ms_per_step,ratio"
row pulley-huge 5 45 --set strands=12
row net-cylinder 2 60
row stack 50 1050
row atwood 10 400
row tackle 10 200
row winch 10 200
row pulley 5 60
