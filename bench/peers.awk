# SPDX-License-Identifier: Apache-2.0
# Print a table of `mabd bench peers --csv` as Markdown: a line per engine and variant, a column per
# scene.
# usage: awk -f bench/csv.awk -f bench/peers.awk bench/results/MACHINE/peers.csv

# Format with three digits, large numbers without an exponent.
function milliseconds(value) {
    return sprintf(value + 0 >= 1000 ? "%.0f ms" : "%.3g ms", value)
}
function metres(value) {
    return sprintf(value + 0 < 0.01 ? "%.1e m" : "%.2g m", value)
}

# Text of a row: time, gap and energy, or the failure.
function cell(f,    result, text, gap) {
    result = f[column["result"]]
    if (result ~ /^not run/) return "–"
    if (f[column["ms_per_step"]] == "") {
        sub(/^failed: /, "", result)
        sub(/: killed after .* before the first step/, ", not built", result)
        return result
    }
    text = milliseconds(f[column["ms_per_step"]])
    if (result ~ /^failed/) {
        sub(/^failed at /, "", result)
        return text "<br>" result
    }
    gap = metres(f[column["max_gap"]])
    if (result ~ /apart/) gap = "**" gap "**"
    text = text "<br>" gap sprintf("<br>%.2g", f[column["energy_error"]])
    if (result ~ /^stopped/) text = text "<br>(" f[column["steps"]] " steps)"
    return text
}

read_row($0) { put(f[column["peer"]] " " f[column["variant"]], f[column["scene"]], cell(f)) }
END { print_table("", "---") }
