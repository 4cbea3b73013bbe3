// SPDX-License-Identifier: Apache-2.0
#include "formulation/affine/kept_state.h"

#include <string.h>

#define STATE_SIZE(bytes)              (bytes)
#define WORK_SIZE(bytes)               (0 * (bytes))
#define STATE_COPY(kept, array, bytes) memcpy(kept, array, bytes)
#define WORK_COPY(kept, array, bytes)  ((void)0)

static size_t state_bytes(const mabd_affine_sizes* n) {
    size_t total = 0;
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    total += kind##_SIZE((size_t)(columns) * (count) * sizeof(mabd_real));
#include "formulation/affine/fields.def"
#undef FIELD
    return total;
}

mabd_status mabd_affine_keep_state(mabd_affine_sim* sim) {
    const mabd_affine_sizes* n = &sim->sizes;
    mabd_affine_contacts* c = sim->contacts;
    const size_t rows = state_bytes(n) / sizeof(mabd_vec12) + 1;
    c->kept.count = 0;
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->kept, sizeof(mabd_vec12), (int64_t)rows));
    char* kept = c->kept.data;
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    {                                                                                              \
        const size_t bytes = (size_t)(columns) * (count) * sizeof(mabd_real);                      \
        kind##_COPY(kept, sim->name, bytes);                                                       \
        kept += kind##_SIZE(bytes);                                                                \
    }
#include "formulation/affine/fields.def"
#undef FIELD
    return MABD_OK;
}

void mabd_affine_return_state(mabd_affine_sim* sim) {
    const mabd_affine_sizes* n = &sim->sizes;
    const char* kept = sim->contacts->kept.data;
#define FIELD(kind, name, count, columns, unit, meaning)                                           \
    {                                                                                              \
        const size_t bytes = (size_t)(columns) * (count) * sizeof(mabd_real);                      \
        kind##_COPY(sim->name, kept, bytes);                                                       \
        kept += kind##_SIZE(bytes);                                                                \
    }
#include "formulation/affine/fields.def"
#undef FIELD
}
