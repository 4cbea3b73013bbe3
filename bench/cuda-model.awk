# SPDX-License-Identifier: Apache-2.0
# Print a table of `./dev bench cuda-model` as Markdown. list: kernels, counts, predictions, or
# costs (computed from the counts).
# usage: awk -v list=LIST -f bench/csv.awk -f bench/cuda-model.awk bench/results/cuda-model/LIST.csv

function digits(value) { return value + 0 >= 100 ? grouped(value + 0.5) : sprintf("%.3g", value) }

function joined(row, column, text) { return (row, column) in cells ? cells[row, column] " / " text : text }
function most(a, b) { return a + 0 > b + 0 ? a : b }

!read_row($0) { next }
list == "kernels" {
    name = "`" f[column["kernel"]] "`"
    put(name, "registers", joined(name, "registers", f[column["registers"]]))
    put(name, "spills", cells[name, "spills"] + f[column["spill_stores"]] + f[column["spill_loads"]])
    put(name, "stack", most(cells[name, "stack"], f[column["stack"]]))
    put(name, "shared", most(cells[name, "shared"], f[column["shared"]]))
    put(name, "block", f[column["block"]])
    put(name, "occupancy [%]", joined(name, "occupancy [%]", sprintf("%.0f", 100 * f[column["occupancy"]])))
}
list == "counts" && f[column["kernel"]] == "(all)" {
    name = f[column["scene"]]
    operations = f[column["adds"]] + f[column["multiplies"]] + f[column["comparisons"]] + f[column["divisions"]] + f[column["roots"]] + f[column["calls"]]
    put(name, "links", grouped(f[column["links"]]))
    put(name, "iterations", sprintf("%.2f", f[column["iterations"]]))
    put(name, "launches", digits(f[column["launches"]]))
    put(name, "operations", digits(operations))
    put(name, "instructions in lanes", digits(f[column["lane_instructions"]]))
    put(name, "bytes accessed", digits(f[column["bytes_read"]] + f[column["bytes_written"]]))
    put(name, "by blocks", digits(f[column["block_bytes"]]))
    put(name, "of memory", digits(f[column["memory_bytes_read"]] + f[column["memory_bytes_written"]]))
}
# operations and bytes of memory per link and step, for each kernel
list == "costs" && f[column["kernel"]] != "(all)" && f[column["scene"]] !~ /1,000$/ {
    operations = f[column["instructions"]]
    bytes = f[column["memory_bytes_read"]] + f[column["memory_bytes_written"]]
    put("`" f[column["kernel"]] "`", f[column["scene"]], digits(operations) " / " digits(bytes))
}
list == "predictions" {
    ms = f[column["prediction_ms"]]
    part = "memory"
    split("arithmetic launches host", parts, " ")
    for (i = 1; i <= 3; i++) {
        if (f[column["prediction_" parts[i] "_ms"]] + 0 > f[column["prediction_" part "_ms"]] + 0) part = parts[i]
    }
    put(f[column["scene"]], f[column["gpu"]] ", prediction", sprintf("%.3g ms (%s)", ms, part))
}
END { print_table(list == "kernels" || list == "costs" ? "kernel" : "scene", "---:") }
