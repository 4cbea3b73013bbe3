# SPDX-License-Identifier: Apache-2.0
# Print a table of `mabd compare --csv` as Markdown: a line per method, with the largest and the
# smallest of its steps.
# usage: awk -f bench/csv.awk -f bench/compare.awk bench/results/MACHINE/compare-SCENE.csv

function number(name, format) {
    return f[column[name]] == "" ? "–" : sprintf(format, f[column[name]])
}
function small(name) {
    return f[column[name]] == 0 && f[column[name]] != "" ? "0" : number(name, "%.1e")
}
function percent(name,    value) {
    if (f[column[name]] == "") return "–"
    value = 100 * f[column[name]]
    return sprintf(value < 0.1 && value > -0.1 ? "%.0e %%" : "%.2g %%", value)
}
# Two values, at the largest and at the smallest step.
function pair(first, last) { return first == last ? first : first " → " last }

# The line of a method that is complete.
function put_method(    row) {
    if (method == "") return
    row = "`" method "`"
    put(row, "difference [m]", pair(from["position"], to["position"]))
    put(row, "order", to["order"] != "–" ? to["order"] : to["order_angle"])
    put(row, "energy taken", pair(from["energy"], to["energy"]))
    put(row, "gap [m]", pair(from["gap"], to["gap"]))
    if (touches) put(row, "overlap [m]", pair(from["penetration"], to["penetration"]))
    put(row, "iterations", pair(from["iterations"], to["iterations"]))
    put(row, "parts", pair(from["substeps"], to["substeps"]))
    put(row, "ms per second", pair(from["cost"], to["cost"]))
    put(row, "remark", remark)
    method = ""
}

function keep(to) {
    to["position"] = small("position")
    to["order"] = number("order", "%.2f")
    to["order_angle"] = number("order_angle", "%.2f")
    to["energy"] = percent("energy_integrator")
    to["gap"] = small("gap")
    to["penetration"] = small("penetration")
    to["iterations"] = number("iterations", "%.1f")
    to["substeps"] = number("substeps", "%d")
    to["cost"] = number("cost", "%.3g")
}

# The first file pass finds whether anything overlaps.
NR == FNR { if (read_row($0) && f[column["penetration"]] > 0) touches = 1; next }
FNR == 1 { head = 0 }
!read_row($0) || f[column["reference"]] == 1 { next }
{
    name = f[column["formulation"]] " " f[column["integrator"]]
    if (name != method) { put_method(); method = name; keep(from); remark = "" }
    if (f[column["outcome"]] ~ /^cannot/) sub(/ auto$/, "", method)
    keep(to)
    if (f[column["outcome"]] != "ok") { remark = f[column["outcome"]]; sub(/^ok, /, "", remark) }
}
END { put_method(); print_table("method", "---:") }
