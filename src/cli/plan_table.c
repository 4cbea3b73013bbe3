// SPDX-License-Identifier: Apache-2.0
#include "cli/plan_table.h"

#include "cli/summary.h"
#include "cli/system.h"

#include <string.h>

#define CELL 32

plan_table plan_table_make(const mabd_model* model, const mabd_sim_plan* plan) {
    plan_table table = {.plan = plan};
    for (int k = 0; k < MABD_COMPONENT_COUNT; k++) {
        table.totals[k] = mabd_model_plan_totals(model, (mabd_component)k);
    }
    return table;
}

// ---- text --------------------------------------------------------------------------------------

static void print_classes(const plan_table* table, FILE* out) {
    fprintf(out, "components by class\n  %-10s %10s %10s %10s %10s %10s %6s %8s %9s\n", "class",
            "components", "bodies", "joints", "rows", "couplings", "junctions", "cycles",
            "cut rows");
    for (int k = 0; k < MABD_COMPONENT_COUNT; k++) {
        const mabd_plan_totals* t = &table->totals[k];
        if (t->components == 0) continue;
        fprintf(out, "  %-10s %10lld %10lld %10lld %10lld %10lld %6lld %8lld %9lld\n",
                mabd_component_name((mabd_component)k), (long long)t->components,
                (long long)t->bodies, (long long)t->joints, (long long)t->rows,
                (long long)t->couplings, (long long)t->junctions, (long long)t->cycles,
                (long long)t->cut_rows);
    }
}

// Operations of an order in millions: "-" = not tried, ">" = stopped at this number.
static const char* format_order(const mabd_dual_line* line, int order, char* text) {
    const double flops = line->order_flops[order];
    if (!line->direct || flops == 0) return "-";
    snprintf(text, CELL, "%s%.3g", line->order_entries[order] == 0 ? ">" : "", 1e-6 * flops);
    return text;
}

static const char* format_bytes(const mabd_dual_line* line, int order, char* text) {
    if (!line->direct || line->order_entries[order] == 0) return "-";
    return system_format_bytes(8 * line->order_entries[order], text, CELL);
}

// Operations of the solvers: fronts are merged where that saves time, so there are a few more than
// the order alone needs.
static void print_solvers(const plan_table* table, FILE* out) {
    fprintf(out, "dual solvers (--dual %s), one line for components that are alike\n",
            mabd_dual_name(table->plan->def.dual));
    fprintf(out, "  %-7s %7s %9s %9s  %-7s %-11s %10s %10s %9s %9s\n", "class", "count", "joints",
            "rows", "solver", "order", "Mflop", "factor", "fronts", "memory");
    for (int32_t i = 0; i < table->plan->line_count; i++) {
        const mabd_dual_line* line = &table->plan->lines[i];
        char factor[CELL] = "-", memory[CELL], flops[CELL] = "-", fronts[CELL] = "-";
        if (line->direct) {
            snprintf(flops, CELL, "%.4g", 1e-6 * line->flops);
            snprintf(fronts, CELL, "%d", (int)line->fronts);
            system_format_bytes(8 * line->entries, factor, CELL);
        }
        fprintf(out, "  %-7s %7d %9d %9d  %-7s %-11s %10s %10s %9s %9s\n",
                mabd_component_name(line->kind), (int)line->components, (int)line->joints,
                (int)line->rows, line->solver, line->direct ? mabd_order_name(line->order) : "-",
                flops, factor, fronts, system_format_bytes((double)line->bytes, memory, CELL));
    }
    if (table->plan->lines_left_out) {
        fprintf(out, "  and %d components of further patterns\n", (int)table->plan->lines_left_out);
    }
}

static void print_orders(const plan_table* table, FILE* out) {
    fprintf(out,
            "elimination orders of the same: Mflop and bytes of the factor before fronts are "
            "merged (- not tried, > given up there)\n  %-7s %9s",
            "class", "joints");
    for (int k = 0; k < MABD_ORDER_COUNT; k++) {
        fprintf(out, " %21s", mabd_order_name((mabd_order)k));
    }
    fprintf(out, "\n");
    for (int32_t i = 0; i < table->plan->line_count; i++) {
        const mabd_dual_line* line = &table->plan->lines[i];
        fprintf(out, "  %-7s %9d", mabd_component_name(line->kind), (int)line->joints);
        for (int k = 0; k < MABD_ORDER_COUNT; k++) {
            char flops[CELL], bytes[CELL];
            fprintf(out, " %10s %10s", format_order(line, k, flops), format_bytes(line, k, bytes));
        }
        fprintf(out, "\n");
    }
}

void plan_table_print(const plan_table* table, FILE* out) {
    print_classes(table, out);
    if (table->plan->line_count == 0) return;
    print_solvers(table, out);
    print_orders(table, out);
}

// ---- JSON --------------------------------------------------------------------------------------

static json_t* totals_json(const mabd_plan_totals* t) {
    return json_pack("{sI sI sI sI sI sI sI sI}", "components", (json_int_t)t->components, "bodies",
                     (json_int_t)t->bodies, "joints", (json_int_t)t->joints, "rows",
                     (json_int_t)t->rows, "couplings", (json_int_t)t->couplings, "junctions",
                     (json_int_t)t->junctions, "cycles", (json_int_t)t->cycles, "cut_rows",
                     (json_int_t)t->cut_rows);
}

static json_t* orders_json(const mabd_dual_line* line) {
    json_t* orders = json_object();
    for (int k = 0; k < MABD_ORDER_COUNT; k++) {
        if (line->order_flops[k] == 0) continue;
        json_t* one = json_object();
        const bool counted = line->order_entries[k] > 0;
        summary_set_real(one, counted ? "flops" : "flops_above", line->order_flops[k]);
        if (counted) summary_set_real(one, "entries", line->order_entries[k]);
        json_object_set_new(orders, mabd_order_name((mabd_order)k), one);
    }
    return orders;
}

static json_t* line_json(const mabd_dual_line* line) {
    json_t* root = json_pack(
        "{ss si si si si si si ss sI}", "class", mabd_component_name(line->kind), "components",
        (int)line->components, "bodies", (int)line->bodies, "joints", (int)line->joints, "rows",
        (int)line->rows, "junctions", (int)line->junctions, "cut_rows", (int)line->cut_rows,
        "solver", line->solver, "bytes", (json_int_t)line->bytes);
    if (!line->direct) return root;
    summary_set_text(root, "order", mabd_order_name(line->order));
    json_object_set_new(root, "fronts", json_integer(line->fronts));
    summary_set_real(root, "flops", line->flops);
    summary_set_real(root, "entries", line->entries);
    json_object_set_new(root, "orders", orders_json(line));
    return root;
}

void plan_table_add_json(const plan_table* table, json_t* object) {
    json_t *classes = json_object(), *lines = json_array();
    for (int k = 0; k < MABD_COMPONENT_COUNT; k++) {
        if (table->totals[k].components == 0) continue;
        json_object_set_new(classes, mabd_component_name((mabd_component)k),
                            totals_json(&table->totals[k]));
    }
    for (int32_t i = 0; i < table->plan->line_count; i++) {
        json_array_append_new(lines, line_json(&table->plan->lines[i]));
    }
    json_object_set_new(object, "classes", classes);
    json_object_set_new(object, "dual", lines);
    json_object_set_new(object, "components_left_out", json_integer(table->plan->lines_left_out));
}
