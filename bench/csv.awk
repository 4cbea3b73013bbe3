# SPDX-License-Identifier: Apache-2.0
# Functions that read tables of results; loaded before the script that uses them.

# Split a line of a table into fields; a field in quotes may contain commas.
function split_line(line, fields,    n) {
    n = 0
    while (line != "") {
        if (match(line, /^"[^"]*"/)) fields[++n] = substr(line, 2, RLENGTH - 2)
        else { match(line, /^[^,]*/); fields[++n] = substr(line, 1, RLENGTH) }
        line = substr(line, RLENGTH + 2)
    }
    return n
}

# Fill ours[name] with the row of `table` in `folder` with a number of links and of threads on the
# processor; false if there is none. Tables without a column of threads are of one thread, tables
# without a backend of the processor.
function find(table, links, threads,    path, line, names, fields, n, i, head, found) {
    path = folder "/" table ".csv"
    found = head = 0
    delete ours
    while ((getline line < path) > 0) {
        if (line ~ /^#/) continue
        if (!head) { head = split_line(line, names); continue }
        n = split_line(line, fields)
        for (i = 1; i <= n; i++) ours[names[i]] = fields[i]
        if (ours["backend"] != "" && ours["backend"] != "cpu") continue
        if (ours["links"] == links && ((ours["threads"] == "" ? 1 : ours["threads"]) == threads)) { found = 1; break }
    }
    close(path)
    return found
}
# Read a line of a table: column[name] from the line of names, f[1] ... from the lines after it.
# False for comments and names.
function read_row(line,    n, i) {
    if (line ~ /^#/) return 0
    delete f
    n = split_line(line, f)
    if (head) return 1
    for (i = head = n; i >= 1; i--) column[f[i]] = i
    return 0
}
# A Markdown table, cell by cell: rows and columns keep the order of their first cells.
function put(row, name, text) {
    if (!(row in seen_row)) { seen_row[row] = 1; rows[++row_count] = row }
    if (!(name in seen_column)) { seen_column[name] = 1; columns[++column_count] = name }
    cells[row, name] = text
}
function print_table(first, rule,    i, j, line, rules) {
    line = "| " first (first == "" ? "|" : " |"); rules = "|---|"
    for (j = 1; j <= column_count; j++) { line = line " " columns[j] " |"; rules = rules rule "|" }
    print line "\n" rules
    for (i = 1; i <= row_count; i++) {
        line = "| " rows[i] " |"
        for (j = 1; j <= column_count; j++) line = line " " cells[rows[i], columns[j]] " |"
        print line
    }
}
# Format a length with few digits.
function metres(value) { return sprintf(value + 0 < 0.01 ? "%.1e m" : "%.2g m", value) }

# Text of a row of `mabd bench peers` that did not run all its steps; begins with the time of those
# that it did. Empty: it ran.
function failure(f, time,    result) {
    result = f[column["result"]]
    if (result ~ /^not run/) return "–"
    if (f[column["ms_per_step"]] == "") {
        sub(/^failed: /, "", result)
        sub(/: killed after .* before the first step/, ", not built", result)
        return result
    }
    if (result !~ /^failed/) return ""
    sub(/^failed at /, "", result)
    return time "<br>" result
}
# Largest gap of a row of `mabd bench peers`, bold if joints came apart.
function gap_text(f) {
    return f[column["result"]] ~ /apart/ ? "**" metres(f[column["max_gap"]]) "**" : metres(f[column["max_gap"]])
}

function grouped(number,    text) {
    text = sprintf("%d", number)
    while (match(text, /[0-9][0-9][0-9][0-9]($|,)/)) text = substr(text, 1, RSTART) "," substr(text, RSTART + 1)
    return text
}
