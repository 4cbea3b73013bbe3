// SPDX-License-Identifier: Apache-2.0
// mabd as one of the engines; see peer_mabd.h.
#include "cli/bench/peer_mabd.h"

#include "cli/bench/peer_scenes.h"

#include <math.h>

static const peer_variant VARIANTS[] = {
    {"balanced",
     "affine bodies, BDF2, preset balanced (rotation 1e-2 rad), dual auto, Young 1e9, double"},
};

static void* create(const void* context, const peer_scene* scene, int32_t variant, char* message,
                    size_t size) {
    (void)variant;
    mabd_sim_def def = mabd_default_sim_def();
    mabd_error error = {0};
    mabd_sim* sim = NULL;
    def.h = (mabd_real)scene->h;
    const mabd_status status = mabd_sim_create(context, &def, &sim, &error);
    if (status == MABD_OK) return sim;
    snprintf(message, size, "%s", error.text[0] != '\0' ? error.text : mabd_status_text(status));
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

peer_engine bench_peer_mabd(const mabd_model* model) {
    return (peer_engine){.name = "mabd",
                         .version = mabd_version(),
                         .variant_count = sizeof(VARIANTS) / sizeof(VARIANTS[0]),
                         .variants = VARIANTS,
                         .context = model,
                         .create = create,
                         .step = step,
                         .get = get,
                         .destroy = destroy,
                         .own_gap = own_gap,
                         .own_energy = own_energy};
}
