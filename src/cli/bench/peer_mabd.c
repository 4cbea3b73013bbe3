// SPDX-License-Identifier: Apache-2.0
// mabd as one of the engines; see peer_mabd.h.
#include "cli/bench/peer_mabd.h"

#include "cli/bench/peer_scenes.h"
#include "mabd/generate.h"

#include <math.h>

static void add_variant(bench_mabd* m, mabd_formulation formulation, mabd_integrator integrator,
                        const char* name) {
    const mabd_sim_def def = mabd_default_sim_def();
    const int32_t i = m->count++;
    snprintf(m->settings[i], sizeof(m->settings[i]),
             "%s bodies, integrator %s, preset %s, dual auto, Young %g, double",
             formulation == MABD_FORMULATION_AFFINE ? "affine" : "rigid",
             mabd_integrator_name(integrator), mabd_preset_name(def.preset), m->young);
    m->formulations[i] = formulation;
    m->integrators[i] = integrator;
    m->variants[i] = (peer_variant){name, m->settings[i]};
}

void bench_mabd_formulations(const mabd_model* model, double young, int32_t count,
                             const int* formulations, bench_mabd* m) {
    *m = (bench_mabd){.model = model, .young = young};
    for (int32_t i = 0; i < count && m->count < BENCH_MABD_VARIANTS; i++) {
        const mabd_formulation formulation = (mabd_formulation)formulations[i];
        add_variant(m, formulation, MABD_INTEGRATOR_AUTO, mabd_formulation_name(formulation));
    }
}

void bench_mabd_integrators(const mabd_model* model, bench_mabd* m) {
    const uint32_t accepted = mabd_formulation_get_info(MABD_FORMULATION_AFFINE).integrators;
    *m = (bench_mabd){.model = model, .young = (double)MABD_DEFAULT_YOUNG};
    for (int i = 0; i < MABD_INTEGRATOR_COUNT && m->count < BENCH_MABD_VARIANTS; i++) {
        if (i == MABD_INTEGRATOR_AUTO || (accepted >> i & 1) == 0) continue;
        add_variant(m, MABD_FORMULATION_AFFINE, (mabd_integrator)i,
                    mabd_integrator_name((mabd_integrator)i));
    }
}

static void* create(const void* context, const peer_scene* scene, int32_t variant, char* message,
                    size_t size) {
    const bench_mabd* m = context;
    mabd_sim_def def = mabd_default_sim_def();
    mabd_error error = {0};
    mabd_sim* sim = NULL;
    def.h = (mabd_real)scene->h;
    def.formulation = m->formulations[variant];
    def.integrator = m->integrators[variant];
    const mabd_status status = mabd_sim_create(m->model, &def, &sim, &error);
    if (status == MABD_OK) return sim;
    snprintf(message, size, "%s%s", status == MABD_ERR_UNAVAILABLE ? PEER_SKIP : "",
             error.text[0] != '\0' ? error.text : mabd_status_text(status));
    return NULL;
}

static const char* step(void* world) {
    mabd_step_info info;
    const mabd_status status = mabd_sim_step(world, &info, NULL);
    return status == MABD_OK ? NULL : mabd_status_text(status);
}

static void get(const void* world, peer_state* states) {
    if (bench_peer_get(world, states) != MABD_OK)
        states[0].position[0] = NAN; // reported as a failure
}

static void destroy(void* world) {
    mabd_sim_destroy(world);
}

static double own_gap(const void* world) {
    return (double)mabd_sim_measure(world).gap;
}

static double own_energy(const void* world) {
    return (double)mabd_sim_measure(world).energy;
}

peer_engine bench_peer_mabd(const bench_mabd* mabd) {
    return (peer_engine){.name = "mabd",
                         .version = mabd_version(),
                         .variant_count = mabd->count,
                         .variants = mabd->variants,
                         .context = mabd,
                         .create = create,
                         .step = step,
                         .get = get,
                         .destroy = destroy,
                         .own_gap = own_gap,
                         .own_energy = own_energy};
}
