# SPDX-License-Identifier: Apache-2.0
# Print a table of `mabd bench peers --csv` as Markdown: a line per engine and variant, a column per
# scene.
# usage: awk -f bench/csv.awk -f bench/peers.awk bench/results/MACHINE/peers.csv

# Format with three digits, large numbers without an exponent.
function milliseconds(value) {
    return sprintf(value + 0 >= 1000 ? "%.0f ms" : "%.3g ms", value)
}

# Text of a row: time, gap and energy, or the failure.
function cell(f,    text) {
    text = failure(f, milliseconds(f[column["ms_per_step"]]))
    if (text != "") return text
    text = milliseconds(f[column["ms_per_step"]]) "<br>" gap_text(f) sprintf("<br>%.2g", f[column["energy_error"]])
    if (f[column["result"]] ~ /^stopped/) text = text "<br>(" f[column["steps"]] " steps)"
    return text
}

read_row($0) { put(f[column["peer"]] " " f[column["variant"]], f[column["scene"]], cell(f)) }
END { print_table("", "---") }
