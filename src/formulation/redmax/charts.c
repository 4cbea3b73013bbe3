// SPDX-License-Identifier: Apache-2.0
// Charts of balls that stay from step to step: exponential, and Euler angles.
//
// A node holds the rotation R and the angular velocity w of a ball in any chart; energies, outputs,
// contacts and set states read only these. In a chart of its own a ball has besides its coordinates
// q with R = Q(q), and the number of its chart. A step begins at them,
//
//   q_n = q    v_n = S(q_n)^-1 w_n    q_(n-1) = the coordinates of R_(n-1) nearest to q_n
//                                     v_(n-1) = S(q_(n-1))^-1 w_(n-1)
//
// and ends at R = Q(q), w = S v. Where the coordinates leave the good part of their chart, the next
// step, or part of a divided one, begins in others:
//
//   exponential   |q| > 4          q <- (1 - 2pi/|q|) q
//   Euler         |det S| < 0.3    the chart with the largest |det S|, at least sqrt(2/3)
//
// R and w stay, so rates follow by v_new = S_new^-1 S_old v_old [RM eq. 2.40] (which for the
// exponential chart is P v, P = (1 - 2pi/t) 1 + 2pi q q'/t^3, t = |q|), and so does the history.
// (Accelerations are no state here. [RM sec. 2.4.8] leaves the history in the old coordinates,
// where BDF2 takes a turn of 2 pi in one step.)

#include "formulation/redmax/redmax_charts.h"

#include "base/error.h"

#include <math.h>

/// Length of a rotation vector beyond which it is replaced by the other way round.
#define LONG_TURN ((mabd_real)4)
/// |det S| below which another chart of Euler angles is taken.
#define FLAT_DET ((mabd_real)0.3)
/// Bounds of an iterate: |q| of a rotation vector, whose pole is at 2 pi, and |det S|.
#define LAST_TURN ((mabd_real)6)
#define LAST_DET  ((mabd_real)0.02)
/// |det S| up to which a chart is singular in the start pose.
#define SINGULAR_DET ((mabd_real)1e-6)

static mabd_turn_kind kind_of(const mabd_redmax_link* link, int chart) {
    const mabd_turn_kind kind = {
        chart >= MABD_CHART_XYZ ? chart - MABD_CHART_XYZ : MABD_TURN_EXPONENTIAL, link->reversed};
    return kind;
}

bool mabd_redmax_is_charted(const mabd_redmax_solve* s, const mabd_redmax_link* link) {
    return s->in_charts && link->chart != MABD_CHART_LOCAL;
}

mabd_quat mabd_redmax_center(const mabd_redmax_solve* s, const mabd_redmax_link* link) {
    if (mabd_redmax_is_charted(s, link)) return mabd_q(1, 0, 0, 0);
    return mabd_q_load(s->from_node->turn + 4 * (size_t)link->ball);
}

static int chart_of(const mabd_redmax_solve* s, const mabd_redmax_link* link) {
    return mabd_redmax_is_charted(s, link) ? s->sim->start_chart[link->ball] : MABD_CHART_LOCAL;
}

mabd_turn_chart mabd_redmax_chart_at(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                                     mabd_vec3 q) {
    return mabd_turn_chart_at(kind_of(link, chart_of(s, link)), q);
}

// ---- steps -------------------------------------------------------------------------------------

static mabd_mat3 rotation_at(const mabd_redmax_node* node, const mabd_redmax_link* link) {
    return mabd_q_matrix(mabd_q_load(node->turn + 4 * (size_t)link->ball));
}

static void write_rates(const mabd_turn_chart* x, const mabd_real* omega, mabd_real* v) {
    mabd_v3_store(mabd_m3_mul(mabd_turn_inverse(x), mabd_v3_load(omega)), v);
}

// Coordinates in which a step begins, and their chart; true if they are others than those of the
// node.
static bool settle(const mabd_redmax_link* link, const mabd_redmax_node* node, mabd_vec3* q,
                   int* chart) {
    *q = mabd_v3_load(node->q + link->first), *chart = node->chart[link->ball];
    if (*chart < MABD_CHART_XYZ) {
        const mabd_real turn = mabd_v3_norm(*q);
        if (!(turn > LONG_TURN)) return false;
        *q = mabd_v3_scale(1 - 2 * MABD_PI / turn, *q);
        return true;
    }
    const mabd_turn_kind kind = kind_of(link, *chart);
    const mabd_euler now = mabd_euler_at(kind.number, kind.reversed, *q);
    if (!(fabs(mabd_euler_det(&now)) < FLAT_DET)) return false;
    const mabd_mat3 R = rotation_at(node, link);
    *chart = MABD_CHART_XYZ + mabd_euler_best(link->reversed ? mabd_m3_transpose(R) : R);
    *q = mabd_turn_coordinates(kind_of(link, *chart), R, mabd_v3(0, 0, 0));
    return true;
}

void mabd_redmax_enter_charts(mabd_redmax_solve* s) {
    mabd_redmax_sim* sim = s->sim;
    s->start_q = s->from_node->q, s->start_v = s->from_node->v;
    if (!s->in_charts || !s->part->has_charts) return;
    for (int32_t i = s->part->link_first; i < s->part->link_first + s->part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        const bool charted = mabd_redmax_is_charted(s, link);
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            sim->start_q[k] = s->from_node->q[k], sim->start_v[k] = s->from_node->v[k];
        }
        if (!charted) continue;
        mabd_vec3 q;
        int chart;
        s->switched += settle(link, s->from_node, &q, &chart);
        sim->start_chart[link->ball] = (int8_t)chart;
        const mabd_turn_chart x = mabd_redmax_chart_at(s, link, q);
        mabd_v3_store(q, sim->start_q + link->first);
        write_rates(&x, s->from_node->v + link->first, sim->start_v + link->first);
    }
    s->start_q = sim->start_q, s->start_v = sim->start_v;
}

void mabd_redmax_chart_past(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                            const mabd_redmax_node* node, mabd_real* q, mabd_real* v) {
    const mabd_vec3 near = mabd_v3_load(s->start_q + link->first);
    const mabd_turn_kind kind = kind_of(link, chart_of(s, link));
    const mabd_vec3 past = mabd_turn_coordinates(kind, rotation_at(node, link), near);
    const mabd_turn_chart x = mabd_turn_chart_at(kind, past);
    mabd_v3_store(past, q);
    write_rates(&x, node->v + link->first, v);
}

void mabd_redmax_store_chart(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                             mabd_redmax_node* to) {
    const mabd_redmax_node* from = s->from_node;
    mabd_vec3 q = mabd_v3(0, 0, 0);
    int chart = MABD_CHART_LOCAL;
    if (mabd_redmax_is_charted(s, link)) {
        chart = chart_of(s, link), q = mabd_v3_load(s->sim->q + link->first);
    } else if (link->chart != MABD_CHART_LOCAL) { // moved in another chart: contacts, projections
        chart = from->chart[link->ball];
        q = mabd_turn_coordinates(kind_of(link, chart), rotation_at(to, link),
                                  mabd_v3_load(from->q + link->first));
    }
    to->chart[link->ball] = (int8_t)chart;
    mabd_v3_store(q, to->q + link->first);
}

const char* mabd_redmax_leaves_chart(const mabd_redmax_solve* s, const mabd_redmax_link* link) {
    const mabd_vec3 q = mabd_v3_load(s->sim->q + link->first);
    const mabd_turn_chart x = mabd_redmax_chart_at(s, link, q);
    const mabd_mat3 way = mabd_m3_tproduct(rotation_at(s->from_node, link), mabd_turn_rotation(&x));
    const mabd_real trace = way.c1.x + way.c2.y + way.c3.z; // 1 + 2 cos of the turn
    if (!(trace > 1)) return "more than a quarter of a turn in a step at";
    bool inside = mabd_v3_norm(q) < LAST_TURN;
    if (mabd_turn_is_euler(&x)) {
        const mabd_turn_chart from =
            mabd_redmax_chart_at(s, link, mabd_v3_load(s->start_q + link->first));
        const mabd_real before = mabd_euler_det(&from.euler), now = mabd_euler_det(&x.euler);
        inside = now * (before > 0 ? 1 : -1) > LAST_DET;
    }
    return inside ? NULL : "a singular point of the chart within a step at";
}

// ---- states ------------------------------------------------------------------------------------

void mabd_redmax_find_charts(const mabd_redmax_sim* sim, mabd_redmax_node* node) {
    for (int32_t i = 0; i < sim->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        if (link->ball < 0) continue;
        node->chart[link->ball] = (int8_t)link->chart;
        if (link->chart == MABD_CHART_LOCAL) continue;
        const mabd_vec3 q = mabd_turn_coordinates(kind_of(link, link->chart),
                                                  rotation_at(node, link), mabd_v3(0, 0, 0));
        mabd_v3_store(q, node->q + link->first);
    }
}

mabd_status mabd_redmax_check_charts(const mabd_redmax_sim* sim, mabd_error* error) {
    for (int32_t i = 0; i < sim->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        char label[160];
        if (link->ball < 0 || link->chart < MABD_CHART_XYZ) continue;
        const mabd_turn_kind kind = kind_of(link, link->chart);
        const mabd_euler x =
            mabd_euler_at(kind.number, kind.reversed, mabd_v3_load(sim->now.q + link->first));
        if (fabs(mabd_euler_det(&x)) > SINGULAR_DET) continue;
        return mabd_fail_at(error, MABD_ERR_INPUT, -1, link->joint, 0,
                            "the chart '%s' of %s is singular in the start pose",
                            mabd_joint_chart_name((mabd_joint_chart)link->chart),
                            mabd_model_joint_label(sim->model, link->joint, label, sizeof label));
    }
    return MABD_OK;
}
