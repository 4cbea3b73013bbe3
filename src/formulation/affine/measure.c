// SPDX-License-Identifier: Apache-2.0
// Energies and momenta of affine bodies, from state alone.
//
//   kinetic    1/2 sum_k s_k |a_k'|^2 + 1/2 m |t'|^2, + 1/2 I x'^2 of armatures
//   gravity    -m g . t
//   elastic    V/2 S:e, S the stress of the last solve, e its strain
//   spring     1/2 k (x - rest)^2, of contacts 1/2 c lambda^2
//   momentum   p = m t',  L = R J o + m t x t'                    (about the world origin)
//              of soft bodies sum_k s_k a_k x a_k' instead of R J o: their inertia has the strain
//
// Elastic energy. Psi = V (mu e:e + lambda/2 tr(e)^2) has the stress S = 2 mu e + lambda tr(e) I.
// With e = e' + tr(e)/3 I, e' without trace, S' = 2 mu e' and tr(S) = (2 mu + 3 lambda) tr(e), so
//
//   Psi = V ( S':S' / (4 mu) + tr(S)^2 / (6 (2 mu + 3 lambda)) ),
//
// a sum of squares. S is a result of the step: the solve returns D, the step keeps S = C : sym(D)
// (update.c), and its relative error is that of the solve, whatever the modulus. The strain
// e = sqrt(A'A) - I of the coordinates is not used. It is a difference of nearly equal matrices, of
// error eps, and besides it holds the rotation of the last increment: A = R (I + D) with the skew
// part W of D gives sqrt(A'A) = I + sym(D) + W'W/2 + ... A step is accepted with |W| up to the
// rotation tolerance, 1e-2 rad: a false strain of 5e-5, without the forces of a strain. Its energy
// grows with the modulus, while that of a stress falls: a chain of 100 links with a heavy end (1e13
// Pa, h = 10 ms, 3,700 J exchanged) has at most 3.4e-3 J, and up to 9.2 J by the strain of A.

#include "formulation/affine/affine_measure.h"

#include "formulation/affine/affine_sim.h"
#include "formulation/affine/element/body_inertia.h"
#include "formulation/affine/element/joint_jacobian.h"

#include "formulation/affine/cpu/isa_table.h"

#include "math/sym3.h"
#include "rigid/measure.h"

static mabd_real elastic_energy(const mabd_body_material* material, mabd_sym3 S) {
    const mabd_real mean = (S.xx + S.yy + S.zz) / 3;
    const mabd_real xx = S.xx - mean, yy = S.yy - mean, zz = S.zz - mean;
    const mabd_real shear =
        xx * xx + yy * yy + zz * zz + 2 * (S.xy * S.xy + S.xz * S.xz + S.yz * S.yz);
    const mabd_real mu = material->mu, bulk = 2 * mu + 3 * material->lambda;
    // tr(S)^2 / 6 = 3/2 mean^2
    return material->volume * (shear / (4 * mu) + (mabd_real)1.5 * mean * mean / bulk);
}

static void measure_body(const mabd_affine_sim* sim, size_t body, mabd_rigid_sum* sum) {
    const mabd_model* m = sim->model;
    const mabd_body_material* material = &m->classes[m->body_class[body]].material;
    const mabd_vec12 q = mabd_vec12_load(sim->q + 12 * body);
    const mabd_vec12 v = mabd_affine_body_rates(sim, (int32_t)body);
    const mabd_real* s = material->s;
    mabd_vec3* L = &sum->L;
    sum->out.kinetic +=
        (s[0] * mabd_v3_dot(v.d1, v.d1) + s[1] * mabd_v3_dot(v.d2, v.d2) +
         s[2] * mabd_v3_dot(v.d3, v.d3) + material->mass * mabd_v3_dot(v.tau, v.tau)) /
        2;
    sum->out.elastic += elastic_energy(material, mabd_sym3_load(sim->stress + 6 * body));
    const mabd_affine_block* b = mabd_affine_block_of(sim, (int32_t)body);
    if (b->soft) {
        *L = mabd_v3_axpy(s[0], mabd_v3_cross(q.d1, v.d1), *L);
        *L = mabd_v3_axpy(s[1], mabd_v3_cross(q.d2, v.d2), *L);
        *L = mabd_v3_axpy(s[2], mabd_v3_cross(q.d3, v.d3), *L);
    } else {
        const mabd_spin spin = mabd_spin_load(sim->spin + MABD_SPIN_REALS * body);
        *L = mabd_v3_add(*L, mabd_q_rotate(spin.p, mabd_spin_momentum(b->J, spin.o)));
    }
    mabd_rigid_sum_mass(material->mass, m->gravity, q.tau, v.tau, sum);
}

// Add the energy of springs and armatures from the coordinates and rates of joints.
static void measure_controls(const mabd_affine_sim* sim, mabd_rigid_sum* sum) {
    const mabd_model* m = sim->model;
    if (m->coordinate_count == 0) return;
    for (int32_t i = 0; i < m->joint_count; i++) {
        const mabd_model_joint* joint = &m->joints[i];
        const mabd_row_set* set = &m->row_sets[joint->row_set];
        for (int32_t r = 0; joint->coordinate >= 0 && r < set->control_count; r++) {
            const int32_t k = joint->coordinate + r;
            const mabd_real rate = mabd_affine_is_damped_turn(set, r)
                                       ? mabd_affine_turn_rate_of(sim, joint)[r - set->turn]
                                       : sim->xd[k];
            mabd_rigid_sum_control(&set->control[r], sim->x[k], rate, sum);
        }
    }
}

// Add the energy stored in the softness of contacts: their force is that of a spring.
static void measure_contacts(const mabd_affine_sim* sim, mabd_measure* out) {
    const mabd_affine_contacts* c = sim->contacts;
    const mabd_real softness = mabd_affine_contact_softness(sim->model);
    mabd_real stored[2] = {0, 0};
    for (int32_t i = 0; c && i < c->list.current.count; i++) {
        mabd_affine_contact_add_stored(mabd_affine_contacts_at(c, i), softness, stored);
    }
    out->spring += stored[0] + stored[1];
}

static mabd_rigid_sum measure_energies(const mabd_affine_sim* sim) {
    mabd_rigid_sum sum = mabd_rigid_sum_begin();
    for (int32_t i = 0; i < sim->model->body_count; i++) {
        if (sim->model->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        measure_body(sim, (size_t)i, &sum);
    }
    measure_controls(sim, &sum);
    return sum;
}

void mabd_affine_energies(const mabd_affine_sim* sim, mabd_real* energies) {
    const mabd_measure out = measure_energies(sim).out;
    energies[0] = out.kinetic, energies[1] = out.gravity;
    energies[2] = out.elastic, energies[3] = out.spring;
}

mabd_measure mabd_affine_measure(const void* self) {
    const mabd_affine_sim* sim = mabd_affine_state(self);
    mabd_rigid_sum sum = measure_energies(sim);
    measure_contacts(sim, &sum.out);
    mabd_measure out = mabd_rigid_sum_end(&sum);
    mabd_affine_joint_error open = {0, 0, 0, -1};
    // on the calling thread only
    sim->stages->check(sim, sim->q, 0, sim->model->joint_count, &open);
    out.gap = open.gap;
    out.angle_error = open.angle;
    out.worst_joint = open.joint;
    return out;
}
