// SPDX-License-Identifier: Apache-2.0
// Derivatives through the start of a step in charts of their own (charts.c).
//
// A ball of a node varies by the turn rho of its rotation and by its angular velocity. In a chart
// that does not move with the state these are changes of its coordinates and rates,
//
//   rho = J dq      d omega = J dv + (dJ.v) dq
//
// whose inverse, or transposed for bars, is taken for the states that a step begins with; then the
// ball is a string of three freedoms like any other. A switch of charts changes neither rho nor
// omega, so these maps, of the chart of the step, are all there is to it: by the chain rule they
// hold dv_new/dv_old = P and, for the exponential chart,
//
//   dv_new/dq_old = 2pi/t^3 (v q' + q'v 1 + q v') - 6pi (q'v) q q'/t^5,  t = |q|.

#include "formulation/redmax/redmax_charts.h"
#include "formulation/redmax/redmax_pass.h"

bool mabd_redmax_pass_is_centered(const mabd_redmax_pass* r, const mabd_redmax_link* link) {
    return link->kind == MABD_PRIMITIVE_BALL && !mabd_redmax_is_charted(&r->s, link);
}

void mabd_redmax_pass_chart_laws(const mabd_redmax_pass* r) {
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &r->g->sim->links[i];
        if (link->ball < 0 || !link->laws || !mabd_redmax_is_charted(&r->s, link)) continue;
        mabd_redmax_ball_derivatives(&r->s, i);
    }
}

mabd_redmax_ball_maps mabd_redmax_ball_maps_at(const mabd_redmax_pass* r,
                                               const mabd_redmax_link* link, const mabd_real* q,
                                               const mabd_real* v) {
    const mabd_turn_chart x = mabd_redmax_chart_at(&r->s, link, mabd_v3_load(q));
    mabd_redmax_ball_maps m;
    m.J = mabd_turn_matrix(&x), m.inverse = mabd_turn_inverse(&x);
    m.K = mabd_turn_slopes(&x, mabd_v3_load(v)), m.Q = mabd_turn_rotation(&x);
    return m;
}

mabd_mat3 mabd_redmax_pass_turn_by_chart(const mabd_redmax_pass* r, const mabd_redmax_link* link,
                                         const mabd_redmax_node* node) {
    mabd_real q[3], v[3];
    if (!mabd_redmax_is_charted(&r->s, link)) return mabd_m3_identity();
    mabd_redmax_chart_past(&r->s, link, node, q, v); // the start itself is nearest to itself
    return mabd_redmax_ball_maps_at(r, link, q, v).J;
}

// Changes of a node (rho, d omega) -> (dq, dv), or back; bars the other way round.
static void map_changes(const mabd_redmax_ball_maps* m, bool bars, bool into, mabd_real* q,
                        mabd_real* v) {
    const mabd_vec3 a = mabd_v3_load(q), b = mabd_v3_load(v);
    mabd_vec3 x, y;
    if (bars && into) {
        x = mabd_v3_add(mabd_m3_tmul(m->J, a), mabd_m3_tmul(m->K, b));
        y = mabd_m3_tmul(m->J, b);
    } else if (bars) {
        y = mabd_m3_tmul(m->inverse, b);
        x = mabd_m3_tmul(m->inverse, mabd_v3_sub(a, mabd_m3_tmul(m->K, y)));
    } else if (into) {
        x = mabd_m3_mul(m->inverse, a);
        y = mabd_m3_mul(m->inverse, mabd_v3_sub(b, mabd_m3_mul(m->K, x)));
    } else {
        x = mabd_m3_mul(m->J, a);
        y = mabd_v3_add(mabd_m3_mul(m->J, b), mabd_m3_mul(m->K, a));
    }
    mabd_v3_store(x, q), mabd_v3_store(y, v);
}

void mabd_redmax_pass_charts(mabd_redmax_pass* r, bool into, mabd_redmax_tangent start,
                             const mabd_redmax_tangent* last) {
    if (!r->part->has_charts) return;
    for (int32_t i = r->part->link_first; i < mabd_redmax_pass_end_link(r); i++) {
        const mabd_redmax_link* link = &r->g->sim->links[i];
        const size_t at = (size_t)link->first;
        if (link->ball < 0 || !mabd_redmax_is_charted(&r->s, link)) continue;
        const mabd_redmax_ball_maps now =
            mabd_redmax_ball_maps_at(r, link, r->s.start_q + at, r->s.start_v + at);
        map_changes(&now, r->back, into, start.q + at, start.v + at);
        if (!last) continue;
        mabd_real q[3], v[3];
        mabd_redmax_chart_past(&r->s, link, &r->g->sim->last, q, v);
        const mabd_redmax_ball_maps past = mabd_redmax_ball_maps_at(r, link, q, v);
        map_changes(&past, r->back, into, last->q + at, last->v + at);
    }
}
