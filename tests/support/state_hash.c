// SPDX-License-Identifier: Apache-2.0
#include "support/state_hash.h"

#include "base/hash.h"
#include "formulation/affine/affine_sim.h"

#include <criterion/criterion.h>
#include <stdlib.h>

uint64_t state_hash(const mabd_model* model, const mabd_sim_def* def,
                    const mabd_affine_isa_table* stages, int32_t steps, mabd_step_info* info) {
    mabd_error error = {0};
    const mabd_allocator allocator = mabd_default_allocator();
    const mabd_formulation_ops* ops = &mabd_formulation_affine;
    void* self = NULL;
    cr_assert(ops->create(model, def, &allocator, model->start, &self, &error) == MABD_OK, "%s",
              error.text);
    ((mabd_affine_sim*)self)->stages = stages;
    for (int32_t i = 0; i < steps; i++) {
        cr_assert(ops->step(self, (mabd_real)i * def->h, info, &error) == MABD_OK, "%s",
                  error.text);
    }
    const size_t size = ops->state_size(self);
    void* state = malloc(size);
    ops->save(self, state);
    const uint64_t hash = mabd_hash(MABD_HASH_START, state, size);
    free(state);
    ops->destroy(self, &allocator);
    return hash;
}
