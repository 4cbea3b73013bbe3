# SPDX-License-Identifier: Apache-2.0
# Print a table of docs/develop/performance.md in Markdown. Reads bench/shown.csv; results are in
# `folder`.
# usage: awk -v folder=bench/results/MACHINE -v list=LIST -f bench/csv.awk -f bench/shown.awk
# bench/shown.csv

BEGIN {
    if (list == "contacts") {
        print "| scene | bodies | contacts a step | solves a step | ms per step | largest joint gap |"
        print "|---|---:|---:|---:|---:|---:|"
    } else if (list == "threads") {
        print "| scene | bodies | ns per link, step and iteration, 1 thread | 2 threads | speed-up | table |"
        print "|---|---:|---:|---:|---:|---|"
    } else {
        if (list == "scenes") printf "| scene | bodies |"
        else printf "| links |"
        print " ms per step | iterations per step | ns per link, step and iteration | largest joint gap |"
        print (list == "scenes" ? "|---" : "") "|---:|---:|---:|---:|---:|"
    }
}
# Format milliseconds per step with the significant digits.
function milliseconds() {
    return ours["ms_per_step"] + 0 >= 1000 ? grouped(ours["ms_per_step"] + 0.5) : sprintf("%.3g", ours["ms_per_step"])
}
function contacts() {
    return ours["contacts_mean"] + 0 < 10 ? sprintf("%.2g", ours["contacts_mean"]) : grouped(ours["contacts_mean"] + 0.5)
}
function nanoseconds() { return grouped(ours["ns_per_link_iteration"] + 0.5) }
/^#/ || /^list,/ { next }
{
    delete f
    split_line($0, f)
    if (f[1] != list) next
    if (!find(f[3], f[4], 1)) {
        printf "%s: no row of %d links on one thread\n", (folder "/" f[3] ".csv"), f[4] > "/dev/stderr"
        exit 1
    }
    if (list == "threads") {
        first = nanoseconds()
        if (!find(f[3], f[4], 2)) exit 1
        printf "| %s | %s | %s | %s | %.2f | [%s.csv](%s/%s.csv) |\n", f[2], grouped(f[4]), first, nanoseconds(),
            ours["speedup"], f[3], "../../" folder, f[3]
        next
    }
    if (list == "contacts") {
        printf "| %s | %s | %s | %.2f | %s%s | %s |\n", f[2], grouped(f[4]),
            contacts(),
            ours["iterations_mean"], milliseconds(),
            (f[4] + 0 < 100000 ? "" : sprintf(" (%.2f µs a link)", ours["ms_per_step"] * 1000 / f[4])),
            (ours["max_gap"] + 0 == 0 ? "–" : sprintf("%.1e m", ours["max_gap"]))
        next
    }
    if (list == "scenes") printf "| %s ", f[2]
    printf "| %s | %s | %.2f | %s | %.1e m |\n", grouped(f[4]), milliseconds(), ours["iterations_mean"], nanoseconds(),
        ours["max_gap"]
}
