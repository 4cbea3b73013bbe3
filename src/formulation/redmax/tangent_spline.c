// SPDX-License-Identifier: Apache-2.0
// Derivatives of residuals and of the user's states by control values of splines (path_change.c).
//
// A change of the frame behind a path is a twist xi of its link against its parent, those of its
// columns change the motion of the link by more,
//
//   dV += u,  u = sum_i S_i' v_i
//   dA += ad(V) u - ad(S v) u + sum_i S_i' a_i + sum_ij S_ij' v_i v_j
//
// and the residual by S_i'F.

#include "formulation/redmax/redmax_tangent.h"
#include "scene/spline_value.h"

// The piece of a joint that has a control value, *value: its number there; null = none.
static const mabd_joint_piece* piece_of(const mabd_model* m, int32_t joint, int32_t* value) {
    const mabd_model_joint* own = &m->joints[joint];
    for (int32_t i = own->piece_first; i < own->piece_first + own->piece_count; i++) {
        const int32_t count = mabd_piece_value_count(&m->pieces[i]);
        if (*value < count) return &m->pieces[i];
        *value -= count;
    }
    return NULL;
}

// Change of the turn t of a frame, R exp(t) = .. exp(phi), by one unit of a parameter.
// value: its number among those of the curve.
static mabd_vec3 turn_change(const mabd_redmax_gradient* g, int32_t index, int32_t value) {
    const mabd_parameter* own = &g->parameters[index];
    const int32_t first = own->component - value % 6 + 3;
    mabd_real t[3] = {0, 0, 0}, e[3] = {0, 0, 0};
    for (int32_t i = 0; i < g->parameter_count; i++) {
        const mabd_parameter* p = &g->parameters[i];
        const int32_t k = p->component - first;
        if (p->kind != own->kind || p->index != own->index || k < 0 || k > 2) continue;
        t[k] = -g->values[i];
    }
    if (own->component >= first) e[own->component - first] = 1;
    return mabd_so3_turn_change(mabd_v3_load(t), mabd_v3_load(e));
}

bool mabd_redmax_spline_change(const mabd_redmax_gradient* g, int32_t index,
                               mabd_redmax_spline* out) {
    const mabd_redmax_sim* sim = g->sim;
    const mabd_parameter* own = &g->parameters[index];
    int32_t value = own->component, i = sim->joint_link[own->index];
    if (own->kind != MABD_PARAMETER_SPLINE || i < 0) return false;
    const mabd_joint_piece* piece = piece_of(sim->model, own->index, &value);
    while (i >= 0 && sim->links[i].piece != piece) i = sim->links[i].parent;
    if (!piece || i < 0) return false;
    const mabd_redmax_link* link = &sim->links[i];
    const mabd_real *v = sim->v + link->first, *a = sim->a + link->first;
    const mabd_redmax_path_change by =
        mabd_redmax_path_by_value(piece, sim->model->piece_values, sim->q + link->first,
                                  link->reversed, value, turn_change(g, index, value));
    mabd_spatial u = mabd_sp_zero(), w = mabd_sp_zero();
    for (int k = 0; k < link->count; k++) {
        u = mabd_sp_axpy(v[k], by.S[k], u);
        w = mabd_sp_axpy(a[k], by.S[k], w);
        for (int j = 0; j < link->count; j++) w = mabd_sp_axpy(v[k] * v[j], by.dS[k][j], w);
        out->r[k] = mabd_sp_dot(by.S[k], sim->F[i]);
    }
    out->link = i, out->xi = by.xi, out->dV = u;
    out->dA = mabd_sp_add(w, mabd_sp_cross(mabd_sp_sub(sim->V[i], sim->Sv[i]), u));
    return true;
}
