// SPDX-License-Identifier: Apache-2.0
// Joints of the impulse formulation solved all at once (direct.c), and the projection of poses
// (project.c): one solve is exact, long runs do not drift, loads of a thousand links hang on.
#include "formulation/impulse/impulse_direct.h"
#include "formulation/impulse/impulse_kernel.h"
#include "support/impulse_rig.h"
#include "support/random_scene.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <string.h>

static mabd_sim_def direct_def(double h, int substeps) {
    mabd_sim_def def = impulse_def(h, substeps, 1, 1);
    def.impulse.joints = MABD_IMPULSE_JOINTS_DIRECT;
    return def;
}

// ---- one solve ---------------------------------------------------------------------------------

// Velocities of all bodies, world: v, w.
typedef struct motion {
    mabd_vec3 v, w;
} motion;

static motion motion_of(const mabd_impulse_sim* sim, int32_t body) {
    const mabd_impulse_line* line = &sim->lines[body];
    return (motion){mabd_v3_load(line->v), mabd_v3_load(line->w)};
}

// Largest |J V + b + c p| of all rows [m/s], [rad/s].
static double row_residual(const mabd_impulse_sim* sim) {
    double worst = 0;
    for (int32_t i = 0; i < sim->joint_count; i++) {
        const mabd_impulse_joint* j = &sim->joints[i];
        const motion a = motion_of(sim, j->a), b = motion_of(sim, j->b);
        mabd_impulse_block block;
        mabd_impulse_set_block(sim, j, 0, &block);
        for (int32_t r = 0; r < j->width; r++) {
            const mabd_impulse_row* J = &block.J[r];
            const double rate = mabd_v3_dot(J->f, mabd_v3_sub(b.v, a.v)) + mabd_v3_dot(J->ta, a.w) +
                                mabd_v3_dot(J->tb, b.w);
            const double rest = rate + block.bias[r] + block.give[r] * sim->lambda[j->row + r];
            worst = fmax(worst, fabs(rest));
        }
    }
    return worst;
}

// Largest |M (V - V0) - J' p| of all bodies, relative to the largest p.
static double momentum_residual(const mabd_impulse_sim* sim, const motion* before) {
    const mabd_model* m = sim->model;
    double worst = 0, largest = 0;
    motion* pushed = calloc((size_t)m->body_count + 1, sizeof *pushed);
    for (int32_t i = 0; i < sim->joint_count; i++) {
        const mabd_impulse_joint* j = &sim->joints[i];
        mabd_impulse_block block;
        mabd_impulse_set_block(sim, j, 0, &block);
        for (int32_t r = 0; r < j->width; r++) {
            const mabd_real p = sim->lambda[j->row + r];
            motion *a = &pushed[j->a], *b = &pushed[j->b];
            a->v = mabd_v3_axpy(-p, block.J[r].f, a->v), b->v = mabd_v3_axpy(p, block.J[r].f, b->v);
            a->w = mabd_v3_axpy(p, block.J[r].ta, a->w);
            b->w = mabd_v3_axpy(p, block.J[r].tb, b->w);
            largest = fmax(largest, fabs(p));
        }
    }
    for (int32_t i = 0; i < m->body_count; i++) {
        if (m->body_motion[i] != MABD_MOTION_DYNAMIC) continue;
        const mabd_model_class* c = &m->classes[m->body_class[i]];
        const motion now = motion_of(sim, i);
        const mabd_vec3 dw = mabd_m3_tmul(sim->poses[i].R, mabd_v3_sub(now.w, before[i].w));
        const mabd_vec3 L =
            mabd_v3(c->principal[0] * dw.x, c->principal[1] * dw.y, c->principal[2] * dw.z);
        const mabd_vec3 P = mabd_v3_scale(c->material.mass, mabd_v3_sub(now.v, before[i].v));
        worst = fmax(worst, mabd_v3_norm(mabd_v3_sub(P, pushed[i].v)));
        worst =
            fmax(worst, mabd_v3_norm(mabd_v3_sub(mabd_m3_mul(sim->poses[i].R, L), pushed[i].w)));
    }
    free(pushed);
    return worst / (largest + 1e-300);
}

// Both equations of the constrained problem after one solve from the start state.
static void expect_exact(mabd_scene* scene, const char* what) {
    mabd_model* model = rig_model(scene);
    mabd_impulse_sim* sim = impulse_inside(model, direct_def(0.01, 1));
    mabd_error error = {0};
    motion* before = calloc((size_t)model->body_count + 1, sizeof *before);
    sim->h = (mabd_real)0.01;
    mabd_impulse_add_loads(sim);
    for (int32_t i = 0; i <= model->body_count; i++) before[i] = motion_of(sim, i);
    rig_check(mabd_impulse_direct_factor(sim, &error), &error, "factor");
    const double first = row_residual(sim);
    mabd_impulse_direct_solve(sim, false);
    mabd_impulse_direct_keep(sim);
    const double rows = row_residual(sim) / first, momenta = momentum_residual(sim, before);
    printf("%-8s rows %.1e of the first, momenta %.1e\n", what, rows, momenta);
    cr_expect(lt(dbl, rows, 1e-11), "%s", what);
    cr_expect(lt(dbl, momenta, 1e-11), "%s", what);
    free(before);
    impulse_inside_destroy(sim);
    mabd_model_destroy(model);
}

Test(impulse_direct, one_solve_ends_all_rates_of_rows) {
    const char* names[] = {"chain", "tree", "loops", "ladder", "star", "ring", "net", "mixed"};
    for (int pattern = RANDOM_CHAIN; pattern <= RANDOM_MIXED; pattern++) {
        for (int controls = 0; controls < 2; controls++) {
            const random_scene_def def = {.seed = 3 + (uint64_t)pattern,
                                          .pattern = (random_pattern)pattern,
                                          .bodies = 20,
                                          .grounded = true,
                                          .single = true,
                                          .controls = controls,
                                          .mass_range = 10};
            expect_exact(random_scene(&def), names[pattern]);
        }
    }
}

// ---- drift -------------------------------------------------------------------------------------

// Largest opening of a level chain of links of 0.1 m in steps of 10 ms.
static double chain_gap(int links, double load, const mabd_sim_def* def, double seconds) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = links;
    chain.end_mass_ratio = (mabd_real)load;
    mabd_model* model = rig_chain_model(&chain, (mabd_real)-9.81);
    mabd_sim* sim = rig_sim(model, def);
    double gap = 0;
    for (int i = 0; i < seconds / def->h; i++) gap = fmax(gap, rig_step(sim).gap);
    printf("%d links, load %g, %d substeps: open by %.2e m\n", links, load, def->impulse.substeps,
           gap);
    rig_destroy(sim, model);
    return gap;
}

// The velocity problem is linear, its solution leaves rows open by O(h^2) per step: without the
// projection the gap is 33 mm with one substep.
Test(impulse_direct, projection_closes_the_joints_of_ten_links) {
    const double bounds[3] = {1.05e-3, 1e-5, 4.1e-7};
    const int substeps[3] = {1, 4, 16};
    for (int k = 0; k < 3; k++) {
        const mabd_sim_def def = direct_def(0.01, substeps[k]);
        cr_expect(lt(dbl, chain_gap(10, 1, &def, 5), bounds[k]));
    }
}

Test(impulse_direct, thirty_links_stay_closed) {
    const mabd_sim_def def = direct_def(0.01, 8);
    cr_expect(lt(dbl, chain_gap(30, 1, &def, 2), 9.5e-7));
}

// Steps that are too long for light links under a heavy load: projections are halved where the
// error would grow. Without that test the links open by metres.
Test(impulse_direct, a_load_of_a_thousand_links_hangs_on) {
    const mabd_sim_def coarse = direct_def(0.01, 16), fine = direct_def(0.01, 32);
    cr_expect(lt(dbl, chain_gap(10, 1000, &coarse, 5), 2.4e-3));
    cr_expect(lt(dbl, chain_gap(10, 1000, &fine, 5), 1e-9));
}

// Where projections do not close the joints, a warning says so, once. (4 substeps diverge later, at
// 0.66 s.)
Test(impulse_direct, joints_that_stay_open_are_reported) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = 10;
    chain.end_mass_ratio = 1000;
    for (int fine = 0; fine < 2; fine++) {
        mabd_model* model = rig_chain_model(&chain, (mabd_real)-9.81);
        const mabd_sim_def def = direct_def(0.01, fine ? 32 : 4);
        mabd_sim* sim = rig_sim(model, &def);
        mabd_warning warnings[4];
        for (int i = 0; i < 60; i++) rig_step(sim);
        const int32_t count = mabd_sim_warnings(sim, 4, warnings);
        cr_expect(eq(int, count, !fine), "%d warnings", (int)count);
        if (count > 0) cr_expect(strstr(warnings[0].text, "stay open") != NULL);
        rig_destroy(sim, model);
    }
}

// A pendulum of 0.1 m in 10 s, one substep and 10 sweeps: each choice has its own drift.
Test(impulse_direct, each_correction_has_its_own_drift) {
    mabd_sim_def def = impulse_def(0.01, 1, 10, 0);
    def.impulse.correction = MABD_CORRECTION_NONE;
    cr_expect(lt(dbl, 0.05, chain_gap(1, 1, &def, 10)));
    def.impulse.correction = MABD_CORRECTION_BAUMGARTE;
    cr_expect(lt(dbl, chain_gap(1, 1, &def, 10), 4e-3));
    def = direct_def(0.01, 1);
    cr_expect(lt(dbl, chain_gap(1, 1, &def, 10), 1e-7));
}

// ---- automatic substeps ------------------------------------------------------------------------

// The parts of a step follow the tension of the links, and never fall.
Test(impulse_direct, automatic_substeps_carry_a_load_of_a_thousand_links) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = 10;
    chain.end_mass_ratio = 1000;
    mabd_model* model = rig_chain_model(&chain, (mabd_real)-9.81);
    const mabd_sim_def def = direct_def(0.01, 0);
    mabd_sim* sim = rig_sim(model, &def);
    const double start = mabd_sim_measure(sim).energy;
    double gap = 0;
    int parts = 1;
    for (int i = 0; i < 200; i++) {
        const mabd_step_info info = rig_step(sim);
        cr_assert(ge(int, info.substeps, parts));
        parts = info.substeps, gap = fmax(gap, info.gap);
    }
    const double lost = start - mabd_sim_measure(sim).energy;
    printf("%d parts, open by %.1e m, %.1f J lost\n", parts, gap, lost);
    cr_expect(ge(int, parts, 16)); // T = 3 m g of the load at the lowest point asks for 32
    cr_expect(lt(dbl, gap, 1e-5));
    rig_destroy(sim, model);
}

// Nothing pulls at free bodies: a step stays whole.
Test(impulse_direct, free_bodies_ask_for_no_substeps) {
    mabd_chain_def chain = mabd_default_chain_def();
    chain.links = 10, chain.pinned = false;
    mabd_model* model = rig_chain_model(&chain, (mabd_real)-9.81);
    const mabd_sim_def def = direct_def(0.01, 0);
    mabd_sim* sim = rig_sim(model, &def);
    for (int i = 0; i < 50; i++) cr_assert(eq(int, rig_step(sim).substeps, 1));
    rig_destroy(sim, model);
}

// ---- contacts ----------------------------------------------------------------------------------

// Ten links hung at 0.3 m that drape on the ground: sweeps of contacts and solves of joints take
// turns. With sweeps alone the joints open by some millimetres.
Test(impulse_direct, a_chain_drapes_on_the_ground_with_closed_joints) {
    const char* text =
        "{\"contact\": {\"enabled\": true}, \"time\": {\"h\": 0.01},"
        " \"bodies\": [{\"name\": \"ground\", \"shape\": \"plane\", \"fixed\": true}],"
        " \"generators\": [{\"type\": \"chain\", \"name\": \"c\", \"links\": 10,"
        " \"anchor\": [0, 0, 0.3]}]}";
    double gap[2] = {0, 0}, depth[2] = {0, 0};
    int touching[2];
    for (int direct = 0; direct < 2; direct++) {
        mabd_model* model = rig_text_model(text);
        mabd_sim_def def = direct ? direct_def(0.01, 4) : impulse_def(0.01, 4, 4, 1);
        def.impulse.sweeps = 4;
        mabd_sim* sim = rig_sim(model, &def);
        for (int i = 0; i < 300; i++) {
            const mabd_step_info info = rig_step(sim);
            gap[direct] = fmax(gap[direct], info.gap);
            depth[direct] = fmax(depth[direct], info.penetration);
            touching[direct] = info.contact_points;
        }
        printf("draped, %s: open by %.1e m, %.1e m deep, %d points\n", direct ? "direct" : "sweeps",
               gap[direct], depth[direct], touching[direct]);
        rig_destroy(sim, model);
    }
    cr_expect(lt(int, 3, touching[1]));
    cr_expect(lt(dbl, gap[1], 1e-5));
    cr_expect(lt(dbl, depth[1], 2e-3));
    cr_expect(lt(dbl, 1e-3, gap[0]));
}
