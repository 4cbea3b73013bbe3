// SPDX-License-Identifier: Apache-2.0
#include "rigid/state_bytes.h"

#include <string.h>

void mabd_rigid_visit(mabd_rigid_cursor* at, void* array, size_t bytes) {
    if (at->out && bytes > 0) memcpy(at->out + at->size, array, bytes);
    if (at->in && bytes > 0) memcpy(array, at->in + at->size, bytes);
    at->size += bytes;
}

void mabd_rigid_visit_flags(mabd_rigid_cursor* at, bool* flags, size_t n) {
    for (size_t i = 0; i < n; i++, at->size++) {
        if (at->out) at->out[at->size] = flags[i] ? 1 : 0;
        if (at->in) flags[i] = at->in[at->size] != 0;
    }
}

size_t mabd_rigid_state_size(const void* self, mabd_rigid_visitor* visit) {
    mabd_rigid_cursor at = {0};
    visit((void*)self, &at); // counted, not changed
    return at.size;
}

void mabd_rigid_save(const void* self, mabd_rigid_visitor* visit, void* buffer) {
    mabd_rigid_cursor at = {.out = buffer};
    visit((void*)self, &at); // read, not changed
}

mabd_status mabd_rigid_restore(void* self, mabd_rigid_visitor* visit, const void* buffer,
                               size_t size) {
    mabd_rigid_cursor at = {.in = buffer};
    if (size != mabd_rigid_state_size(self, visit)) return MABD_ERR_INPUT;
    visit(self, &at);
    return MABD_OK;
}
