// SPDX-License-Identifier: Apache-2.0
// Springs between points, cables and the penalty ground in maximal coordinates [RM sec. 1.8]:
// forces at the start of a step, by the laws of rigid/rigid_springs.h and ground.c; the energy that
// they store, and what their dampers and friction take: the mean force of both ends of the step, on
// the way between.

#include "formulation/redmax/maximal.h"
#include "formulation/redmax/redmax_works.h"
#include "rigid/rigid_springs.h"

// State of spring i at the poses of the workspace; *end gets its length and damping tension.
static mabd_rigid_spring spring_at(const mabd_maximal_sim* sim, int32_t i, mabd_redmax_end* end) {
    const mabd_model_spring* own = &sim->model->springs[i];
    const mabd_rigid_spring s = mabd_rigid_spring_at(sim->model, own, sim->poses, sim->u);
    *end = (mabd_redmax_end){.length = s.length, .damper = s.t.T - s.elastic};
    return s;
}

// State of point i of the ground there; *F gets the force on it, world.
static mabd_redmax_end ground_at(const mabd_maximal_sim* sim, int32_t i, mabd_vec3* F) {
    const mabd_model_point* own = &sim->model->ground_points[i];
    const mabd_rigid_pose* pose = &sim->poses[own->body];
    const mabd_rigid_twist* u = &sim->u[own->body];
    const mabd_vec3 p = mabd_v3_add(pose->c, mabd_m3_mul(pose->R, own->X));
    const mabd_vec3 turn = mabd_m3_mul(pose->R, mabd_v3_cross(u->w, own->X));
    return mabd_redmax_ground_end(sim->model->ground, p, mabd_v3_add(u->v, turn), F);
}

void mabd_maximal_add_springs(mabd_maximal_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i < m->spring_count; i++) {
        const mabd_rigid_spring s = spring_at(sim, i, &sim->spring_ends[i]);
        mabd_rigid_spring_pull(m, &m->springs[i], sim->poses, s.t.T, sim->load);
    }
    for (int32_t i = 0; i < m->ground_point_count; i++) {
        const mabd_model_point* own = &m->ground_points[i];
        mabd_rigid_wrench* load = &sim->load[own->body];
        mabd_vec3 F;
        sim->ground_ends[i] = ground_at(sim, i, &F);
        const mabd_vec3 f = mabd_m3_tmul(sim->poses[own->body].R, F);
        load->f = mabd_v3_add(load->f, F);
        load->t = mabd_v3_add(load->t, mabd_v3_cross(own->X, f));
    }
}

mabd_real mabd_maximal_spring_energy(const mabd_maximal_sim* self) {
    mabd_maximal_sim* sim = (mabd_maximal_sim*)self; // its state does not change
    const mabd_model* m = sim->model;
    mabd_real sum = 0;
    if (m->spring_count + m->ground_point_count == 0) return 0;
    mabd_maximal_place(sim);
    for (int32_t i = 0; i < m->spring_count; i++) {
        sum += mabd_rigid_spring_energy(m, &m->springs[i], sim->poses);
    }
    for (int32_t i = 0; i < m->ground_point_count; i++) {
        mabd_vec3 F;
        const mabd_real height = ground_at(sim, i, &F).length;
        if (height < 0) sum += m->ground->stiffness * height * height / 2;
    }
    return sum;
}

void mabd_maximal_book_springs(mabd_maximal_sim* sim) {
    const mabd_model* m = sim->model;
    mabd_rigid_works* work = &sim->books.work;
    if (m->spring_count + m->ground_point_count == 0) return;
    mabd_maximal_place(sim); // after the step
    for (int32_t i = 0; i < m->spring_count; i++) {
        const mabd_redmax_end* from = &sim->spring_ends[i];
        mabd_redmax_end to;
        spring_at(sim, i, &to);
        work->dampers += (from->damper + to.damper) / 2 * (to.length - from->length);
    }
    for (int32_t i = 0; i < m->ground_point_count; i++) {
        mabd_vec3 F;
        const mabd_redmax_end to = ground_at(sim, i, &F);
        mabd_redmax_book_ground_end(&sim->ground_ends[i], &to, work);
    }
}
