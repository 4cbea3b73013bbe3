# SPDX-License-Identifier: Apache-2.0
# Published figures beside ours, as a Markdown table. Reads bench/published.csv; results lie in `folder`.
# usage: awk -v folder=bench/results/MACHINE -f bench/csv.awk -f bench/published.awk bench/published.csv

# ours[name] of the row of `table` with so many links; false if there is none.
function find(table, links,    path, line, names, fields, n, i, head, found) {
    path = folder "/" table ".csv"
    found = head = 0
    while ((getline line < path) > 0) {
        if (line ~ /^#/) continue
        if (!head) { head = split_line(line, names); continue }
        n = split_line(line, fields)
        for (i = 1; i <= n; i++) ours[names[i]] = fields[i]
        if (ours["links"] == links) { found = 1; break }
    }
    close(path)
    return found
}
function grouped(number,    text) {
    text = sprintf("%d", number)
    while (match(text, /[0-9][0-9][0-9][0-9]($|,)/)) text = substr(text, 1, RSTART) "," substr(text, RSTART + 1)
    return text
}
function value(text) { return text == "" ? "–" : text }
/^#/ || /^scene,/ { next }
{
    delete f
    delete ours
    split_line($0, f)
    if (!rows++) {
        print "| scene | published in | links | constraints | h [ms] | tolerance | iterations | ms per step | ours: bodies | rows | h [ms] | iterations | gap [m] | ms per step | table |"
        print "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|"
    }
    printf "| %s | %s | %s | %s | %s | %s | %s | %s | ", f[1], f[2], value(f[3]), value(f[4]), value(f[5]), value(f[6]), value(f[7]), value(f[8])
    if (find(f[9], f[10])) {
        printf "%s | %s | %s | %.2f | %.1e | %.3g | `%s.csv` |\n", grouped(ours["links"]), grouped(ours["rows"]),
            ours["h"] == "" ? "–" : sprintf("%.3g", 1000 * ours["h"]), ours["iterations_mean"],
            ours["max_gap"], ours["ms_per_step"], f[9]
    } else {
        print "not measured | | | | | | |"
    }
}
