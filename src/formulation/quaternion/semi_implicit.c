// SPDX-License-Identifier: Apache-2.0
// Semi-implicit Euler with Baumgarte's stabilisation [VQ App. D]: one linear solve a step, for
// velocities; poses follow by the exponential map. Forces and rows are those of the start.
//
//   [ M  -J' ] [ a      ]   [ f - omega x J omega                   ]     u+ = u + h a
//   [ J   0  ] [ lambda ] = [ (theta' - J u - alpha C/h)/h          ]     c+ = c + h v+
//                                                                         q+ = q (x) exp(h omega+)
// theta' is the rate of prescribed motions and of the targets of rigid servos over the step. The
// angular velocity is in the frame of the body at the start; the rotation is about itself, so it is
// the same in the frame at the end.

#include "formulation/quaternion/semi_implicit.h"

#include "formulation/quaternion/kinematics.h"
#include "math/frame_exp.h"

#include <string.h>

static void move_bodies(const mabd_quaternion_solve* s, const mabd_quaternion_node* from,
                        mabd_quaternion_node* to) {
    const mabd_quaternion_sim* sim = s->sim;
    const mabd_real* y = sim->y + s->part->vector_first;
    for (int32_t i = 0; i < s->part->body_count; i++) {
        const size_t at = MABD_NODE_REALS * (size_t)sim->bodies[s->part->body_first + i];
        const mabd_real *old = from->body + at, *a = y + 6 * (size_t)i;
        mabd_real* row = to->body + at;
        const mabd_quat q = mabd_q_load(old + 3);
        const mabd_vec3 v = mabd_v3_axpy(s->h, mabd_v3_load(a), mabd_v3_load(old + 7));
        const mabd_vec3 om =
            mabd_v3_axpy(s->h, mabd_v3_load(a + 3), mabd_rigid_spin(q, mabd_q_load(old + 10)));
        const mabd_quat turned =
            mabd_q_normalize(mabd_q_product(q, mabd_q_exp(mabd_v3_scale(s->h, om))));
        mabd_v3_store(mabd_v3_axpy(s->h, v, mabd_v3_load(old)), row);
        mabd_q_store(turned, row + 3);
        mabd_v3_store(v, row + 7);
        mabd_q_store(mabd_rigid_h_tmul(turned, mabd_v3_scale((mabd_real)0.5, om)), row + 10);
    }
}

mabd_status mabd_quaternion_semi_implicit(mabd_quaternion_solve* s, mabd_real time,
                                          const mabd_quaternion_node* from,
                                          mabd_quaternion_node* to) {
    mabd_quaternion_sim* sim = s->sim;
    const mabd_quaternion_part* part = s->part;
    mabd_real* b = sim->rhs + part->vector_first;
    int32_t body, joint;
    s->bh = s->h, s->from = time;
    mabd_quaternion_take_pose(s, from);
    memset(b, 0, (6 * (size_t)part->body_count + (size_t)part->row_count) * sizeof *b);
    s->time = time + s->h;
    mabd_quaternion_set_inputs(s);
    mabd_quaternion_add_targets(s, 1 / (s->h * s->h));
    s->time = time;
    mabd_quaternion_set_inputs(s);
    mabd_quaternion_add_targets(s, -1 / (s->h * s->h));
    mabd_quaternion_store_matrix(s);
    mabd_quaternion_forces(s, from, b);
    mabd_quaternion_add_rates(s, from, sim->def.quaternion.baumgarte);
    const mabd_status status = mabd_quaternion_factor(s, &body, &joint);
    if (status != MABD_OK) {
        s->report->body = body, s->report->joint = joint;
        s->report->reason = "the velocities have no solution at";
        return status;
    }
    s->report->refinements += mabd_quaternion_solve_linear(s);
    s->report->iterations++;
    move_bodies(s, from, to);
    const mabd_real* l = sim->y + part->vector_first + 6 * (size_t)part->body_count;
    memcpy(sim->next_lambda + part->row_first, l, (size_t)part->row_count * sizeof *l);
    s->time = time + s->h;
    mabd_quaternion_read_coordinates(s, to);
    return MABD_OK;
}
