// SPDX-License-Identifier: Apache-2.0
// Inertia of bodies of one class in lanes: references, forces of inertia, rates at the end of a
// step. The mathematics is that of affine/element/{inertia,turn}.h, with the same bits. Work that
// only some lanes need is done for these lanes one by one: nearly free bodies, rotations of most of
// half a turn, polar decompositions far from a rotation.

#include "formulation/affine/cpu/pack_lanes.h"
#include "formulation/affine/element/body_inertia.h"

#include "math/polar.h"

// ---- soft bodies: BDF2 on the coordinates ------------------------------------------------------

// Compute targets and guesses. Combine first and transpose to lanes afterwards: this transposes two
// rows of each body instead of four. Null = not needed.
MABD_HOT void look_ahead(const mabd_affine_sim* sim, const int32_t* body,
                         mabd_lanes* MABD_RESTRICT q_hat, mabd_lanes* MABD_RESTRICT guess) {
    static const int32_t order[MABD_LANES] = {0, 1, 2, 3, 4, 5, 6, 7};
    const mabd_affine_step_scale s = *mabd_affine_scale(sim, body[0]);
    alignas(64) mabd_real targets[12 * MABD_LANES], guesses[12 * MABD_LANES];
    for (int l = 0; l < MABD_LANES; l++) {
        const size_t at = 12 * (size_t)body[l];
        const mabd_real *MABD_RESTRICT q = sim->q + at, *MABD_RESTRICT q1 = sim->q1 + at;
        const mabd_real *MABD_RESTRICT v = sim->v + at, *MABD_RESTRICT v1 = sim->v1 + at;
        for (int k = 0; k < 12; k++) {
            if (q_hat) targets[12 * l + k] = mabd_affine_step_target(&s, q[k], q1[k], v[k], v1[k]);
            if (guess) guesses[12 * l + k] = mabd_affine_step_guess(&s, q[k], v[k], v1[k]);
        }
    }
    if (q_hat) mabd_lanes_load(12, targets, order, q_hat);
    if (guess) mabd_lanes_load(12, guesses, order, guess);
}

// Two iterations of Newton-Schulz, which suffice for matrices within 0.02 of a rotation. left: |X'X
// - I|^2 at the end, or infinite if det <= 0.
static void turn_lanes(const mabd_lanes* MABD_RESTRICT A, mabd_lanes* MABD_RESTRICT R,
                       mabd_lanes* MABD_RESTRICT left) {
    MABD_EACH_LANE(l) {
        mabd_mat3 X = mabd_lane_m3(A, l);
        mabd_real E[6];
        const mabd_real det = mabd_m3_det(X);
        mabd_polar_error(X, E);
        X = mabd_polar_schulz(X, E);
        mabd_polar_error(X, E);
        X = mabd_polar_schulz(X, E);
        const mabd_real error = mabd_polar_error(X, E);
        left->at[l] = det > 0 ? error : (mabd_real)INFINITY;
        mabd_lane_put_m3(X, R, l);
    }
}

void MABD_STAGE(turn_pack)(const mabd_lanes* A, mabd_lanes* R, bool* turned) {
    mabd_lanes left;
    turn_lanes(A, R, &left);
    for (int l = 0; l < MABD_LANES; l++) {
        turned[l] = true;
        if (left.at[l] < MABD_POLAR_LANE_SQUARE) continue;
        mabd_mat3 X = mabd_lane_m3(A, l);
        turned[l] = mabd_polar(X, &X);
        mabd_lane_put_m3(X, R, l);
    }
}

// Compute references at a guess.
static void place_soft(const mabd_affine_sim* sim, const int32_t* body, const mabd_lanes* guess,
                       mabd_lanes* ref) {
    bool turned[MABD_LANES];
    MABD_STAGE(turn_pack)(guess, ref, turned);
    for (int k = 9; k < 12; k++) {
        MABD_EACH_LANE(l) ref[k].at[l] = guess[k].at[l];
    }
    for (int l = 0; l < MABD_LANES; l++) {
        if (turned[l]) continue; // without a rotation in the prediction, use that of the state
        mabd_mat3 R = mabd_m3_identity();
        mabd_polar(mabd_m3_load(sim->q + 12 * (size_t)body[l]), &R);
        mabd_lane_put_m3(R, ref, l);
    }
}

static void add_soft(const mabd_affine_block* MABD_RESTRICT block, mabd_vec3 weight,
                     const mabd_lanes* MABD_RESTRICT q_hat, const mabd_lanes* MABD_RESTRICT ref,
                     mabd_lanes* MABD_RESTRICT r) {
    const mabd_affine_block b = *block;
    MABD_EACH_LANE(l) {
        const mabd_vec12 one = mabd_affine_block_inertia(&b, mabd_lane_vec12(q_hat, l),
                                                         mabd_lane_vec12(ref, l), weight);
        mabd_lane_put_vec12(one, r, l);
    }
}

// Open soft bodies: references, and the forces of inertia, gravity and applied forces.
static void open_soft(const mabd_affine_sim* sim, const int32_t* body, mabd_vec3 weight,
                      bool predict, mabd_lanes* ref, mabd_lanes* r) {
    const mabd_affine_block* block = mabd_affine_block_of(sim, body[0]);
    mabd_lanes q_hat[12], guess[12];
    if (predict) {
        look_ahead(sim, body, q_hat, guess);
        place_soft(sim, body, guess, ref);
    } else {
        look_ahead(sim, body, q_hat, NULL);
        mabd_lanes_load(12, sim->ref, body, ref);
    }
    for (int l = 0; l < MABD_LANES && sim->has_applied; l++) {
        mabd_vec12 target = mabd_lane_vec12(q_hat, l);
        mabd_affine_block_apply_force(block, sim->applied + 6 * (size_t)body[l],
                                      mabd_lane_m3(ref, l), &target);
        mabd_lane_put_vec12(target, q_hat, l);
    }
    add_soft(block, weight, q_hat, ref, r);
}

// ---- rotations ---------------------------------------------------------------------------------

// Rows of sim->spin in lanes, and what follows from them in a solve.
typedef struct turn_work {
    mabd_lanes state[MABD_SPIN_REALS];
    mabd_lanes y[4], flow[6];
} turn_work;

MABD_HOT mabd_spin lane_turn(const mabd_lanes* a, int l) {
    mabd_spin s;
    s.p = mabd_q(a[0].at[l], a[1].at[l], a[2].at[l], a[3].at[l]);
    s.o = mabd_lane_v3(a + 4, l), s.o1 = mabd_lane_v3(a + 7, l);
    s.d = mabd_lane_v3(a + 10, l), s.torque = mabd_lane_v3(a + 13, l);
    return s;
}

MABD_HOT mabd_spin_flow lane_flow(const mabd_lanes* a, int l) {
    mabd_spin_flow f;
    f.cw = mabd_lane_v3(a, l), f.ck = mabd_lane_v3(a + 3, l);
    return f;
}

static void guess_turns(const mabd_affine_step_scale* MABD_RESTRICT step,
                        const mabd_affine_block* MABD_RESTRICT block, turn_work* MABD_RESTRICT w,
                        mabd_lanes* MABD_RESTRICT is_free, mabd_lanes* MABD_RESTRICT is_wild) {
    const mabd_affine_step_scale s = *step;
    const mabd_affine_block b = *block;
    MABD_EACH_LANE(l) {
        const mabd_spin state = lane_turn(w->state, l);
        mabd_lane_put_v3(mabd_spin_guess(&s, &state), w->y, l);
        is_free->at[l] = mabd_spin_is_free(&s, b.J, &state) ? 1 : 0;
        is_wild->at[l] = mabd_spin_is_wild(&s, &state) ? 1 : 0;
        for (int k = 0; k < 6; k++) w->flow[k].at[l] = 0;
    }
}

// Load the rotations of bodies and predict them over the solve.
static void predict_turns(const mabd_affine_sim* sim, const int32_t* body, turn_work* w) {
    const mabd_affine_block* block = mabd_affine_block_of(sim, body[0]);
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body[0]);
    mabd_lanes is_free, is_wild;
    mabd_lanes_load(MABD_SPIN_REALS, sim->spin, body, w->state);
    guess_turns(step, block, w, &is_free, &is_wild);
    for (int l = 0; l < MABD_LANES; l++) {
        if (!(is_wild.at[l] > 0)) continue;
        mabd_spin state = lane_turn(w->state, l);
        mabd_spin_damp(step, block->J, &state);
        mabd_lane_put_v3(state.o, w->state + 4, l), mabd_lane_put_v3(state.o1, w->state + 7, l);
        mabd_lane_put_v3(state.d, w->state + 10, l);
        mabd_lane_put_v3(mabd_spin_guess(step, &state), w->y, l);
        is_free.at[l] = mabd_spin_is_free(step, block->J, &state) ? 1 : 0;
    }
    for (int l = 0; l < MABD_LANES && !block->even; l++) {
        if (!(is_free.at[l] > 0)) continue;
        const mabd_spin state = lane_turn(w->state, l);
        mabd_vec3 y = mabd_lane_v3(w->y, l);
        mabd_spin_flow flow;
        mabd_spin_free(step, block->J, &state, &y, &flow);
        mabd_lane_put_v3(y, w->y, l);
        mabd_lane_put_v3(flow.cw, w->flow, l), mabd_lane_put_v3(flow.ck, w->flow + 3, l);
    }
}

// Load the rotations of bodies, and those to the reference.
static void open_turns(const mabd_affine_sim* sim, const int32_t* body, turn_work* w) {
    predict_turns(sim, body, w);
    if (sim->spin_ref_set) mabd_lanes_load(4, sim->spin_ref, body, w->y);
}

static void place_turns(const mabd_lanes* MABD_RESTRICT p, const mabd_lanes* MABD_RESTRICT y,
                        mabd_lanes* MABD_RESTRICT ref, mabd_lanes* MABD_RESTRICT square) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 turn = mabd_lane_v3(y, l);
        const mabd_quat from = mabd_q(p[0].at[l], p[1].at[l], p[2].at[l], p[3].at[l]);
        const mabd_quat q = mabd_spin_advance(from, mabd_spin_quat(turn));
        mabd_lane_put_m3(mabd_q_matrix(q), ref, l);
        square->at[l] = mabd_v3_dot(turn, turn);
    }
}

// Compute the rotations of references from those of states.
static void turn_references(const turn_work* w, mabd_lanes* ref) {
    mabd_lanes square;
    place_turns(w->state, w->y, ref, &square);
    for (int l = 0; l < MABD_LANES; l++) {
        if (!(square.at[l] > MABD_SPIN_FAR_RAD * MABD_SPIN_FAR_RAD)) continue;
        const mabd_quat q = mabd_spin_quat_any(mabd_lane_v3(w->y, l));
        const mabd_mat3 R = mabd_q_matrix(mabd_spin_advance(lane_turn(w->state, l).p, q));
        mabd_lane_put_m3(R, ref, l);
    }
}

// Centres of bodies in lanes, each after an entry of A.
typedef struct center_work {
    mabd_lanes q[4], q1[4], v[4], v1[4];
} center_work;

static void load_centers(const mabd_affine_sim* sim, const int32_t* body, center_work* c) {
    const mabd_real *q[MABD_LANES], *q1[MABD_LANES], *v[MABD_LANES], *v1[MABD_LANES];
    for (int l = 0; l < MABD_LANES; l++) {
        const size_t at = 12 * (size_t)body[l] + 8;
        q[l] = sim->q + at, q1[l] = sim->q1 + at, v[l] = sim->v + at, v1[l] = sim->v1 + at;
    }
    mabd_lanes_gather(4, q, c->q);
    mabd_lanes_gather(4, q1, c->q1);
    mabd_lanes_gather(4, v, c->v);
    mabd_lanes_gather(4, v1, c->v1);
}

static void guess_centers(const mabd_affine_step_scale* MABD_RESTRICT step,
                          const center_work* MABD_RESTRICT c, mabd_lanes* MABD_RESTRICT t) {
    const mabd_affine_step_scale s = *step;
    for (int k = 0; k < 3; k++) {
        MABD_EACH_LANE(l) {
            t[k].at[l] = mabd_affine_step_guess(&s, c->q[k + 1].at[l], c->v[k + 1].at[l],
                                                c->v1[k + 1].at[l]);
        }
    }
}

// Compute the force of inertia at references. force (3): other forces at the centre, world.
static void turn_force(const mabd_affine_step_scale* MABD_RESTRICT step,
                       const mabd_affine_block* MABD_RESTRICT block,
                       const turn_work* MABD_RESTRICT w, const center_work* MABD_RESTRICT c,
                       const mabd_lanes* MABD_RESTRICT stress, const mabd_lanes* MABD_RESTRICT ref,
                       mabd_vec3 weight, mabd_lanes* MABD_RESTRICT r) {
    const mabd_affine_step_scale s = *step;
    const mabd_affine_block b = *block;
    MABD_EACH_LANE(l) {
        const mabd_spin state = lane_turn(w->state, l);
        const mabd_spin_flow flow = lane_flow(w->flow, l);
        const mabd_vec3 O = mabd_spin_rate(&s, state.d, flow.ck, mabd_lane_v3(w->y, l));
        const mabd_vec3 torque = mabd_spin_torque(&s, b.J, &state, flow.cw, O);
        const mabd_sym3 e = mabd_affine_block_strain(&b, mabd_lane_s3(stress, l));
        mabd_vec12 one = mabd_spin_force(b.sm, s.beta_h, O, torque, e);
        mabd_vec3 t_hat;
        t_hat.x = mabd_affine_step_target(&s, c->q[1].at[l], c->q1[1].at[l], c->v[1].at[l],
                                          c->v1[1].at[l]);
        t_hat.y = mabd_affine_step_target(&s, c->q[2].at[l], c->q1[2].at[l], c->v[2].at[l],
                                          c->v1[2].at[l]);
        t_hat.z = mabd_affine_step_target(&s, c->q[3].at[l], c->q1[3].at[l], c->v[3].at[l],
                                          c->v1[3].at[l]);
        one.tau = mabd_affine_center_force(&b, t_hat, mabd_lane_vec12(ref, l), weight);
        mabd_lane_put_vec12(one, r, l);
    }
}

// ---- references --------------------------------------------------------------------------------

static void store_turns(mabd_affine_sim* sim, const int32_t* body, int32_t count,
                        const mabd_lanes* y) {
    for (int32_t l = 0; l < count; l++) {
        mabd_v3_store(mabd_lane_v3(y, l), sim->spin_ref + 4 * (size_t)body[l]);
    }
}

// Store references, except those in the halo: other threads may be reading their predicted values
// (affine/cpu/pack.h).
static void store_references(mabd_affine_sim* sim, const mabd_lanes* ref, const int32_t* body,
                             int32_t count, uint8_t halo) {
    if (halo == 0) {
        mabd_lanes_store(12, ref, body, count, sim->ref);
        return;
    }
    for (int32_t l = 0; l < count; l++) {
        if (halo >> l & 1) continue;
        mabd_vec12_store(mabd_lane_vec12(ref, l), sim->ref + 12 * (size_t)body[l]);
    }
}

void MABD_STAGE(predict_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack, bool inside) {
    const int32_t* body = pack->body;
    mabd_lanes ref[12];
    if (mabd_affine_block_of(sim, body[0])->soft) {
        mabd_lanes guess[12];
        look_ahead(sim, body, NULL, guess);
        place_soft(sim, body, guess, ref);
    } else {
        turn_work w;
        center_work c;
        predict_turns(sim, body, &w);
        load_centers(sim, body, &c);
        turn_references(&w, ref);
        guess_centers(mabd_affine_scale(sim, body[0]), &c, ref + 9);
        if (sim->spin_ref_set) store_turns(sim, body, pack->count, w.y);
    }
    store_references(sim, ref, body, pack->count, inside ? pack->halo : 0);
}

static void continue_turns(const mabd_lanes* MABD_RESTRICT ref, const mabd_lanes* MABD_RESTRICT A,
                           turn_work* MABD_RESTRICT w, mabd_lanes* MABD_RESTRICT q,
                           mabd_lanes* MABD_RESTRICT a, mabd_lanes* MABD_RESTRICT u,
                           mabd_lanes* MABD_RESTRICT y, mabd_lanes* MABD_RESTRICT det) {
    MABD_EACH_LANE(l) {
        const mabd_mat3 X = mabd_lane_m3(A, l);
        mabd_vec3 skew, small;
        mabd_spin_small(mabd_lane_m3(ref, l), X, &skew, &small);
        const mabd_quat n =
            mabd_q_product(mabd_spin_quat(mabd_lane_v3(w->y, l)), mabd_spin_tangent(small));
        mabd_lane_put_v3(mabd_spin_vector(n), y, l);
        mabd_lane_put_v3(skew, a, l), mabd_lane_put_v3(small, u, l);
        q[0].at[l] = n.w, q[1].at[l] = n.x, q[2].at[l] = n.y, q[3].at[l] = n.z;
        det->at[l] = mabd_m3_det(X);
    }
}

// Rotations of bodies at q_new.
typedef struct end_work {
    mabd_lanes q[4], y[3]; // from the state
    mabd_lanes a[3], u[3]; // from the reference: axial(skew D), and u of affine/element/spin.h
    mabd_lanes det;
} end_work;

static void end_turns(const mabd_lanes* ref, const mabd_lanes* A, turn_work* w, end_work* end) {
    continue_turns(ref, A, w, end->q, end->a, end->u, end->y, &end->det);
    for (int l = 0; l < MABD_LANES; l++) {
        const mabd_vec3 y = mabd_lane_v3(w->y, l);
        if (!(mabd_v3_dot(y, y) > MABD_SPIN_FAR_RAD * MABD_SPIN_FAR_RAD)) continue;
        mabd_quat q;
        mabd_lane_put_v3(mabd_affine_continue_spin(y, mabd_lane_v3(end->u, l), &q), end->y, l);
        end->q[0].at[l] = q.w, end->q[1].at[l] = q.x, end->q[2].at[l] = q.y;
        end->q[3].at[l] = q.z;
    }
}

static void place_ends(const mabd_lanes* MABD_RESTRICT p, const mabd_lanes* MABD_RESTRICT q,
                       mabd_lanes* MABD_RESTRICT ref) {
    MABD_EACH_LANE(l) {
        const mabd_quat from = mabd_q(p[0].at[l], p[1].at[l], p[2].at[l], p[3].at[l]);
        const mabd_quat turn = mabd_q(q[0].at[l], q[1].at[l], q[2].at[l], q[3].at[l]);
        mabd_lane_put_m3(mabd_q_matrix(mabd_spin_advance(from, turn)), ref, l);
    }
}

int32_t MABD_STAGE(relinearize_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack) {
    const int32_t* body = pack->body;
    mabd_lanes A[12], ref[12];
    bool turned[MABD_LANES];
    mabd_lanes_load(12, sim->q_new, body, A);
    if (mabd_affine_block_of(sim, body[0])->soft) {
        MABD_STAGE(turn_pack)(A, ref, turned);
    } else {
        turn_work w;
        end_work end;
        mabd_lanes_load(12, sim->ref, body, ref);
        if (sim->spin_ref_set) {
            mabd_lanes_load(MABD_SPIN_REALS, sim->spin, body, w.state);
            mabd_lanes_load(4, sim->spin_ref, body, w.y);
        } else {
            predict_turns(sim, body, &w);
        }
        end_turns(ref, A, &w, &end);
        place_ends(w.state, end.q, ref);
        for (int l = 0; l < MABD_LANES; l++) turned[l] = end.det.at[l] > 0;
        store_turns(sim, body, pack->count, end.y);
    }
    for (int l = 0; l < pack->count; l++) {
        if (!turned[l]) return body[l];
    }
    for (int k = 9; k < 12; k++) {
        MABD_EACH_LANE(l) ref[k].at[l] = A[k].at[l];
    }
    mabd_lanes_store(12, ref, body, pack->count, sim->ref);
    return -1;
}

// ---- forces ------------------------------------------------------------------------------------

// Add the forces and torques that were applied for this step.
static void add_applied(const mabd_affine_sim* sim, const int32_t* body, const center_work* c,
                        const mabd_lanes* ref, mabd_vec3 weight, mabd_lanes* r) {
    const mabd_affine_block* b = mabd_affine_block_of(sim, body[0]);
    const mabd_affine_step_scale* s = mabd_affine_scale(sim, body[0]);
    for (int l = 0; l < MABD_LANES; l++) {
        const mabd_real* wrench = sim->applied + 6 * (size_t)body[l];
        mabd_vec12 one = mabd_lane_vec12(r, l);
        const mabd_vec12 at = mabd_lane_vec12(ref, l);
        const mabd_vec3 torque =
            mabd_m3_tmul(mabd_m3(at.d1, at.d2, at.d3), mabd_v3_load(wrench + 3));
        mabd_real t_hat[3];
        for (int k = 0; k < 3; k++) {
            t_hat[k] = mabd_affine_step_target(s, c->q[k + 1].at[l], c->q1[k + 1].at[l],
                                               c->v[k + 1].at[l], c->v1[k + 1].at[l]);
        }
        one = mabd_vec12_axpy(1, mabd_vec12_torque(torque), one);
        one.tau = mabd_affine_center_force(b, mabd_v3_load(t_hat), at,
                                           mabd_v3_add(weight, mabd_v3_load(wrench)));
        mabd_lane_put_vec12(one, r, l);
    }
}

void MABD_STAGE(open_lanes)(mabd_affine_sim* sim, const int32_t* body, int32_t count, uint8_t halo,
                            const mabd_real* stress, bool predict, mabd_lanes* ref, mabd_lanes* r,
                            mabd_lanes* S, mabd_lanes* G) {
    const mabd_model* m = sim->model;
    const mabd_affine_block* block = mabd_affine_block_of(sim, body[0]);
    const mabd_real mass = m->classes[m->body_class[body[0]]].material.mass;
    const mabd_vec3 weight = mabd_v3_scale(mass, mabd_v3_load(m->gravity));
    mabd_lanes_load(6, stress, body, S);
    if (block->soft) {
        open_soft(sim, body, weight, predict, ref, r);
    } else {
        turn_work w;
        center_work c;
        mabd_lanes start[6], *carried = S; // stress of the state
        load_centers(sim, body, &c);
        if (predict) {
            predict_turns(sim, body, &w);
            turn_references(&w, ref);
            guess_centers(mabd_affine_scale(sim, body[0]), &c, ref + 9);
            if (sim->spin_ref_set) store_turns(sim, body, count, w.y);
        } else {
            open_turns(sim, body, &w);
            mabd_lanes_load(12, sim->ref, body, ref);
        }
        if (stress != sim->stress) {
            mabd_lanes_load(6, sim->stress, body, start);
            carried = start;
        }
        turn_force(mabd_affine_scale(sim, body[0]), block, &w, &c, carried, ref, weight, r);
        if (sim->has_applied) add_applied(sim, body, &c, ref, weight, r);
    }
    if (predict) store_references(sim, ref, body, count, halo);
    MABD_STAGE(lanes_geometric)(block, S, G);
}

// ---- the end of a step -------------------------------------------------------------------------

static void find_light(const mabd_affine_step_scale* MABD_RESTRICT step,
                       const mabd_affine_block* MABD_RESTRICT block,
                       const turn_work* MABD_RESTRICT w, const mabd_lanes* MABD_RESTRICT Z,
                       const mabd_lanes* MABD_RESTRICT a, mabd_lanes* MABD_RESTRICT light) {
    const mabd_affine_step_scale s = *step;
    const mabd_affine_block b = *block;
    const int32_t k = b.light;
    MABD_EACH_LANE(l) {
        const mabd_spin state = lane_turn(w->state, l);
        const mabd_spin_flow flow = lane_flow(w->flow, l);
        const mabd_vec3 O = mabd_spin_rate(&s, state.d, flow.ck, mabd_lane_v3(w->y, l));
        const mabd_vec3 turn = mabd_lane_v3(a, l);
        const mabd_vec3 Gw = mabd_spin_stiff(b.c, mabd_lane_s3(Z, l), mabd_v3_scale(2, turn));
        light->at[l] = mabd_spin_light(&s, b.J, k, O, turn, Gw);
    }
}

// Advance rotations to `next` (16); rates of A (9) to v.
static void next_turns(const mabd_affine_step_scale* MABD_RESTRICT step,
                       const mabd_affine_block* MABD_RESTRICT block, bool has_light,
                       const turn_work* MABD_RESTRICT w, const end_work* MABD_RESTRICT end,
                       const mabd_lanes* MABD_RESTRICT light, mabd_lanes* MABD_RESTRICT next,
                       mabd_lanes* MABD_RESTRICT v) {
    const mabd_affine_step_scale s = *step;
    const mabd_affine_block b = *block;
    const mabd_real on = has_light ? 1 : 0;
    const mabd_real on_light[3] = {on * b.on_light[0], on * b.on_light[1], on * b.on_light[2]};
    MABD_EACH_LANE(l) {
        const mabd_spin state = lane_turn(w->state, l);
        const mabd_spin_flow flow = lane_flow(w->flow, l);
        mabd_spin_end one;
        one.y = mabd_lane_v3(end->y, l), one.light = light->at[l];
        const mabd_quat q =
            mabd_q(end->q[0].at[l], end->q[1].at[l], end->q[2].at[l], end->q[3].at[l]);
        const mabd_spin n = mabd_spin_next(&s, b.J, on_light, &state, &flow, &one, q, false);
        next[0].at[l] = n.p.w, next[1].at[l] = n.p.x;
        next[2].at[l] = n.p.y, next[3].at[l] = n.p.z;
        mabd_lane_put_v3(n.o, next + 4, l), mabd_lane_put_v3(n.o1, next + 7, l);
        mabd_lane_put_v3(n.d, next + 10, l), mabd_lane_put_v3(n.torque, next + 13, l);
        mabd_lane_put_m3(mabd_spin_rates(n.p, n.o), v, l);
    }
}

// True if consecutive bodies from `first` on can be finished in lanes.
static bool finishes_in_lanes(const mabd_affine_sim* sim, int32_t first) {
    const mabd_affine_block* block = mabd_affine_block_of(sim, first);
    bool alike = !block->soft && sim->sizes.by_copy == 0;
    for (int32_t l = 0; l < MABD_LANES && alike; l++) {
        alike = sim->model->body_motion[first + l] == MABD_MOTION_DYNAMIC &&
                mabd_affine_block_of(sim, first + l) == block &&
                sim->body_kind[first + l] == sim->body_kind[first];
    }
    return alike;
}

static void finish_lanes(mabd_affine_sim* sim, int32_t first, mabd_real* rates) {
    const mabd_affine_block* block = mabd_affine_block_of(sim, first);
    const mabd_affine_step_scale* s = mabd_affine_scale(sim, first);
    int32_t body[MABD_LANES];
    mabd_lanes ref[12], A[12], v[12], next[MABD_SPIN_REALS], light, t[4], t1[4];
    const mabd_real *q[MABD_LANES], *q1[MABD_LANES];
    turn_work w;
    end_work end;
    for (int l = 0; l < MABD_LANES; l++) {
        body[l] = first + l, light.at[l] = 0;
        q[l] = sim->q + 12 * (size_t)body[l] + 8, q1[l] = sim->q1 + 12 * (size_t)body[l] + 8;
    }
    mabd_lanes_load(12, sim->q_new, body, A);
    mabd_lanes_load(12, sim->ref, body, ref);
    mabd_lanes_gather(4, q, t);
    mabd_lanes_gather(4, q1, t1);
    open_turns(sim, body, &w);
    end_turns(ref, A, &w, &end);
    const bool has_light = mabd_affine_has_light(sim, first, block);
    if (has_light) {
        mabd_lanes Z[6];
        mabd_lanes_load(6, sim->geometric, body, Z);
        find_light(s, block, &w, Z, end.a, &light);
    }
    next_turns(s, block, has_light, &w, &end, &light, next, v);
    const mabd_real rate = 1 / s->beta_h;
    for (int k = 0; k < 3; k++) {
        MABD_EACH_LANE(l) {
            v[9 + k].at[l] = mabd_affine_step_rate(rate, s->w, s->w1, A[9 + k].at[l],
                                                   t[k + 1].at[l], t1[k + 1].at[l]);
        }
    }
    mabd_lanes_store(12, v, body, MABD_LANES, rates);
    mabd_lanes_store(MABD_SPIN_REALS, next, body, MABD_LANES, sim->spin);
}

void MABD_STAGE(finish_bodies)(mabd_affine_sim* sim, bool keep_history, int32_t first, int32_t last,
                               mabd_real* v) {
    for (int32_t i = first; i < last;) {
        if (!keep_history && i + MABD_LANES <= last && finishes_in_lanes(sim, i)) {
            finish_lanes(sim, i, v);
            i += MABD_LANES;
        } else {
            mabd_affine_stage_finish_body(sim, keep_history, i, v + 12 * (size_t)i);
            i++;
        }
    }
}
