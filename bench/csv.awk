# SPDX-License-Identifier: Apache-2.0
# Reading tables of results; goes before the script that uses it.

# Split a line of a table into fields; a field in quotes may hold commas.
function split_line(line, fields,    n) {
    n = 0
    while (line != "") {
        if (match(line, /^"[^"]*"/)) fields[++n] = substr(line, 2, RLENGTH - 2)
        else { match(line, /^[^,]*/); fields[++n] = substr(line, 1, RLENGTH) }
        line = substr(line, RLENGTH + 2)
    }
    return n
}
