// SPDX-License-Identifier: Apache-2.0
#include "cli/tree_table.h"

#include "cli/summary.h"
#include "cli/system.h"

static double bytes_per_link(const mabd_sim_plan* plan) {
    return (double)plan->bytes_sim / (double)plan->tree.links;
}

// ---- text --------------------------------------------------------------------------------------

static void print_strings(const mabd_tree_plan* tree, FILE* out) {
    for (int32_t i = 0; i < tree->line_count; i++) {
        const mabd_string_line* line = &tree->lines[i];
        fprintf(out, "  %s: %s; %d", line->name, line->primitives, (int)line->count);
        if (line->reversed > 0) fprintf(out, ", %d of them reversed", (int)line->reversed);
        fprintf(out, "\n");
    }
    if (tree->lines_left_out > 0) {
        fprintf(out, "  and %d joints with further strings\n", (int)tree->lines_left_out);
    }
}

static void print_cuts(const mabd_tree_plan* tree, FILE* out) {
    for (int k = 0; k < MABD_JOINT_TYPE_COUNT; k++) {
        const mabd_cut_line* cut = &tree->cuts[k];
        const char* name = mabd_joint_name((mabd_joint)k);
        if (cut->joints > 0) {
            fprintf(out, "  cut %s: %d, %d rows\n", name, (int)cut->joints, (int)cut->rows);
        }
        if (cut->welds > 0) {
            fprintf(out, "  weld at %s: %d, %d rows\n", name, (int)cut->welds, (int)cut->weld_rows);
        }
    }
    if (tree->coupling_rows > 0) {
        fprintf(out, "  couplings: %d rows\n", (int)tree->coupling_rows);
    }
}

void tree_table_print(const mabd_sim_plan* plan, FILE* out) {
    const mabd_tree_plan* tree = &plan->tree;
    char bytes[32];
    if (tree->links == 0) return;
    fprintf(out, "tree          %d links, %d freedoms, border of %d; %s per link\n",
            (int)tree->links, (int)tree->freedoms, (int)tree->border,
            system_format_bytes(bytes_per_link(plan), bytes, sizeof bytes));
    print_strings(tree, out);
    print_cuts(tree, out);
}

// ---- JSON --------------------------------------------------------------------------------------

static json_t* strings_json(const mabd_tree_plan* tree) {
    json_t* all = json_array();
    for (int32_t i = 0; i < tree->line_count; i++) {
        const mabd_string_line* line = &tree->lines[i];
        json_array_append_new(all,
                              json_pack("{ss ss si si si}", "name", line->name, "primitives",
                                        line->primitives, "count", (int)line->count, "reversed",
                                        (int)line->reversed, "freedoms", (int)line->freedoms));
    }
    return all;
}

static json_t* cuts_json(const mabd_tree_plan* tree) {
    json_t* all = json_object();
    for (int k = 0; k < MABD_JOINT_TYPE_COUNT; k++) {
        const mabd_cut_line* cut = &tree->cuts[k];
        if (cut->joints + cut->welds == 0) continue;
        json_object_set_new(all, mabd_joint_name((mabd_joint)k),
                            json_pack("{si si si si}", "joints", (int)cut->joints, "rows",
                                      (int)cut->rows, "welds", (int)cut->welds, "weld_rows",
                                      (int)cut->weld_rows));
    }
    return all;
}

void tree_table_add_json(const mabd_sim_plan* plan, json_t* object) {
    const mabd_tree_plan* tree = &plan->tree;
    if (tree->links == 0) return;
    json_t* root = json_pack(
        "{si si si si si so so}", "links", (int)tree->links, "freedoms", (int)tree->freedoms,
        "border", (int)tree->border, "coupling_rows", (int)tree->coupling_rows, "strings_left_out",
        (int)tree->lines_left_out, "strings", strings_json(tree), "cuts", cuts_json(tree));
    summary_set_real(root, "bytes_per_link", bytes_per_link(plan));
    json_object_set_new(object, "tree", root);
}
