// SPDX-License-Identifier: Apache-2.0
// Sweeps over the links of one lean part.

#include "formulation/redmax/lean_text.h"

#include "base/isa.h"

#include <string.h>

static plain_tree tree_of(const mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    const mabd_redmax_part* part = s->part;
    const size_t link = (size_t)part->link_first, freedom = (size_t)part->freedom_first;
    const mabd_redmax_link* first = &sim->links[link];
    const mabd_redmax_freedom* f = &sim->freedoms[freedom];
    const mabd_vec3 g = mabd_v3_load(sim->model->gravity);
    const plain_tree t = {
        .links = sim->lean + link,
        .rest = {&first->rest, sizeof *first},
        .inertia = {&first->M, sizeof *first},
        .law = {&f->k, sizeof *f},
        .fall = {-g.x, -g.y, -g.z},
        .q = sim->q + freedom,
        .v = sim->v + freedom,
        .a = sim->a + freedom,
        .r = sim->r + freedom,
        .base = sim->base_force + freedom,
        .E = (mabd_real*)(sim->E + link),
        .V = (mabd_real*)(sim->V + link),
        .A = (mabd_real*)(sim->A + link),
        .F = (mabd_real*)(sim->F + link),
        .XV = (mabd_real*)(sim->XV + link),
        .XA = (mabd_real*)(sim->XA + link),
        .Sv = (mabd_real*)(sim->Sv + link),
        .N = (mabd_quad*)(sim->N + MABD_LEAN_SLOT * (size_t)part->structure.slot_first),
        .B = sim->B + MABD_VARIATION * freedom,
        .K = sim->K + MABD_VARIATION * freedom,
        .G = (mabd_real*)(sim->G + freedom),
        .D = sim->D + 3 * freedom,
        .column = MABD_VARIATION,
        .pivot = 3,
        .up = sim->up + MABD_VARIATION * link,
        .x = sim->x + MABD_VARIATION * link,
        .u = sim->u + freedom};
    return t;
}

static void links(const mabd_lean_sweep* sweep, int32_t from, int32_t to, int32_t* bad) {
    const plain_tree t = tree_of(sweep->s);
    const plain_weights w = {sweep->w.q, sweep->w.v, sweep->w.a};
    const int32_t first = sweep->s->part->freedom_first;
    switch (sweep->phase) {
    case MABD_LEAN_RESIDUAL_DOWN:
        plain_residual_down(&t, from, to);
        break;
    case MABD_LEAN_RESIDUAL_UP:
        plain_residual_up(&t, from, to);
        break;
    case MABD_LEAN_FACTOR:
        plain_factor_up(&t, &w, from, to, bad);
        break;
    case MABD_LEAN_CLEAR:
        plain_clear_up(&t, from, to);
        break;
    case MABD_LEAN_SOLVE_UP:
        plain_solve_up(&t, sweep->in + first, from, to);
        break;
    case MABD_LEAN_SOLVE_DOWN:
        plain_solve_down(&t, sweep->out + first, from, to);
        break;
    case MABD_LEAN_BACK_UP:
        plain_back_up(&t, sweep->in + first, from, to);
        break;
    case MABD_LEAN_BACK_DOWN:
        plain_back_down(&t, sweep->out + first, from, to);
        break;
    }
}

static void push(const mabd_lean_sweep* sweep, int32_t i) {
    const plain_tree t = tree_of(sweep->s);
    switch (sweep->phase) {
    case MABD_LEAN_RESIDUAL_UP:
        plain_residual_push(&t, i);
        break;
    case MABD_LEAN_FACTOR:
        plain_factor_push(&t, i);
        break;
    case MABD_LEAN_SOLVE_UP:
        plain_solve_push(&t, i);
        break;
    case MABD_LEAN_BACK_UP:
        plain_back_push(&t, i);
        break;
    default:
        break;
    }
}

#define TABLE_OF_(isa) mabd_lean_table_##isa
#define TABLE_OF(isa)  TABLE_OF_(isa)
extern const mabd_lean_table TABLE_OF(MABD_ISA);
const mabd_lean_table TABLE_OF(MABD_ISA) = {links, push};
