// SPDX-License-Identifier: Apache-2.0
// Inertia of bodies of one class in lanes: references, forces of inertia, rates at the end of a
// step. The mathematics is that of affine/element/{inertia,turn}.h, with the same bits. Work that
// only some lanes need is done for these lanes one by one: nearly free bodies, rotations of most of
// half a turn, polar decompositions far from a rotation.

#include "formulation/affine/cpu/pack_lanes.h"
#include "formulation/affine/cpu/segment.h"
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

// Rows of sim->spin and sim->center in lanes, and what follows from them in a solve.
typedef struct turn_work {
    mabd_lanes state[MABD_SPIN_REALS], center[MABD_CENTER_REALS + 7]; // center, orbit, orbit_part
    mabd_lanes y[4];                                                  // to the reference, and marks
    mabd_lanes flow[6], orbit[7];
    bool has_orbit; // of some lane; if false, the entries of center after the first 12 are not set
} turn_work;

// Set lanes to zero, one store each.
MABD_HOT void clear_lanes(int count, mabd_lanes* a) {
    for (int k = 0; k < count; k++) {
        MABD_EACH_LANE(l) a[k].at[l] = 0;
    }
}
// True if a lane is above a limit.
MABD_HOT bool any_above(const mabd_lanes* a, mabd_real limit) {
    int above = 0;
    MABD_EACH_LANE(l) above |= a->at[l] > limit;
    return above != 0;
}

MABD_HOT mabd_spin lane_turn(const mabd_lanes* a, int l) {
    mabd_spin s;
    s.p = mabd_q(a[0].at[l], a[1].at[l], a[2].at[l], a[3].at[l]);
    s.o = mabd_lane_v3(a + 4, l), s.o1 = mabd_lane_v3(a + 7, l);
    s.d = mabd_lane_v3(a + 10, l), s.torque = mabd_lane_v3(a + 13, l);
    return s;
}

// accelerates: its accelerations are in lanes too.
MABD_HOT mabd_affine_center lane_center(const mabd_lanes* a, bool accelerates, int l) {
    mabd_affine_center c;
    c.t = mabd_lane_v3(a, l), c.t1 = mabd_lane_v3(a + 3, l);
    c.v = mabd_lane_v3(a + 6, l), c.v1 = mabd_lane_v3(a + 9, l);
    c.a = c.a1 = mabd_v3(0, 0, 0), c.f = MABD_ORBIT_UNKNOWN;
    if (accelerates) {
        c.a = mabd_lane_v3(a + 12, l), c.a1 = mabd_lane_v3(a + 15, l), c.f = a[18].at[l];
    }
    return c;
}

MABD_HOT mabd_orbit lane_orbit(const mabd_lanes* a, int l) {
    mabd_orbit o;
    o.cv = mabd_lane_v3(a, l), o.ct = mabd_lane_v3(a + 3, l), o.f = a[6].at[l];
    return o;
}

MABD_HOT mabd_spin_flow lane_flow(const mabd_lanes* a, int l) {
    mabd_spin_flow f;
    f.cw = mabd_lane_v3(a, l), f.ck = mabd_lane_v3(a + 3, l);
    return f;
}

// Accelerations are loaded where they are needed (correct_orbits).
MABD_HOT void load_turns(const mabd_affine_sim* sim, const int32_t* body, turn_work* w) {
    mabd_lanes_load_at_once(MABD_SPIN_REALS, sim->spin, body, w->state);
    mabd_lanes_load_at_once(MABD_CENTER_REALS, sim->center, body, w->center);
    clear_lanes(6, w->flow);
}

static void damp_lane(const mabd_affine_step_scale* step, const mabd_affine_block* block, int l,
                      turn_work* w) {
    mabd_spin state = lane_turn(w->state, l);
    mabd_spin_damp(step, block->J, &state);
    mabd_lane_put_v3(state.o, w->state + 4, l), mabd_lane_put_v3(state.o1, w->state + 7, l);
    mabd_lane_put_v3(state.d, w->state + 10, l);
}

static void guess_turns(const mabd_affine_step_scale* MABD_RESTRICT step,
                        const mabd_affine_block* MABD_RESTRICT block, turn_work* MABD_RESTRICT w,
                        mabd_lanes* MABD_RESTRICT is_free, mabd_lanes* MABD_RESTRICT is_wild) {
    const mabd_affine_step_scale s = *step;
    const mabd_affine_block b = *block;
    MABD_EACH_LANE(l) {
        const mabd_spin state = lane_turn(w->state, l);
        mabd_lane_put_v3(mabd_spin_guess(&s, &state), w->y, l);
        w->y[3].at[l] = 0;
        is_free->at[l] = mabd_spin_is_free(&s, b.J, &state) ? 1 : 0;
        is_wild->at[l] = mabd_spin_is_wild(&s, &state) ? 1 : 0;
    }
}

// Load bodies and predict their rotations over the solve.
static void predict_turns(const mabd_affine_sim* sim, const int32_t* body, turn_work* w) {
    const mabd_affine_block* block = mabd_affine_block_of(sim, body[0]);
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body[0]);
    mabd_lanes is_free, is_wild;
    load_turns(sim, body, w);
    guess_turns(step, block, w, &is_free, &is_wild);
    const bool any_wild = any_above(&is_wild, 0);
    for (int l = 0; l < MABD_LANES && any_wild; l++) {
        if (!(is_wild.at[l] > 0)) continue;
        damp_lane(step, block, l, w);
        const mabd_spin state = lane_turn(w->state, l);
        mabd_lane_put_v3(mabd_spin_guess(step, &state), w->y, l);
        w->y[3].at[l] = MABD_SPIN_DAMPED;
        is_free.at[l] = mabd_spin_is_free(step, block->J, &state) ? 1 : 0;
    }
    const bool any_free = !block->even && any_above(&is_free, 0);
    for (int l = 0; l < MABD_LANES && any_free; l++) {
        if (!(is_free.at[l] > 0) || !sim->turns_freely[body[l]]) continue;
        const mabd_spin state = lane_turn(w->state, l);
        mabd_vec3 y = mabd_lane_v3(w->y, l);
        mabd_spin_flow flow;
        mabd_spin_free(step, block->J, &state, &y, &flow);
        mabd_lane_put_v3(y, w->y, l);
        w->y[3].at[l] += MABD_SPIN_FLOWS;
        mabd_lane_put_v3(flow.cw, w->flow, l), mabd_lane_put_v3(flow.ck, w->flow + 3, l);
    }
}

// Do what marked bodies need.
static void open_marked(const mabd_affine_sim* sim, const int32_t* body, turn_work* w) {
    for (int l = 0; l < MABD_LANES; l++) {
        const int marks = (int)w->y[3].at[l];
        if (marks & MABD_SPIN_DAMPED) {
            damp_lane(mabd_affine_scale(sim, body[0]), mabd_affine_block_of(sim, body[0]), l, w);
        }
        if (!(marks & MABD_SPIN_FLOWS)) continue;
        const mabd_real* flow = sim->spin_flow + 6 * (size_t)body[l];
        for (int k = 0; k < 6; k++) w->flow[k].at[l] = flow[k];
    }
}

// Load bodies and their rotations to the reference.
MABD_HOT void open_turns(const mabd_affine_sim* sim, const int32_t* body, turn_work* w) {
    load_turns(sim, body, w);
    mabd_lanes_load_at_once(4, sim->spin_ref, body, w->y);
    if (any_above(&w->y[3], 0)) open_marked(sim, body, w);
}

static void find_fast(mabd_real h, const mabd_lanes* MABD_RESTRICT o,
                      mabd_lanes* MABD_RESTRICT fast) {
    MABD_EACH_LANE(l) fast->at[l] = mabd_orbit_is_fast(h, mabd_lane_v3(o, l)) ? 1 : 0;
}

static void find_orbits(const mabd_affine_step_scale* MABD_RESTRICT step,
                        const mabd_lanes* MABD_RESTRICT on, turn_work* MABD_RESTRICT w) {
    const mabd_affine_step_scale s = *step;
    MABD_EACH_LANE(l) {
        const mabd_spin state = lane_turn(w->state, l);
        const mabd_affine_center c = lane_center(w->center, true, l);
        const mabd_orbit o = mabd_affine_center_orbit(&s, &c, &state, on->at[l] > 0);
        mabd_lane_put_v3(o.cv, w->orbit, l), mabd_lane_put_v3(o.ct, w->orbit + 3, l);
        w->orbit[6].at[l] = o.f;
    }
}

// Compute the corrections of the paths of centres, from the states that predict_turns or open_turns
// loaded: as mabd_affine_has_orbit says.
static void correct_orbits(const mabd_affine_sim* sim, const int32_t* body, turn_work* w) {
    const mabd_affine_step_scale* step = mabd_affine_scale(sim, body[0]);
    mabd_lanes on;
    w->has_orbit = false;
    if (step->orbits) {
        find_fast(step->lead, w->state + 4, &on);
        const bool any = any_above(&on, 0);
        for (int l = 0; l < MABD_LANES && any; l++) {
            if (!sim->anchored[body[l]]) on.at[l] = 0;
            w->has_orbit |= on.at[l] > 0;
        }
    }
    if (w->has_orbit) {
        mabd_lanes_load(6, sim->orbit, body, w->center + MABD_CENTER_REALS);
        for (int l = 0; l < MABD_LANES; l++) w->center[18].at[l] = sim->orbit_part[body[l]];
        find_orbits(step, &on, w);
        return;
    }
    clear_lanes(6, w->orbit);
    MABD_EACH_LANE(l) w->orbit[6].at[l] = MABD_ORBIT_UNKNOWN;
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
    const mabd_real far = MABD_SPIN_FAR_RAD * MABD_SPIN_FAR_RAD;
    place_turns(w->state, w->y, ref, &square);
    const bool any = any_above(&square, far);
    for (int l = 0; l < MABD_LANES && any; l++) {
        if (!(square.at[l] > far)) continue;
        const mabd_quat q = mabd_spin_quat_any(mabd_lane_v3(w->y, l));
        const mabd_mat3 R = mabd_q_matrix(mabd_spin_advance(lane_turn(w->state, l).p, q));
        mabd_lane_put_m3(R, ref, l);
    }
}

static void guess_centers(const mabd_affine_step_scale* MABD_RESTRICT step,
                          const mabd_lanes* MABD_RESTRICT center, mabd_lanes* MABD_RESTRICT t) {
    const mabd_affine_step_scale s = *step;
    MABD_EACH_LANE(l) {
        const mabd_affine_center c = lane_center(center, false, l);
        mabd_lane_put_v3(mabd_affine_center_guess(&s, &c), t, l);
    }
}

// Compute the force of inertia at references. weight: other forces at the centre, world.
static void turn_force(const mabd_affine_step_scale* MABD_RESTRICT step,
                       const mabd_affine_block* MABD_RESTRICT block,
                       const turn_work* MABD_RESTRICT w, const mabd_lanes* MABD_RESTRICT stress,
                       const mabd_lanes* MABD_RESTRICT ref, mabd_vec3 weight,
                       mabd_lanes* MABD_RESTRICT r) {
    const mabd_affine_step_scale s = *step;
    const mabd_affine_block b = *block;
    MABD_EACH_LANE(l) {
        const mabd_spin state = lane_turn(w->state, l);
        const mabd_affine_center c = lane_center(w->center, false, l);
        const mabd_spin_flow flow = lane_flow(w->flow, l);
        const mabd_orbit orbit = lane_orbit(w->orbit, l);
        const mabd_vec3 O = mabd_spin_rate(&s, state.d, flow.ck, mabd_lane_v3(w->y, l));
        const mabd_vec3 torque = mabd_spin_torque(&s, b.J, &state, flow.cw, O);
        const mabd_sym3 e = mabd_affine_block_strain(&b, mabd_lane_s3(stress, l));
        mabd_vec12 one = mabd_spin_force(b.sm, s.beta_h, O, torque, e);
        one.tau = mabd_affine_center_force(&b, mabd_affine_center_target(&s, &c, &orbit),
                                           mabd_lane_vec12(ref, l), weight);
        mabd_lane_put_vec12(one, r, l);
    }
}

// ---- references --------------------------------------------------------------------------------

// Store references, except those in the halo (bit l): other threads may be reading their predicted
// values (affine/cpu/pack.h).
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

// Store predicted rotations, except those in the halo.
static void store_turns(mabd_affine_sim* sim, const int32_t* body, int32_t count, uint8_t halo,
                        const turn_work* w) {
    if (halo == 0) mabd_lanes_store(4, w->y, body, count, sim->spin_ref);
    for (int32_t l = 0; l < count; l++) {
        if (halo >> l & 1) continue;
        mabd_real* y = sim->spin_ref + 4 * (size_t)body[l];
        for (int k = 0; k < 4 && halo != 0; k++) y[k] = w->y[k].at[l];
        if (!((int)w->y[3].at[l] & MABD_SPIN_FLOWS)) continue;
        mabd_real* flow = sim->spin_flow + 6 * (size_t)body[l];
        for (int k = 0; k < 6; k++) flow[k] = w->flow[k].at[l];
    }
}

// Predict bodies that turn in their own frames: references (12).
static void predict_references(mabd_affine_sim* sim, const int32_t* body, int32_t count,
                               uint8_t halo, turn_work* w, mabd_lanes* ref) {
    predict_turns(sim, body, w);
    turn_references(w, ref);
    guess_centers(mabd_affine_scale(sim, body[0]), w->center, ref + 9);
    store_turns(sim, body, count, halo, w);
}

void MABD_STAGE(predict_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack, bool inside) {
    const int32_t* body = pack->body;
    const uint8_t halo = inside ? pack->halo : 0;
    mabd_lanes ref[12];
    if (mabd_affine_block_of(sim, body[0])->soft) {
        mabd_lanes guess[12];
        look_ahead(sim, body, NULL, guess);
        place_soft(sim, body, guess, ref);
    } else {
        turn_work w;
        predict_references(sim, body, pack->count, halo, &w, ref);
    }
    store_references(sim, ref, body, pack->count, halo);
}

static void join_turns(const mabd_lanes* MABD_RESTRICT y, const mabd_lanes* MABD_RESTRICT u,
                       mabd_lanes* MABD_RESTRICT sum, mabd_lanes* MABD_RESTRICT is_far) {
    MABD_EACH_LANE(l) {
        const mabd_vec3 from = mabd_lane_v3(y, l), more = mabd_lane_v3(u, l);
        mabd_lane_put_v3(mabd_spin_join_near(from, more), sum, l);
        is_far->at[l] = mabd_spin_is_near(from, more) ? 0 : 1;
    }
}

// Compute rotation vectors (3) of rotations by y and then by those of I + [u].
static void end_turns(const mabd_lanes* y, const mabd_lanes* u, mabd_lanes* sum) {
    mabd_lanes is_far;
    join_turns(y, u, sum, &is_far);
    const bool any = any_above(&is_far, 0);
    for (int l = 0; l < MABD_LANES && any; l++) {
        if (!(is_far.at[l] > 0)) continue;
        mabd_lane_put_v3(mabd_spin_join(mabd_lane_v3(y, l), mabd_lane_v3(u, l)), sum, l);
    }
}

// Move the references of bodies that turn in their own frames; turned[l]: A of lane l has a
// rotation.
static void relinearize_turns(mabd_affine_sim* sim, const int32_t* body, int32_t count,
                              const mabd_lanes* A, mabd_lanes* ref, bool* turned) {
    turn_work w;
    mabd_lanes from[4], u[4];
    mabd_lanes_load(MABD_SPIN_REALS, sim->spin, body, w.state);
    mabd_lanes_load(4, sim->spin_ref, body, from);
    mabd_lanes_load(4, sim->spin_step, body, u);
    end_turns(from, u, w.y);
    w.y[3] = from[3];
    turn_references(&w, ref);
    for (int l = 0; l < MABD_LANES; l++) turned[l] = mabd_m3_det(mabd_lane_m3(A, l)) > 0;
    mabd_lanes_store(4, w.y, body, count, sim->spin_ref);
}

int32_t MABD_STAGE(relinearize_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack) {
    const int32_t* body = pack->body;
    mabd_lanes A[12], ref[12];
    bool turned[MABD_LANES];
    mabd_lanes_load(12, sim->q_new, body, A);
    if (mabd_affine_block_of(sim, body[0])->soft) {
        MABD_STAGE(turn_pack)(A, ref, turned);
    } else {
        relinearize_turns(sim, body, pack->count, A, ref, turned);
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
static void add_applied(const mabd_affine_sim* sim, const int32_t* body, const turn_work* w,
                        const mabd_lanes* ref, mabd_vec3 weight, mabd_lanes* r) {
    const mabd_affine_block* b = mabd_affine_block_of(sim, body[0]);
    const mabd_affine_step_scale* s = mabd_affine_scale(sim, body[0]);
    for (int l = 0; l < MABD_LANES; l++) {
        const mabd_real* wrench = sim->applied + 6 * (size_t)body[l];
        const mabd_affine_center c = lane_center(w->center, false, l);
        const mabd_orbit orbit = lane_orbit(w->orbit, l);
        mabd_vec12 one = mabd_lane_vec12(r, l);
        const mabd_vec12 at = mabd_lane_vec12(ref, l);
        const mabd_vec3 torque =
            mabd_m3_tmul(mabd_m3(at.d1, at.d2, at.d3), mabd_v3_load(wrench + 3));
        one = mabd_vec12_axpy(1, mabd_vec12_torque(torque), one);
        one.tau = mabd_affine_center_force(b, mabd_affine_center_target(s, &c, &orbit), at,
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
        mabd_lanes start[6], *carried = S; // stress of the state
        if (predict) {
            predict_references(sim, body, count, halo, &w, ref);
        } else {
            open_turns(sim, body, &w);
            mabd_lanes_load(12, sim->ref, body, ref);
        }
        if (stress != sim->stress) {
            mabd_lanes_load(6, sim->stress, body, start);
            carried = start;
        }
        correct_orbits(sim, body, &w);
        turn_force(mabd_affine_scale(sim, body[0]), block, &w, carried, ref, weight, r);
        if (sim->has_applied) add_applied(sim, body, &w, ref, weight, r);
    }
    if (predict) store_references(sim, ref, body, count, halo);
    MABD_STAGE(lanes_geometric)(block, S, G);
}

// ---- the end of a step -------------------------------------------------------------------------

// Advance rotations (16) by y, and y by the reference.
static void next_turns(const mabd_affine_step_scale* MABD_RESTRICT step,
                       const mabd_affine_block* MABD_RESTRICT block,
                       const mabd_lanes* MABD_RESTRICT on, const turn_work* MABD_RESTRICT w,
                       const mabd_lanes* MABD_RESTRICT y, const mabd_lanes* MABD_RESTRICT light,
                       mabd_lanes* MABD_RESTRICT next) {
    const mabd_affine_step_scale s = *step;
    const mabd_affine_block b = *block;
    MABD_EACH_LANE(l) {
        const mabd_real k = on->at[l];
        const mabd_vec3 on_light = mabd_v3(k * b.on_light[0], k * b.on_light[1], k * b.on_light[2]);
        const mabd_spin state = lane_turn(w->state, l);
        const mabd_spin_flow flow = lane_flow(w->flow, l);
        mabd_spin_end end;
        end.reference = mabd_lane_v3(w->y, l), end.y = mabd_lane_v3(y, l);
        end.light = light->at[l];
        const mabd_spin n =
            mabd_spin_next(&s, b.J, on_light, &state, &flow, &end, mabd_spin_quat(end.y), false);
        next[0].at[l] = n.p.w, next[1].at[l] = n.p.x;
        next[2].at[l] = n.p.y, next[3].at[l] = n.p.z;
        mabd_lane_put_v3(n.o, next + 4, l), mabd_lane_put_v3(n.o1, next + 7, l);
        mabd_lane_put_v3(n.d, next + 10, l), mabd_lane_put_v3(n.torque, next + 13, l);
    }
}

MABD_HOT void put_center(const mabd_affine_center* c, mabd_lanes* to, int l) {
    mabd_lane_put_v3(c->t, to, l), mabd_lane_put_v3(c->t1, to + 3, l);
    mabd_lane_put_v3(c->v, to + 6, l), mabd_lane_put_v3(c->v1, to + 9, l);
}
// Advance centres (12 + 7) to t.
static void next_orbits(const mabd_affine_step_scale* MABD_RESTRICT step,
                        const turn_work* MABD_RESTRICT w, const mabd_lanes* MABD_RESTRICT t,
                        mabd_lanes* MABD_RESTRICT next) {
    const mabd_affine_step_scale s = *step;
    MABD_EACH_LANE(l) {
        const mabd_affine_center c = lane_center(w->center, true, l);
        const mabd_orbit orbit = lane_orbit(w->orbit, l);
        const mabd_affine_center n = mabd_affine_center_next(&s, &c, &orbit, mabd_lane_v3(t, l));
        put_center(&n, next, l);
        mabd_lane_put_v3(n.a, next + 12, l), mabd_lane_put_v3(n.a1, next + 15, l);
        next[18].at[l] = n.f;
    }
}
// Advance centres without corrections (12) to t.
static void next_centers(const mabd_affine_step_scale* MABD_RESTRICT step,
                         const turn_work* MABD_RESTRICT w, const mabd_lanes* MABD_RESTRICT t,
                         mabd_lanes* MABD_RESTRICT next) {
    const mabd_affine_step_scale s = *step;
    const mabd_orbit none = {{0, 0, 0}, {0, 0, 0}, MABD_ORBIT_UNKNOWN};
    MABD_EACH_LANE(l) {
        const mabd_affine_center c = lane_center(w->center, false, l);
        const mabd_affine_center n = mabd_affine_center_next(&s, &c, &none, mabd_lane_v3(t, l));
        put_center(&n, next, l);
    }
}

// True if consecutive bodies from `first` on can be finished in lanes.
static bool finishes_in_lanes(const mabd_affine_sim* sim, int32_t first) {
    const mabd_affine_block* block = mabd_affine_block_of(sim, first);
    bool alike = !block->soft && !mabd_affine_scale(sim, first)->saves_start;
    for (int32_t l = 0; l < MABD_LANES && alike; l++) {
        alike = sim->model->body_motion[first + l] == MABD_MOTION_DYNAMIC &&
                mabd_affine_block_of(sim, first + l) == block;
    }
    return alike;
}

static void store_orbits(mabd_affine_sim* sim, int32_t first, const mabd_lanes* centers) {
    for (int32_t l = 0; l < MABD_LANES; l++) {
        const size_t body = (size_t)(first + l);
        const mabd_real f = centers[18].at[l];
        sim->orbit_part[body] = f;
        for (size_t k = 0; k < 6 && f > MABD_ORBIT_UNKNOWN; k++) {
            sim->orbit[6 * body + k] = centers[MABD_CENTER_REALS + k].at[l];
        }
    }
}

static void find_squares(const mabd_lanes* MABD_RESTRICT y, mabd_lanes* MABD_RESTRICT square) {
    MABD_EACH_LANE(l) square->at[l] = mabd_v3_dot(mabd_lane_v3(y, l), mabd_lane_v3(y, l));
}

// Advance rotations of more than MABD_SPIN_FAR_RAD.
static void advance_far(const turn_work* w, const mabd_lanes* y, mabd_lanes* turns) {
    const mabd_real far = MABD_SPIN_FAR_RAD * MABD_SPIN_FAR_RAD;
    mabd_lanes square;
    find_squares(y, &square);
    const bool any = any_above(&square, far);
    for (int l = 0; l < MABD_LANES && any; l++) {
        if (!(square.at[l] > far)) continue;
        const mabd_quat more = mabd_spin_quat_any(mabd_lane_v3(y, l));
        const mabd_quat p = mabd_spin_advance(lane_turn(w->state, l).p, more);
        turns[0].at[l] = p.w, turns[1].at[l] = p.x, turns[2].at[l] = p.y, turns[3].at[l] = p.z;
    }
}

static void finish_lanes(mabd_affine_sim* sim, int32_t first) {
    const mabd_affine_block* block = mabd_affine_block_of(sim, first);
    const mabd_affine_step_scale* s = mabd_affine_scale(sim, first);
    int32_t body[MABD_LANES];
    const mabd_real* at[MABD_LANES];
    mabd_lanes on, t[4], moved[4], y[3], turns[MABD_SPIN_REALS];
    mabd_lanes centers[MABD_CENTER_REALS + 7];
    turn_work w;
    for (int l = 0; l < MABD_LANES; l++) {
        body[l] = first + l;
        at[l] = sim->q_new + 12 * ((size_t)first + (size_t)l) + 8; // four: an entry of A before t
    }
    mabd_lanes_gather_at_once(4, at, t);
    mabd_lanes_load_at_once(4, sim->spin_step, body, moved);
    open_turns(sim, body, &w);
    end_turns(w.y, moved, y);
    MABD_STAGE(lanes_light)(sim, body, &on);
    next_turns(s, block, &on, &w, y, &moved[3], turns);
    advance_far(&w, y, turns);
    correct_orbits(sim, body, &w);
    if (w.has_orbit) {
        next_orbits(s, &w, t + 1, centers);
        store_orbits(sim, first, centers);
    } else {
        next_centers(s, &w, t + 1, centers);
        mabd_real* part = sim->orbit_part + first;
        MABD_EACH_LANE(l) part[l] = MABD_ORBIT_UNKNOWN;
    }
    mabd_lanes_store(MABD_SPIN_REALS, turns, body, MABD_LANES, sim->spin);
    mabd_lanes_store(MABD_CENTER_REALS, centers, body, MABD_LANES, sim->center);
}

// Prefetch what finish_lanes will read of the bodies from `first` on: between one pack and the next
// is too much work for the processor to look ahead by itself.
static void prefetch_finish(const mabd_affine_sim* sim, int64_t first) {
    mabd_affine_segment_prefetch_rows(MABD_SPIN_REALS, sim->spin, first);
    mabd_affine_segment_prefetch_rows(MABD_CENTER_REALS, sim->center, first);
    mabd_affine_segment_prefetch_rows(12, sim->q_new, first);
    mabd_affine_segment_prefetch_rows(4, sim->spin_ref, first);
    mabd_affine_segment_prefetch_rows(4, sim->spin_step, first);
    mabd_affine_segment_prefetch_rows(1, sim->orbit_part, first);
}

void MABD_STAGE(finish_bodies)(mabd_affine_sim* sim, bool keep_history, int32_t first, int32_t last,
                               mabd_real* v) {
    for (int32_t i = first; i < last;) {
        if (!keep_history && i + MABD_LANES <= last && finishes_in_lanes(sim, i)) {
            prefetch_finish(sim, (int64_t)i + MABD_PREFETCH_FINISH);
            finish_lanes(sim, i);
            i += MABD_LANES;
        } else {
            mabd_affine_stage_finish_body(sim, keep_history, i, v + 12 * (size_t)i);
            i++;
        }
    }
}
