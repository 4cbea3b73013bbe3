// SPDX-License-Identifier: Apache-2.0
// The tree of a simulation in words: strings of its joints, and the joints that it cuts.
//
// A string is a run of links, each the parent of the next one. It ends at the last link of a joint,
// at the link of a free body, or where a script hands over to a joint.

#include "formulation/redmax/redmax_sim.h"

#include <string.h>

// True if the string of a link goes on with the next link.
static bool goes_on(const mabd_redmax_sim* sim, int32_t link) {
    const mabd_redmax_link *own = &sim->links[link], *next = own + 1;
    if (own->last || own->body >= 0 || link + 1 >= sim->link_count) return false;
    return next->parent == link && next->joint == own->joint;
}

// "Rx" of a screw: what it does and its axis, n if that is none of x, y, z.
static void name_screw(mabd_spatial S, char* text) {
    const mabd_real turn = mabd_v3_norm(S.w), slide = mabd_v3_norm(S.v);
    const mabd_vec3 axis = turn > 0 ? S.w : S.v;
    text[0] = turn == 0 ? 'T' : slide == 0 ? 'R' : 'H', text[1] = 'n', text[2] = 0;
    for (int k = 0; k < 3; k++) {
        if (mabd_v3_get(axis, k) * mabd_v3_get(axis, k) == 1) text[1] = "xyz"[k];
    }
}

static void append_primitive(const mabd_redmax_link* link, mabd_string_line* line) {
    static const char names[][3] = {[MABD_PRIMITIVE_FIXED] = "-",
                                    [MABD_PRIMITIVE_TRANSLATION] = "T",
                                    [MABD_PRIMITIVE_BALL] = "B",
                                    [MABD_PRIMITIVE_CURVE] = "C",
                                    [MABD_PRIMITIVE_SURFACE] = "S"};
    char screw[3];
    name_screw(link->S, screw);
    const char* name = link->kind == MABD_PRIMITIVE_SCREW ? screw : names[link->kind];
    const size_t at = strlen(line->primitives), size = sizeof line->primitives - at;
    if (strlen(name) + 2 > size) return;
    if (at > 0) strcat(line->primitives, " ");
    strcat(line->primitives, name);
}

static const char* name_of(const mabd_redmax_sim* sim, const mabd_redmax_link* last) {
    if (last->joint >= 0) return mabd_joint_name(sim->model->joints[last->joint].type);
    if (last->body < 0) return "script";
    return mabd_model_is_node(sim->model, last->body) ? "node" : "no joint";
}

// Add a string to its line.
static void add_line(const mabd_string_line* line, mabd_tree_plan* tree) {
    int32_t i = 0;
    while (i < tree->line_count && (strcmp(tree->lines[i].name, line->name) != 0 ||
                                    strcmp(tree->lines[i].primitives, line->primitives) != 0)) {
        i++;
    }
    if (i == MABD_PLAN_MAX_LINES) {
        tree->lines_left_out++;
        return;
    }
    if (i == tree->line_count) {
        tree->lines[tree->line_count++] = *line;
        return;
    }
    tree->lines[i].count++, tree->lines[i].reversed += line->reversed;
}

// Add the string of the links first to last.
static void add_string(const mabd_redmax_sim* sim, int32_t first, int32_t last,
                       mabd_tree_plan* tree) {
    const bool reversed = sim->links[first].reversed;
    mabd_string_line line = {
        .name = name_of(sim, &sim->links[last]), .count = 1, .reversed = reversed};
    for (int32_t i = 0; i <= last - first; i++) {
        const mabd_redmax_link* link = &sim->links[reversed ? last - i : first + i];
        append_primitive(link, &line);
        line.freedoms += link->count;
    }
    add_line(&line, tree);
}

void mabd_redmax_describe(const mabd_redmax_sim* sim, mabd_tree_plan* tree) {
    int32_t rows = 0;
    tree->links = sim->link_count, tree->freedoms = sim->freedom_count;
    for (int32_t first = 0, i = 0; i < sim->link_count; i++) {
        if (goes_on(sim, i)) continue;
        add_string(sim, first, i, tree);
        first = i + 1;
    }
    for (int32_t i = 0; i < sim->loops.cut_count; i++) {
        const mabd_redmax_cut* cut = &sim->loops.cuts[i];
        mabd_cut_line* line = &tree->cuts[sim->model->joints[cut->joint].type];
        *(cut->weld ? &line->welds : &line->joints) += 1;
        *(cut->weld ? &line->weld_rows : &line->rows) += cut->row_count;
        rows += cut->row_count;
    }
    tree->coupling_rows = -rows;
    for (int32_t i = 0; i < sim->part_count; i++) {
        tree->coupling_rows += sim->parts[i].row_count;
        tree->border += sim->parts[i].border_count;
    }
}
