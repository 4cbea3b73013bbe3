// SPDX-License-Identifier: Apache-2.0
// The parts of the assemble stage, one text for each instruction set like the stages themselves.
#pragma once

#include "formulation/affine/cpu/isa_table.h"

/// One body while its share of the dual system is put together. By pointer: a copy as an argument waits
/// until all its parts have reached the cache.
typedef struct mabd_affine_assembly {
    const mabd_affine_block* block;
    mabd_sym3 G, Z;           // affine/element/affine_body.h
    mabd_mat3 R;              // of the reference
    mabd_vec12 y;             // H^-1 r
    int32_t eliminated_count; // rows against fixed bodies, eliminated (affine/contact/contact.h)
    const mabd_vec12* eliminated; // (eliminated_count) u/sqrt(s)
    mabd_vec3 t;                  // of the reference
} mabd_affine_assembly;

/// y <- y - sum of (u u'/s) r: what eliminated rows make of H^-1 r.
MABD_FN void mabd_affine_eliminate_subtract(int32_t count, const mabd_vec12* touch, mabd_vec12 r,
                                            mabd_vec12* y) {
    for (int32_t k = 0; k < count; k++) {
        *y = mabd_vec12_axpy(-mabd_vec12_dot(touch[k], r), touch[k], *y);
    }
}
/// The same of a body after assemble, with the rows that it has left.
MABD_FN void mabd_affine_subtract_eliminated(const mabd_affine_sim* sim, int32_t body, mabd_vec12 r,
                                             mabd_vec12* y) {
    const mabd_affine_contacts* c = sim->contacts;
    if (!c || c->by_body.head[body] < 0) return;
    const mabd_vec12* rows =
        (const mabd_vec12*)c->by_body.eliminated.data + c->by_body.row_first[body];
    mabd_affine_eliminate_subtract(c->by_body.row_count[body], rows, r, y);
}
/// H^-1 r of the body under way.
MABD_FN mabd_vec12 mabd_affine_assembly_solve(const mabd_affine_assembly* own, mabd_vec12 r) {
    mabd_vec12 y = mabd_affine_block_solve(own->block, own->Z, r);
    mabd_affine_eliminate_subtract(own->eliminated_count, own->eliminated, r, &y);
    return y;
}
/// c <- c - sum of J(X) (u u'/s) J(Y)', the compliance between two points (3x3).
MABD_FN void mabd_affine_eliminate_soften(const mabd_affine_assembly* own, mabd_vec3 X, mabd_vec3 Y,
                                          mabd_mat3* c) {
    for (int32_t k = 0; k < own->eliminated_count; k++) {
        const mabd_vec3 x = mabd_vec12_move(&own->eliminated[k], X),
                        y = mabd_vec12_move(&own->eliminated[k], Y);
        c->c1 = mabd_v3_axpy(-y.x, x, c->c1);
        c->c2 = mabd_v3_axpy(-y.y, x, c->c2);
        c->c3 = mabd_v3_axpy(-y.z, x, c->c3);
    }
}
/// The same with Y = X.
MABD_FN void mabd_affine_eliminate_soften_self(const mabd_affine_assembly* own, mabd_vec3 X,
                                               mabd_sym3* c) {
    for (int32_t k = 0; k < own->eliminated_count; k++) {
        const mabd_vec3 x = mabd_vec12_move(&own->eliminated[k], X);
        c->xx -= x.x * x.x, c->yy -= x.y * x.y, c->zz -= x.z * x.z;
        c->xy -= x.x * x.y, c->xz -= x.x * x.z, c->yz -= x.y * x.z;
    }
}

/// Bodies of a pack while their joints are put together.
typedef struct mabd_affine_pack_work {
    mabd_lanes ref[12]; // rigid reference
    mabd_lanes Z[6];    // affine/element/affine_body.h
    mabd_lanes y[12];   // H^-1 r
} mabd_affine_pack_work;

// Text that a device runs (cuda/) looks up what the host searches for, and has no groups of springs.
#ifdef MABD_DEVICE_TEXT
MABD_FN size_t mabd_affine_packs_offset(const mabd_affine_packs* packs, int32_t side) {
    return packs->side_offset[side];
}
MABD_FN bool mabd_affine_in_group(const mabd_affine_sim* sim, const mabd_model_joint* joint) {
    return (void)sim, (void)joint, false;
}
#else
/// Where a side that is apart goes, in packs->apart.
MABD_FN size_t mabd_affine_packs_offset(const mabd_affine_packs* packs, int32_t side) {
    return mabd_affine_packs_deferred(packs, side)->offset;
}
/// True if a joint is started in lanes, with its group (affine/cpu/pack_turns.c).
MABD_FN bool mabd_affine_in_group(const mabd_affine_sim* sim, const mabd_model_joint* joint) {
    return mabd_affine_packs_is_spring(sim->model, sim->body_kind, joint);
}
#endif

MABD_FN void mabd_affine_swap(mabd_real** a, mabd_real** b) {
    mabd_real* c = *a;
    *a = *b;
    *b = c;
}
/// The end of finish: q_new becomes q, q becomes q1, the new rates, which are in the place of the oldest, v. With keep_history only
/// q and stress are new.
MABD_FN void mabd_affine_turn_state(mabd_affine_sim* sim, bool keep_history) {
    mabd_affine_swap(&sim->stress, &sim->stress_new);
    if (keep_history) {
        mabd_affine_swap(&sim->q, &sim->q_new);
    } else {
        mabd_affine_swap(&sim->v, &sim->v1);
        mabd_affine_swap(&sim->q1, &sim->q_new); // q_new -> q1's place, then one place further
        mabd_affine_swap(&sim->q, &sim->q1);
    }
}

/// Where the share of a side goes.
typedef struct mabd_affine_side_place {
    mabd_affine_side_mode mode;
    mabd_real *D, *rhs;
} mabd_affine_side_place;

/// The place of a side of the plan.
MABD_FN mabd_affine_side_place mabd_affine_place_of_side(const mabd_affine_sim* sim, int32_t side) {
    const mabd_plan* plan = sim->model->plan;
    const int32_t slot = plan->sides[side].slot;
    mabd_affine_side_place to;
    to.mode = (mabd_affine_side_mode)sim->packs->side_mode[side];
    to.D = sim->D + plan->slot_block[slot];
    to.rhs = sim->lambda + plan->slot_row[slot];
    if (to.mode == MABD_SIDE_APART) {
        const int32_t width = plan->slot_width[slot];
        to.D = sim->packs->apart + mabd_affine_packs_offset(sim->packs, side);
        to.rhs = to.D + width * width;
    }
    return to;
}
/// The same of one lane of a side with so many rows.
MABD_FN mabd_affine_side_place mabd_affine_pack_place(const mabd_affine_sim* sim,
                                                      const mabd_affine_pack_side* side,
                                                      int32_t width, int lane) {
    mabd_affine_side_place to;
    to.mode = (mabd_affine_side_mode)side->mode[lane];
    const bool apart = to.mode == MABD_SIDE_APART;
    to.D = (apart ? sim->packs->apart : sim->D) + side->block[lane];
    to.rhs = apart ? to.D + width * width : sim->lambda + side->row[lane];
    return to;
}
/// The share of a side that is apart, when all have written.
MABD_FN void mabd_affine_add_deferred(const mabd_affine_sim* sim,
                                      const mabd_affine_deferred* apart) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_real* from = sim->packs->apart + apart->offset;
    mabd_real *D = sim->D + plan->slot_block[apart->slot],
              *rhs = sim->lambda + plan->slot_row[apart->slot];
    const int32_t width = plan->slot_width[apart->slot];
    for (int32_t k = 0; k < width * width; k++) D[k] += *from++;
    for (int32_t k = 0; k < width; k++) rhs[k] += *from++;
}
/// rhs += the point of the body that does not move, of a joint to the ground with point rows.
MABD_FN void mabd_affine_add_ground(const mabd_affine_sim* sim, int32_t side, mabd_real* rhs) {
    const mabd_plan* plan = sim->model->plan;
    const mabd_model_joint* joint = &sim->model->joints[plan->slot_joint[plan->sides[side].slot]];
    const bool is_b = plan->sides[side].is_b;
    const mabd_vec3 far = mabd_affine_point_of(sim->ref, is_b ? joint->a : joint->b,
                                               mabd_v3_load(is_b ? joint->Xa : joint->Xb));
    mabd_v3_store(mabd_v3_axpy(is_b ? -1 : 1, far, mabd_v3_load(rhs)), rhs);
}
/// D (6 x 6) += compliances of the three springs of a row set.
MABD_FN void mabd_affine_add_compliance(const mabd_affine_sim* sim, int32_t row_set, mabd_real* D) {
    const mabd_affine_control_value* value = sim->controls + (size_t)row_set * MABD_JOINT_MAX_ROWS;
    for (int k = 0; k < 3; k++) D[7 * (3 + k)] += value[k].compliance;
}

/// The share of a side with three point rows alone: its block (9) by rows, then its right-hand side (3).
MABD_FN void mabd_affine_put_share(const mabd_affine_sim* sim, int32_t side,
                                   const mabd_affine_side_place* to, const mabd_real* in) {
    if (to->mode == MABD_SIDE_ADD) {
        for (int k = 0; k < 9; k++) to->D[k] += in[k];
        for (int k = 0; k < 3; k++) to->rhs[k] += in[9 + k];
        return;
    }
    for (int k = 0; k < 9; k++) to->D[k] = in[k];
    for (int k = 0; k < 3; k++) to->rhs[k] = in[9 + k];
    if (to->mode == MABD_SIDE_GROUND) mabd_affine_add_ground(sim, side, to->rhs);
}
/// Entries of such a share from lanes of a mabd_sym3 and a right-hand side; of a 3 x 3 block by rows, from a matrix.
static const int mabd_affine_side_order[12] = {0, 3, 4, 3, 1, 5, 4, 5, 2, 6, 7, 8};
static const int mabd_affine_pair_order[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 8, 8, 8};

#ifdef MABD_ISA
// ---- lanes: of 8 bodies, by index (pack_balls.c) ----

/// q_hat and the guess of the step (12 lanes each; guess: null = not needed).
void MABD_STAGE(lanes_target)(const mabd_affine_sim* sim, const int32_t* body,
                              mabd_lanes* MABD_RESTRICT q_hat, mabd_lanes* MABD_RESTRICT guess);
/// The guess alone.
void MABD_STAGE(lanes_guess)(const mabd_affine_sim* sim, const int32_t* body,
                             mabd_lanes* MABD_RESTRICT guess);
/// References at a guess.
void MABD_STAGE(lanes_reference)(const mabd_affine_sim* sim, const int32_t* body,
                                 const mabd_lanes* guess, mabd_lanes* ref);
/// Write them, but for those of borders, of which others may be reading what they were predicted to before (affine/cpu/pack.h).
void MABD_STAGE(store_references)(mabd_affine_sim* sim, const mabd_lanes* ref, const int32_t* body,
                                  int32_t count, uint8_t border);
/// Rotations of A (9 lanes each), turned[l]: A has one.
void MABD_STAGE(turn_pack)(const mabd_lanes* A, mabd_lanes* R, bool* turned);
/// G of stresses (6), clamped.
void MABD_STAGE(lanes_geometric)(const mabd_affine_block* block, const mabd_lanes* stress,
                                 mabd_lanes* G);
/// Bodies with two joints: Z and y in w, of each joint its block (6) and right-hand side (3), and the block between them (9).
void MABD_STAGE(lanes_link)(const mabd_affine_block* MABD_RESTRICT block, mabd_vec3 weight,
                            const mabd_lanes* MABD_RESTRICT G,
                            const mabd_lanes* MABD_RESTRICT q_hat,
                            const mabd_affine_pack_side* MABD_RESTRICT from,
                            const mabd_affine_pack_side* MABD_RESTRICT to,
                            mabd_affine_pack_work* MABD_RESTRICT w,
                            mabd_lanes* MABD_RESTRICT out_from, mabd_lanes* MABD_RESTRICT out_to,
                            mabd_lanes* MABD_RESTRICT U);
/// f += J' lambda of one joint: s (X, 1) R' lambda
void MABD_STAGE(lanes_pull)(const mabd_lanes* MABD_RESTRICT ref,
                            const mabd_affine_pack_side* MABD_RESTRICT side,
                            const mabd_lanes* MABD_RESTRICT lambda, mabd_lanes* MABD_RESTRICT f);
/// New states.
typedef struct mabd_affine_moved_lanes {
    mabd_lanes q[12], stress[6];
    mabd_lanes rotation, size; // squared
} mabd_affine_moved_lanes;
/// From references, y and forces f of the joints.
void MABD_STAGE(lanes_move)(const mabd_affine_block* MABD_RESTRICT block,
                            const mabd_lanes* MABD_RESTRICT ref, const mabd_lanes* MABD_RESTRICT Z,
                            const mabd_lanes* MABD_RESTRICT y, const mabd_lanes* MABD_RESTRICT f,
                            mabd_affine_moved_lanes* MABD_RESTRICT out);

/// Both ends of a joint, of which `here` is the body under way.
typedef struct mabd_affine_joint_ends {
    const mabd_lanes *here, *there; // references (12)
    const mabd_lanes *X, *Y;        // attachments there (3)
    const mabd_lanes *e, *f;        // strains (6), looked at where a joint begins
    const mabd_lanes* F;            // axes of the joint, in the frame of a and then of b (18)
    bool is_b;                      // here is b
} mabd_affine_joint_ends;
/// Strains of stresses (6).
void MABD_STAGE(lanes_strain)(const mabd_lanes* MABD_RESTRICT soft,
                              const mabd_lanes* MABD_RESTRICT share,
                              const mabd_lanes* MABD_RESTRICT S, mabd_lanes* MABD_RESTRICT e);
void MABD_STAGE(lanes_own_strain)(const mabd_affine_block* MABD_RESTRICT block,
                                  const mabd_lanes* MABD_RESTRICT S, mabd_lanes* MABD_RESTRICT e);
/// Z and y of bodies.
void MABD_STAGE(lanes_solve)(const mabd_affine_block* MABD_RESTRICT block, mabd_vec3 weight,
                             const mabd_lanes* MABD_RESTRICT G,
                             const mabd_lanes* MABD_RESTRICT q_hat,
                             const mabd_lanes* MABD_RESTRICT ref, mabd_lanes* MABD_RESTRICT Z,
                             mabd_lanes* MABD_RESTRICT y);
/// Bodies with two joints of one row set (pack_rows.c), as lanes_link after lanes_solve; begins (2): of which C is wanted as well,
/// which comes last.
void MABD_STAGE(lanes_row_link)(const mabd_row_set* set, const mabd_affine_block* block,
                                const mabd_affine_pack_work* w, const mabd_affine_pack_side* side,
                                const mabd_affine_joint_ends* ends, const bool* begins,
                                mabd_lanes* from, mabd_lanes* to, mabd_lanes* U);
/// f += J' lambda of one joint with any rigid rows.
void MABD_STAGE(lanes_pull_rows)(const mabd_row_set* set, const mabd_affine_pack_side* side,
                                 const mabd_affine_joint_ends* ends, const mabd_lanes* lambda,
                                 mabd_lanes* f);

/// A run: its links, eliminated but for the joints at the ends of its lanes (run.c).
void MABD_STAGE(assemble_run)(mabd_affine_sim* sim, int32_t run, const mabd_real* stress,
                              bool predict);
/// The new state of a run, and how far its joints are open there.
void MABD_STAGE(update_run)(mabd_affine_sim* sim, int32_t run, mabd_affine_motion_report* report,
                            mabd_affine_joint_error* open);
/// The same of a run whose joints are no balls (run_rows.c); how far they are open is left to check.
void MABD_STAGE(assemble_row_run)(mabd_affine_sim* sim, int32_t run, const mabd_real* stress,
                                  bool predict);
void MABD_STAGE(update_row_run)(mabd_affine_sim* sim, int32_t run,
                                mabd_affine_motion_report* report);

/// A pack: its bodies, blocks and right-hand sides. `predict`: its references first.
void MABD_STAGE(assemble_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                               const mabd_real* stress, bool predict);
/// The same of bodies with springs, after start_group.
void MABD_STAGE(assemble_spring_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                      const mabd_real* stress, bool predict);
/// What all begin with: targets, references, stress, geometric stiffness (12, 12, 6, 6).
void MABD_STAGE(open_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                           const mabd_real* stress, bool predict, mabd_lanes* q_hat,
                           mabd_lanes* ref, mabd_lanes* S, mabd_lanes* G);
/// r += forces at points and of loose motors on a body; R of its reference.
void MABD_STAGE(push_body)(const mabd_affine_sim* sim, int32_t body, mabd_mat3 R, mabd_vec12* r);
/// Coordinates, axes and right-hand sides of the springs of a group, at the reference.
void MABD_STAGE(start_group)(mabd_affine_sim* sim, const mabd_affine_spring_group* group);
/// Coordinates and their rates at the end of a step.
void MABD_STAGE(finish_group)(mabd_affine_sim* sim, bool keep_history,
                              const mabd_affine_spring_group* group);
/// Its parts for point rows: R c(X, X) R' (6) and s (t + R (X + D X + tau)) (3) of a side, s R c(X, Y) R' by rows (9) of two.
void MABD_STAGE(pack_side)(const mabd_affine_block* block, const mabd_affine_pack_work* w,
                           const mabd_affine_pack_side* side, mabd_lanes* out);
void MABD_STAGE(pack_pair)(const mabd_affine_block* block, const mabd_affine_pack_work* w,
                           const mabd_affine_pack_side* from, const mabd_affine_pack_side* to,
                           mabd_lanes* U);
/// Its part for bodies with any rigid rows (pack_rows.c). S (6): stress.
void MABD_STAGE(assemble_pack_rows)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                    const mabd_real* stress, const mabd_lanes* S,
                                    const mabd_affine_pack_work* w);
/// f (12) += J' lambda of such bodies.
void MABD_STAGE(pull_pack_rows)(const mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                const mabd_lanes* ref, mabd_lanes* f);
/// True if the bodies of a pack can be assembled and updated in lanes: none is touched, all are in one scheme.
bool MABD_STAGE(fits_lanes)(const mabd_affine_sim* sim, const mabd_affine_pack* pack);
/// References of a pack alone; `inside`: but for its borders.
void MABD_STAGE(predict_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack, bool inside);
/// The new state of a pack.
void MABD_STAGE(update_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                             mabd_affine_motion_report* report);
void MABD_STAGE(update_spring_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                                    mabd_affine_motion_report* report);
/// What all end with: the new state from f = J' lambda.
void MABD_STAGE(move_pack)(mabd_affine_sim* sim, const mabd_affine_pack* pack,
                           const mabd_lanes* ref, const mabd_lanes* f,
                           mabd_affine_motion_report* report);

#endif
