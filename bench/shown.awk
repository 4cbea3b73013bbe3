# SPDX-License-Identifier: Apache-2.0
# A table of README.md, in Markdown. Reads bench/shown.csv; results lie in `folder`.
# usage: awk -v folder=bench/results/MACHINE -v list=LIST -f bench/csv.awk -f bench/shown.awk bench/shown.csv

BEGIN {
    if (list == "threads") {
        print "| scene | bodies | ns per link, step and iteration, 1 thread | 2 threads | speed-up | table |"
        print "|---|---:|---:|---:|---:|---|"
    } else {
        if (list == "scenes") printf "| scene | bodies |"
        else printf "| links |"
        print " ms per step | iterations per step | ns per link, step and iteration | largest joint gap |"
        print (list == "scenes" ? "|---" : "") "|---:|---:|---:|---:|---:|"
    }
}
function nanoseconds() { return grouped(ours["ns_per_link_iteration"] + 0.5) }
/^#/ || /^list,/ { next }
{
    delete f
    split_line($0, f)
    if (f[1] != list) next
    if (!find(f[3], f[4], 1)) {
        printf "%s: no row of %d links on one thread\n", folder "/" f[3] ".csv", f[4] > "/dev/stderr"
        exit 1
    }
    if (list == "threads") {
        one = nanoseconds()
        if (!find(f[3], f[4], 2)) exit 1
        printf "| %s | %s | %s | %s | %.2f | [%s.csv](%s/%s.csv) |\n", f[2], grouped(f[4]), one, nanoseconds(),
            ours["speedup"], f[3], folder, f[3]
        next
    }
    if (list == "scenes") printf "| %s ", f[2]
    printf "| %s | %s | %.2f | %s | %.1e m |\n", grouped(f[4]),
        ours["ms_per_step"] >= 1000 ? grouped(ours["ms_per_step"] + 0.5) : sprintf("%.3g", ours["ms_per_step"]),
        ours["iterations_mean"], nanoseconds(), ours["max_gap"]
}
