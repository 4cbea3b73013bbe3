// SPDX-License-Identifier: Apache-2.0
// Rows of joints in the impulse formulation: J is the derivative of C along any motion, a rigid
// motion of both bodies changes no row, and the factor of a block is that of J M^-1 J'.
//
// Oracle of J: central differences of C over poses moved by a twist, c + s v, exp(s w) R.

#include "formulation/impulse/impulse_blocks.h"
#include "formulation/impulse/impulse_kernel.h"
#include "support/draw.h"
#include "support/impulse_rig.h"

#include "math/frame_exp.h"

static const block_def first = {.sides = {0.3, 0.2, 0.12}, .place = {0.02, -0.01, 0.03}};
static const block_def second = {.sides = {0.2, 0.25, 0.15}, .place = {0.05, 0.02, -0.04}};

static mabd_model* pair_model(mabd_joint type) {
    mabd_scene* scene = rig_scene(0);
    const int32_t a = block_add(scene, &first), b = block_add(scene, &second);
    joint_add(scene, type, a, b, NULL);
    return rig_model(scene);
}

static mabd_vec3 vector(uint64_t* state) {
    mabd_vec3 v;
    v.x = draw_real(state), v.y = draw_real(state), v.z = draw_real(state);
    return v;
}

// Draw velocities of both bodies; a rigid motion if `rigid`.
static mabd_impulse_pair draw_motion(const mabd_impulse_sim* sim, bool rigid, uint64_t* state) {
    mabd_impulse_pair V;
    V.va = vector(state), V.wa = vector(state);
    V.vb = vector(state), V.wb = vector(state);
    if (!rigid) return V;
    V.wb = V.wa;
    V.vb = mabd_v3_add(V.va, mabd_v3_cross(V.wa, mabd_v3_sub(sim->poses[1].c, sim->poses[0].c)));
    return V;
}

// Poses moved along a motion by s.
static void move(mabd_impulse_sim* sim, const mabd_impulse_pair* V, double s,
                 const mabd_rigid_pose* from) {
    const mabd_vec3 v[2] = {V->va, V->vb}, w[2] = {V->wa, V->wb};
    for (int i = 0; i < 2; i++) {
        const mabd_mat3 turn = mabd_q_matrix(mabd_q_exp(mabd_v3_scale((mabd_real)s, w[i])));
        sim->poses[i].c = mabd_v3_axpy((mabd_real)s, v[i], from[i].c);
        sim->poses[i].R = mabd_m3_product(turn, from[i].R);
    }
}

// Turn b about the anchor by a rotation that hinge-like rows do not allow, to open them.
static void open_joint(mabd_impulse_sim* sim, double size, uint64_t* state) {
    const mabd_impulse_pair V = draw_motion(sim, false, state);
    const mabd_rigid_pose from[2] = {sim->poses[0], sim->poses[1]};
    move(sim, &V, size, from);
}

static bool has_points(mabd_joint type) {
    mabd_row rows[MABD_JOINT_MAX_ROWS];
    return mabd_joint_rigid_rows(type, rows) > 0 && rows[0].kind == MABD_ROW_POINT;
}

Test(impulse_rows, are_derivatives_of_their_values) {
    uint64_t state = 7;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        mabd_model* model = pair_model((mabd_joint)type);
        mabd_impulse_sim* sim = impulse_inside(model, impulse_def(0.01, 1, 1, 0));
        for (int k = 0; k < 10 && sim->joint_count > 0; k++) {
            mabd_impulse_joint j = sim->joints[0];
            mabd_real C[2][MABD_IMPULSE_MAX_ROWS];
            mabd_impulse_row J[MABD_IMPULSE_MAX_ROWS], other[MABD_IMPULSE_MAX_ROWS];
            // J of point rows and of locked rotations is the derivative where they are closed
            if (!j.locked && !has_points((mabd_joint)type)) open_joint(sim, 0.02, &state);
            const mabd_rigid_pose from[2] = {sim->poses[0], sim->poses[1]};
            const mabd_impulse_pair V = draw_motion(sim, false, &state);
            mabd_impulse_joint_rows(sim, &j, C[0], J);
            for (int end = 0; end < 2; end++) {
                move(sim, &V, end ? 1e-5 : -1e-5, from);
                mabd_impulse_joint_rows(sim, &j, C[end], other);
            }
            for (int r = 0; r < j.width; r++) {
                const double slope = (C[1][r] - C[0][r]) / 2e-5,
                             rate = mabd_impulse_rate(&J[r], &V);
                cr_expect(lt(dbl, fabs(slope - rate), 1e-7), "%s row %d: %g %g",
                          mabd_joint_name((mabd_joint)type), r, slope, rate);
            }
            sim->poses[0] = from[0], sim->poses[1] = from[1];
        }
        impulse_inside_destroy(sim);
        mabd_model_destroy(model);
    }
}

Test(impulse_rows, do_not_see_a_rigid_motion_of_both_bodies) {
    uint64_t state = 3;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        mabd_model* model = pair_model((mabd_joint)type);
        mabd_impulse_sim* sim = impulse_inside(model, impulse_def(0.01, 1, 1, 0));
        for (int k = 0; k < 10 && sim->joint_count > 0; k++) {
            const mabd_impulse_joint j = sim->joints[0];
            mabd_real C[MABD_IMPULSE_MAX_ROWS];
            mabd_impulse_row J[MABD_IMPULSE_MAX_ROWS];
            open_joint(sim, 0.02, &state);
            const mabd_impulse_pair V = draw_motion(sim, true, &state);
            mabd_impulse_joint_rows(sim, &j, C, J);
            for (int r = 0; r < j.width; r++) {
                cr_expect(lt(dbl, fabs(mabd_impulse_rate(&J[r], &V)), 1e-14), "%s row %d: %g",
                          mabd_joint_name((mabd_joint)type), r, mabd_impulse_rate(&J[r], &V));
            }
        }
        impulse_inside_destroy(sim);
        mabd_model_destroy(model);
    }
}

// x = K^-1 l of the first block.
static void multiply_inverse(const mabd_impulse_sim* sim, int n, const mabd_real* l, mabd_real* x) {
    const mabd_impulse_packs* p = &sim->blocks->packs;
    const int at = mabd_impulse_places_of((mabd_impulse_pack_kind)p->order.pack_kind[0]).inverse;
    for (int r = 0; r < n; r++) {
        x[r] = 0;
        for (int k = 0; k < n; k++) {
            const int high = r > k ? r : k, low = r > k ? k : r;
            x[r] += p->data[at + high * (high + 1) / 2 + low].at[0] * l[k];
        }
    }
}

// The inverse of a block is that of K from J and the inertia of the classes.
Test(impulse_rows, blocks_are_inverses_of_the_mobility) {
    uint64_t state = 5;
    for (int type = 0; type < MABD_JOINT_COUNT; type++) {
        mabd_model* model = pair_model((mabd_joint)type);
        mabd_impulse_sim* sim = impulse_inside(model, impulse_def(0.01, 1, 1, 0));
        if (sim->joint_count == 0) {
            impulse_inside_destroy(sim);
            mabd_model_destroy(model);
            continue;
        }
        sim->h = (mabd_real)0.01;
        mabd_impulse_add_loads(sim);
        mabd_impulse_blocks_place(sim);
        const mabd_impulse_joint j = sim->joints[0];
        mabd_real C[MABD_IMPULSE_MAX_ROWS], x[MABD_IMPULSE_MAX_ROWS], l[MABD_IMPULSE_MAX_ROWS];
        mabd_impulse_row J[MABD_IMPULSE_MAX_ROWS];
        mabd_impulse_joint_rows(sim, &j, C, J);
        for (int r = 0; r < j.width; r++) x[r] = l[r] = draw_real(&state);
        multiply_inverse(sim, j.width, l, x);
        mabd_impulse_pair V;
        memset(&V, 0, sizeof V);
        for (int r = 0; r < j.width; r++) { // V = M^-1 J' x
            for (int side = 0; side < 2; side++) {
                const mabd_model_class* c = &model->classes[model->body_class[side]];
                const mabd_mat3 R = sim->poses[side].R;
                const mabd_vec3 t = mabd_m3_tmul(R, side ? J[r].tb : J[r].ta);
                const mabd_vec3 w =
                    mabd_v3(t.x / c->principal[0], t.y / c->principal[1], t.z / c->principal[2]);
                mabd_vec3 *v = side ? &V.vb : &V.va, *turn = side ? &V.wb : &V.wa;
                *v = mabd_v3_axpy((side ? 1 : -1) * x[r] / c->material.mass, J[r].f, *v);
                *turn = mabd_v3_axpy(x[r], mabd_m3_mul(R, w), *turn);
            }
        }
        for (int r = 0; r < j.width; r++) { // J V = K x = l
            cr_expect(lt(dbl, fabs(mabd_impulse_rate(&J[r], &V) - l[r]), 1e-12), "%s row %d: %g",
                      mabd_joint_name((mabd_joint)type), r, mabd_impulse_rate(&J[r], &V) - l[r]);
        }
        impulse_inside_destroy(sim);
        mabd_model_destroy(model);
    }
}

// A fixed joint whose body b has turned by an angle: the rows of its rotation are 2 sin(angle/2),
// which rises up to half a turn. Cross rows are sin(angle) and lose the direction at a right angle;
// differences of Euler angles [SI eq. 57] are singular there.
Test(impulse_rows, of_locked_rotations_rise_beyond_a_right_angle) {
    mabd_model* model = pair_model(MABD_JOINT_FIXED);
    mabd_impulse_sim* sim = impulse_inside(model, impulse_def(0.01, 1, 1, 0));
    const mabd_mat3 from = sim->poses[1].R;
    for (int axis = 0; axis < 3; axis++) {
        double last = 0;
        for (double angle = 0.1; angle < 3.1; angle += 0.1) {
            mabd_real C[MABD_IMPULSE_MAX_ROWS];
            mabd_impulse_row J[MABD_IMPULSE_MAX_ROWS];
            const mabd_vec3 n = mabd_v3(axis == 0, axis == 1, axis == 2);
            const mabd_quat turn = mabd_q_axis_angle(n, (mabd_real)angle);
            sim->poses[1].R = mabd_m3_product(mabd_q_matrix(turn), from);
            mabd_impulse_joint_rows(sim, &sim->joints[0], C, J);
            const double size = mabd_v3_norm(mabd_v3_load(C + 3));
            cr_expect(lt(dbl, fabs(size - 2 * sin(angle / 2)), 1e-12), "%g: %g", angle, size);
            cr_expect(lt(dbl, last, size));
            cr_expect(lt(dbl, fabs(C[3 + axis] - size), 1e-12)); // along the axis, in the world
            last = size;
        }
    }
    impulse_inside_destroy(sim);
    mabd_model_destroy(model);
}
