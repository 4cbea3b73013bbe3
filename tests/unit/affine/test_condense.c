// SPDX-License-Identifier: Apache-2.0
// Tests for src/formulation/affine/cpu/condense.c: rounds at one reference, condensed to
// touched bodies, give what whole solves give that assemble every body with its contacts. Contacts
// are drawn on random bodies, with random branches in each round.

#include "contact/points.h"
#include "formulation/affine/affine_layout.h"
#include "formulation/affine/affine_sim.h"
#include "formulation/affine/affine_step.h"
#include "formulation/affine/backend.h"
#include "formulation/affine/contact/contact_classify.h"
#include "formulation/affine/contact/line_search.h"
#include "formulation/affine/cpu/condense.h"
#include "formulation/affine/cpu/factor.h"
#include "formulation/affine/cpu/schedule.h"
#include "formulation/affine/element/assembly.h"
#include "support/draw.h"
#include "support/random_scene.h"
#include "support/rig.h"

#include <stdlib.h>

#define STEP      ((mabd_real)0.005)
#define ROUNDS    4
#define TOLERANCE 1e-9 // of increments and forces, relative to the largest

typedef struct condense_case {
    mabd_model* model;
    mabd_affine_sim* sim;
    uint64_t seed;
} condense_case;

static mabd_scene* new_scene(void) {
    mabd_error error = {0};
    mabd_contact_def contact = mabd_default_contact_def();
    mabd_scene* scene = rig_scene(-9.81);
    contact.enabled = true;
    rig_check(mabd_scene_set_contact(scene, &contact, &error), &error, "contact");
    // round-off grows with stiffness where loops of joints are held by strain only
    rig_check(mabd_scene_set_young(scene, (mabd_real)1e8, &error), &error, "young");
    return scene;
}

static condense_case start(mabd_scene* scene, int32_t threads, uint64_t seed) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_error error = {0};
    mabd_sim_def def = mabd_default_sim_def();
    void* self = NULL;
    condense_case c = {.model = rig_model(scene), .seed = seed};
    def.h = STEP, def.threads = threads, def.integrator = MABD_INTEGRATOR_EULER;
    rig_check(
        mabd_formulation_affine.create(c.model, &def, &allocator, c.model->start, &self, &error),
        &error, "simulation");
    c.sim = self;
    for (int i = 0; i < 2; i++) {
        rig_check(mabd_affine_step(c.sim, (mabd_real)i * STEP, NULL, &error), &error, "step");
    }
    return c;
}

static void stop(condense_case* c) {
    const mabd_allocator allocator = mabd_default_allocator();
    mabd_formulation_affine.destroy(c->sim, &allocator);
    mabd_model_destroy(c->model);
}

static bool chance(uint64_t* seed, double part) {
    return draw_real(seed) < 2 * part - 1;
}

// ---- contacts ----------------------------------------------------------------------------------

static mabd_real compliance_of(const mabd_affine_sim* sim, int32_t body, mabd_vec3 X, mabd_vec3 n) {
    const mabd_mat3 R = mabd_m3_load(sim->ref + 12 * (size_t)body);
    const mabd_vec12 J = mabd_vec12_at(X, mabd_m3_tmul(R, n));
    return mabd_vec12_dot(J, mabd_affine_block_apply(mabd_affine_block_of(sim, body), J));
}

static void draw_branch(mabd_affine_contact* p, uint64_t* seed) {
    const mabd_vec3 t =
        mabd_v3_add(mabd_v3_scale(draw_real(seed), p->t1), mabd_v3_scale(draw_real(seed), p->t2));
    p->pressed = chance(seed, 0.6);
    p->friction_state = chance(seed, 0.5)   ? MABD_FRICTION_STICK
                        : chance(seed, 0.6) ? MABD_FRICTION_SLIP
                                            : MABD_FRICTION_NONE;
    p->bound = 2 + draw_real(seed);
    p->slip_length = (mabd_real)1e-4 * (2 + draw_real(seed));
    p->slip_direction = mabd_v3_scale(1 / mabd_v3_norm(t), t);
}

static mabd_affine_contact draw_contact(const mabd_affine_sim* sim, int32_t body, uint64_t* seed) {
    mabd_affine_contact p;
    memset(&p, 0, sizeof p);
    p.a = sim->model->body_count, p.b = body;
    p.Xb = draw_vec3(seed, (mabd_real)0.1);
    p.n = draw_direction(seed);
    p.t1 = mabd_across(p.n), p.t2 = mabd_v3_cross(p.n, p.t1);
    p.gap = (mabd_real)1e-3 * draw_real(seed);
    p.slip1 = (mabd_real)1e-4 * draw_real(seed), p.slip2 = (mabd_real)1e-4 * draw_real(seed);
    p.own_n = compliance_of(sim, body, p.Xb, p.n);
    p.own_t = compliance_of(sim, body, p.Xb, p.t1);
    p.roll_axis = draw_direction(seed);
    p.stiffness = chance(seed, 0.2) ? 3 : 0;
    draw_branch(&p, seed);
    return p;
}

// Draw contacts on about `part` of the bodies.
static void draw_contacts(condense_case* c, double part) {
    mabd_affine_contacts* contacts = c->sim->contacts;
    contacts->list.current.count = 0;
    for (int32_t i = 0; i < c->model->body_count; i++) {
        if (c->model->body_motion[i] != MABD_MOTION_DYNAMIC || !chance(&c->seed, part)) continue;
        for (int k = 0; k < (chance(&c->seed, 0.3) ? 2 : 1); k++) {
            cr_assert(eq(int,
                         mabd_list_reserve(&contacts->allocator, &contacts->list.current,
                                           sizeof(mabd_affine_contact), 1),
                         MABD_OK));
            *mabd_affine_contacts_at(contacts, contacts->list.current.count++) =
                draw_contact(c->sim, i, &c->seed);
        }
    }
    cr_assert(eq(int, mabd_affine_contacts_classify(contacts), MABD_OK));
}

// Give another simulation of the same model the same contacts.
static void copy_contacts(const condense_case* from, const condense_case* to) {
    mabd_affine_contacts *a = from->sim->contacts, *b = to->sim->contacts;
    const int32_t count = a->list.current.count;
    b->list.current.count = 0;
    cr_assert(eq(
        int, mabd_list_reserve(&b->allocator, &b->list.current, sizeof(mabd_affine_contact), count),
        MABD_OK));
    if (count > 0) {
        memcpy(b->list.current.data, a->list.current.data,
               (size_t)count * sizeof(mabd_affine_contact));
    }
    b->list.current.count = count;
    cr_assert(eq(int, mabd_affine_contacts_classify(b), MABD_OK));
}

// Draw other branches for about `part` of the contacts.
static void draw_branches(condense_case* c, double part) {
    const mabd_affine_contacts* contacts = c->sim->contacts;
    for (int32_t i = 0; i < contacts->list.current.count; i++) {
        if (chance(&c->seed, part)) draw_branch(mabd_affine_contacts_at(contacts, i), &c->seed);
    }
}

// ---- solves ------------------------------------------------------------------------------------

static void open_reference(const condense_case* c) {
    mabd_affine_begin_solve(c->sim, MABD_SCHEME_EULER, 2 * STEP, STEP);
    mabd_affine_predict(c->sim);
}

// One solve in which every body is assembled, with its contacts. Returns the largest rotation.
static mabd_real solve_whole(const condense_case* c) {
    int32_t joint = -1;
    c->sim->contacts->condensed.on = false;
    mabd_affine_assemble(c->sim, MABD_PASS_FIRST);
    cr_assert(eq(int, mabd_affine_factor(c->sim, &joint), MABD_OK));
    mabd_affine_solve_dual(c->sim);
    return mabd_affine_update(c->sim).rotation;
}

static void solve_round(const condense_case* c, int round) {
    const mabd_affine_backend_ops* on = &mabd_affine_backend_cpu;
    mabd_affine_update_report report;
    int32_t joint = -1;
    const mabd_affine_pass pass = round > 0 ? MABD_PASS_AGAIN : MABD_PASS_FIRST;
    cr_assert(eq(int, on->assemble(c->sim, pass), MABD_OK));
    cr_assert(eq(int, on->factor(c->sim, &joint), MABD_OK));
    cr_assert(eq(int, on->solve(c->sim), MABD_OK));
    cr_assert(eq(int, on->update(c->sim, &report), MABD_OK));
}

// Largest difference of the increments of bodies, relative to the largest increment. touched: of
// touched bodies only.
static double difference(const condense_case* c, const mabd_real* q, const mabd_real* other,
                         bool touched) {
    const mabd_affine_sim* sim = c->sim;
    const int32_t* place = sim->contacts->condensed.of_body.data;
    double worst = 0, scale = 0;
    for (int32_t i = 0; i < c->model->body_count; i++) {
        for (size_t k = 12 * (size_t)i; k < 12 * (size_t)i + 12; k++) {
            const double off = fabs((double)(q[k] - other[k]));
            if (touched && place[i] < 0) continue;
            worst = off > worst || isnan(off) ? off : worst;
            scale = fmax(scale, fabs((double)(other[k] - sim->ref[k])));
        }
    }
    return scale > 0 ? worst / scale : worst;
}

static double force_difference(const condense_case* c, const mabd_real* other) {
    double worst = 0, scale = 0;
    for (size_t k = 0; k < c->sim->sizes.rows; k++) {
        const double off = fabs((double)(c->sim->lambda[k] - other[k]));
        worst = off > worst || isnan(off) ? off : worst;
        scale = fmax(scale, fabs((double)other[k]));
    }
    return scale > 0 ? worst / scale : worst;
}

// low <- low + t (q - low), for all bodies
static void follow(const condense_case* whole, mabd_real t, mabd_real* low) {
    for (size_t k = 0; k < 12 * whole->sim->sizes.bodies; k++) {
        low[k] += t * (whole->sim->q_new[k] - low[k]);
    }
}

static void set_lines(const condense_case* c, mabd_real t) {
    const mabd_affine_contacts* contacts = c->sim->contacts;
    for (int32_t i = 0; i < contacts->by_component.count; i++) {
        contacts->by_component.line[i].t = t;
        contacts->by_component.line[i].open = true;
    }
}

// Rounds at one reference: touched bodies after each of them are those of whole solves, and after
// the last one all bodies and forces; or, with `best`, the best point of a search by random steps.
static void expect_rounds(condense_case* c, condense_case* whole, double part, bool best,
                          const char* name) {
    mabd_affine_motion_report motion = {0, 0, 0, NULL};
    mabd_real rotation = 0, *low = calloc(12 * (c->sim->sizes.bodies + 1), sizeof *low);
    cr_assert(low != NULL);
    open_reference(c), open_reference(whole);
    draw_contacts(c, part);
    cr_assert(eq(int, mabd_affine_condense_plan(c->sim, true), MABD_OK));
    cr_assert(c->sim->contacts->condensed.on, "%s", name);
    for (int k = 0; k < ROUNDS; k++) {
        const mabd_real t = k == 0 ? 1 : (2 + draw_real(&c->seed)) / 3;
        if (k > 0) draw_branches(c, 0.3);
        copy_contacts(c, whole);
        solve_round(c, k);
        rotation = solve_whole(whole);
        cr_expect(lt(dbl, difference(c, c->sim->q_new, whole->sim->q_new, true), TOLERANCE),
                  "%s, round %d", name, k);
        set_lines(c, t);
        mabd_affine_condense_move_best(c->sim, k == 0);
        follow(whole, t, low);
    }
    if (best) {
        mabd_affine_contacts_accept_best(c->sim);
        for (int32_t i = 0; i < c->model->body_count; i++) {
            const int32_t component = c->sim->contacts->by_body.component[i];
            if (component >= 0 && c->sim->contacts->by_component.met[component]) continue;
            memcpy(low + 12 * i, c->sim->q_new + 12 * i, 12 * sizeof *low); // it has no best point
        }
        cr_expect(lt(dbl, difference(c, c->sim->q_new, low, false), TOLERANCE), "%s: best", name);
    } else {
        cr_assert(eq(int, mabd_affine_backend_cpu.complete(c->sim, &motion), MABD_OK));
        cr_expect(lt(dbl, difference(c, c->sim->q_new, whole->sim->q_new, false), TOLERANCE), "%s",
                  name);
        cr_expect(lt(dbl, force_difference(c, whole->sim->lambda), TOLERANCE), "%s", name);
        cr_expect(lt(dbl, fabs((double)(motion.rotation - rotation)), TOLERANCE), "%s", name);
    }
    free(low);
}

// Few, many and all bodies with contacts; `scene` builds the scene twice.
static void expect_scene(mabd_scene* (*scene)(int), int kind, const char* name) {
    const double part[] = {0, 0.02, 0.15, 0.5, 1};
    condense_case c = start(scene(kind), 1, 17 + (uint64_t)kind);
    condense_case whole = start(scene(kind), 1, 1);
    for (size_t i = 0; i < sizeof part / sizeof *part; i++) {
        expect_rounds(&c, &whole, part[i], false, name);
        expect_rounds(&c, &whole, part[i], true, name);
    }
    stop(&c), stop(&whole);
}

// ---- scenes ------------------------------------------------------------------------------------

static mabd_scene* chain_scene(int joint) {
    mabd_error error = {0};
    mabd_chain_def def = mabd_default_chain_def();
    mabd_scene* scene = new_scene();
    def.joint = (mabd_joint)joint, def.links = 400, def.pinned = joint == MABD_JOINT_BALL;
    rig_check(mabd_generate_chain(scene, &def, &error), &error, "chain");
    return scene;
}

Test(condense, rounds_of_long_chains_are_whole_solves) {
    expect_scene(chain_scene, MABD_JOINT_BALL, "balls");
    expect_scene(chain_scene, MABD_JOINT_HINGE, "hinges");
    expect_scene(chain_scene, MABD_JOINT_CYLINDRICAL, "cylindrical");
    expect_scene(chain_scene, MABD_JOINT_FIXED, "fixed");
}

static mabd_scene* drawn_scene(int pattern) {
    mabd_scene* scene = new_scene();
    random_scene_def def = {.seed = 5 + (uint64_t)pattern,
                            .pattern = (random_pattern)pattern,
                            .bodies = 60,
                            .grounded = pattern % 2 == 0,
                            .mass_range = 10};
    random_scene_add(&def, scene);
    return scene;
}

Test(condense, rounds_of_random_scenes_are_whole_solves) {
    expect_scene(drawn_scene, RANDOM_CHAIN, "random chain");
    expect_scene(drawn_scene, RANDOM_TREE, "random tree");
    expect_scene(drawn_scene, RANDOM_LOOPS, "random loops");
    expect_scene(drawn_scene, RANDOM_NET, "random net");
    expect_scene(drawn_scene, RANDOM_MIXED, "random graph");
}

static mabd_scene* net_scene(int side) {
    mabd_error error = {0};
    mabd_net_def def = mabd_default_net_def();
    mabd_scene* scene = new_scene();
    def.rows = def.columns = side;
    rig_check(mabd_generate_net(scene, &def, &error), &error, "net");
    return scene;
}

Test(condense, rounds_of_nets_are_whole_solves) {
    expect_scene(net_scene, 8, "net");
}

// ---- the pattern -------------------------------------------------------------------------------

// Kept slots and runs cover a chain, and runs are no longer than lanes of segments.
Test(condense, long_runs_are_cut) {
    condense_case c = start(chain_scene(MABD_JOINT_BALL), 1, 3);
    const mabd_affine_condensed* d = &c.sim->contacts->condensed;
    open_reference(&c);
    draw_contacts(&c, 0.01);
    cr_assert(lt(i32, 0, c.sim->contacts->list.current.count));
    cr_assert(eq(int, mabd_affine_condense_plan(c.sim, true), MABD_OK));
    int32_t slots = d->slots.count;
    for (int32_t i = 0; i < d->groups.count; i++) {
        const mabd_affine_condensed_group* group = (mabd_affine_condensed_group*)d->groups.data + i;
        cr_expect(le(i32, group->length, MABD_SEGMENT_LINKS));
        for (int32_t l = 0; l < group->lane_count; l++) slots += group->count[l];
    }
    cr_expect(eq(i32, slots, c.model->plan->slot_count));
    cr_expect(lt(i32, d->slots.count, c.model->plan->slot_count / 8));
    stop(&c);
}

// A later reference of a solve that touches fewer bodies keeps the pattern; one that touches
// another body makes a new one, and so does every solve.
Test(condense, the_pattern_stays_while_no_other_body_is_touched) {
    condense_case c = start(chain_scene(MABD_JOINT_BALL), 1, 9);
    condense_case whole = start(chain_scene(MABD_JOINT_BALL), 1, 1);
    mabd_affine_contacts* contacts = c.sim->contacts;
    const mabd_affine_condensed* d = &contacts->condensed;
    mabd_affine_motion_report motion;
    open_reference(&c), open_reference(&whole);
    draw_contacts(&c, 0.1);
    cr_assert(eq(int, mabd_affine_condense_plan(c.sim, true), MABD_OK));
    const int32_t bodies = d->bodies.count;
    cr_assert(lt(i32, 3, bodies));
    contacts->list.current.count /= 2;
    cr_assert(eq(int, mabd_affine_contacts_classify(contacts), MABD_OK));
    cr_assert(eq(int, mabd_affine_condense_plan(c.sim, false), MABD_OK));
    cr_expect(eq(i32, d->bodies.count, bodies));
    copy_contacts(&c, &whole);
    solve_round(&c, 0);
    solve_whole(&whole);
    cr_assert(eq(int, mabd_affine_backend_cpu.complete(c.sim, &motion), MABD_OK));
    cr_expect(lt(dbl, difference(&c, c.sim->q_new, whole.sim->q_new, false), TOLERANCE));
    cr_assert(eq(int, mabd_affine_condense_plan(c.sim, true), MABD_OK));
    cr_expect(lt(i32, d->bodies.count, bodies));
    stop(&c), stop(&whole);
}
