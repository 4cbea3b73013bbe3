# SPDX-License-Identifier: Apache-2.0
# Print a table of `mabd bench work-precision --csv` as Markdown. list: references; targets, the
# cheapest method and step of each engine that keep the energy within a bound; or a scene, a line per
# method, a column per step.
# usage: awk -v list=LIST -f bench/csv.awk -f bench/work-precision.awk
#            bench/results/MACHINE/work-precision.csv

BEGIN { target_count = split("0.1 0.01 0.001", targets, " ") }

function milliseconds(h) { return sprintf("%g ms", 1000 * h) }
# Processor time of a simulated second, in milliseconds.
function cost_text(cost) { return sprintf(1000 * cost >= 100 ? "%.0f ms/s" : "%.3g ms/s", 1000 * cost) }
function percent(error) {
    return sprintf(error + 0 < 0.0001 ? "%.0e %%" : error + 0 < 1 ? "%.2g %%" : "%.0f %%", 100 * error)
}

# Text of a row: error of position, of energy, cost; or the failure.
function cell(f,    result, text) {
    result = f[column["result"]]
    text = f[column["position_error"]] == "" ? "–" : percent(f[column["position_error"]])
    if (result ~ /exploded/) return text "<br>exploded"
    if (result ~ /^failed/) { sub(/^failed: /, "", result); return result }
    text = text "<br>" (f[column["energy_error"]] == "" ? "–" : percent(f[column["energy_error"]]))
    if (result ~ /apart/) text = text ", apart"
    if (result ~ /^stopped/) text = text "<br>" cost_text(f[column["cost"]]) ", stopped"
    else text = text "<br>" cost_text(f[column["cost"]])
    return text
}

list == "references" && /^# reference / {
    line = $0
    sub(/^# reference /, "", line)
    name = line
    sub(/: .*/, "", name)
    sub(/^[^:]*: /, "", line)
    put(name, "reference", line)
}
!read_row($0) { next }
list == "targets" && f[column["energy_error"]] != "" && f[column["result"]] == "ok" {
    for (i = 1; i <= target_count; i++) {
        if (f[column["energy_error"]] + 0 > targets[i] + 0) continue
        engine = f[column["peer"]] == "mabd" ? "mabd" : "MuJoCo"
        key = f[column["scene"]] SUBSEP i SUBSEP engine
        if (key in best && best[key] <= f[column["cost"]] + 0) continue
        best[key] = f[column["cost"]] + 0
        method[key] = "`" f[column["variant"]] "`, " milliseconds(f[column["h"]])
    }
}
list == "targets" && !(f[column["scene"]] in seen_scene) {
    seen_scene[f[column["scene"]]] = 1
    scenes[++scene_count] = f[column["scene"]]
}
list == f[column["scene"]] {
    put(f[column["peer"]] " `" f[column["variant"]] "`", milliseconds(f[column["h"]]), cell(f))
}

END {
    engine_count = split("mabd MuJoCo", engines, " ")
    for (s = 1; list == "targets" && s <= scene_count; s++) {
        for (i = 1; i <= target_count; i++) {
            for (e = 1; e <= engine_count; e++) {
                key = scenes[s] SUBSEP i SUBSEP engines[e]
                put(scenes[s], engines[e] ", " sprintf("%g %%", 100 * targets[i]),
                    key in best ? cost_text(best[key]) "<br>" method[key] : "–")
            }
        }
    }
    print_table(list == "references" || list == "targets" ? "scene" : "method", "---")
}
