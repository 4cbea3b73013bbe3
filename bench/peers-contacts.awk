# SPDX-License-Identifier: Apache-2.0
# Print a table of `mabd bench peers --csv` on scenes that touch or hang together as Markdown: a line
# per engine and variant, a column per scene; times over that of the first formulation of mabd.
# usage: awk -f bench/csv.awk -f bench/peers-contacts.awk bench/results/MACHINE/peers-contacts.csv

# Text of a row: time, gap, overlap, rest; or the failure.
function cell(f,    text, time) {
    time = sprintf("%.2g", f[column["ms_per_step"]] / first[f[column["scene"]]])
    text = failure(f, time)
    if (text != "") return text
    text = time
    if (f[column["joints"]] > 0) text = text "<br>gap " gap_text(f)
    if (f[column["overlap"]] != "") text = text "<br>overlap " metres(f[column["overlap"]])
    if (f[column["overlap"]] != "" && f[column["rest_speed"]] != "") {
        text = text "<br>rest " sprintf("%.1e m/s", f[column["rest_speed"]])
    }
    if (f[column["result"]] ~ /^stopped/) text = text "<br>(" f[column["steps"]] " steps)"
    return text
}

read_row($0) {
    if (!(f[column["scene"]] in first)) first[f[column["scene"]]] = f[column["ms_per_step"]]
    put(f[column["peer"]] " " f[column["variant"]], f[column["scene"]], cell(f))
}
END { print_table("", "---") }
