# SPDX-License-Identifier: Apache-2.0
# Print published figures beside ours as a Markdown table. Reads bench/published.csv; results are in
# `folder`.
# usage: awk -v folder=bench/results/MACHINE -f bench/csv.awk -f bench/published.awk
# bench/published.csv

function value(text) { return text == "" ? "–" : text }
/^#/ || /^scene,/ { next }
{
    delete f
    delete ours
    split_line($0, f)
    if (!printed++) {
        print "| scene | published in | links | constraints | h [ms] | tolerance | iterations | ms per step | ours: bodies | rows | h [ms] | iterations | gap [m] | ms per step | table |"
        print "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|"
    }
    printf "| %s | %s | %s | %s | %s | %s | %s | %s | ", f[1], f[2], value(f[3]), value(f[4]), value(f[5]), value(f[6]), value(f[7]), value(f[8])
    if (find(f[9], f[10], 1)) {
        printf "%s | %s | %s | %.2f | %.1e | %.3g | `%s.csv` |\n", grouped(ours["links"]), grouped(ours["rows"]),
            ours["h"] == "" ? "–" : sprintf("%.3g", 1000 * ours["h"]), ours["iterations_mean"],
            ours["max_gap"], ours["ms_per_step"], f[9]
    } else {
        print "not measured | | | | | | |"
    }
}
