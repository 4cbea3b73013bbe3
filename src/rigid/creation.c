// SPDX-License-Identifier: Apache-2.0
#include "rigid/creation.h"

#include "base/memory.h"

mabd_status mabd_rigid_make(const mabd_rigid_kind* kind, const mabd_rigid_given* given, void** self,
                            mabd_error* error) {
    void* made = mabd_alloc(given->allocator, kind->size);
    if (!made) return mabd_fail_memory(error, "creating the simulation");
    if (kind->prepare(made, given) != MABD_OK) {
        kind->destroy(made, given->allocator);
        return mabd_fail_memory(error, "creating the simulation");
    }
    *self = made;
    return MABD_OK;
}

mabd_status mabd_rigid_create(const mabd_rigid_kind* kind, const mabd_rigid_given* given,
                              void** self, mabd_error* error) {
    void* made = NULL;
    MABD_TRY(mabd_rigid_make(kind, given, &made, error));
    const mabd_status status = kind->start(made, error);
    if (status != MABD_OK) {
        kind->destroy(made, given->allocator);
        return status;
    }
    *self = made;
    return MABD_OK;
}

bool mabd_rigid_on_cpu(mabd_backend backend) {
    return backend == MABD_BACKEND_CPU;
}

size_t mabd_rigid_no_device_bytes(const void* self) {
    (void)self;
    return 0;
}

int32_t mabd_rigid_no_contacts(const void* self, int32_t capacity, mabd_contact_info* contacts) {
    (void)self, (void)capacity, (void)contacts;
    return 0;
}

mabd_status mabd_rigid_no_overlap(const void* self, mabd_real* depth, int32_t* a, int32_t* b) {
    (void)self;
    *depth = 0, *a = *b = -1;
    return MABD_OK;
}
