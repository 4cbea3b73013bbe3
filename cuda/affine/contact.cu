// SPDX-License-Identifier: Apache-2.0
#include "cuda/affine/contact_device.h"

extern "C" {
#include "base/error.h"
}

// Eliminated rows of a contact at the most: three and that of rolling, of a junction twice.
#define MOST_ROWS 8

void MABD_CUDA(touch_layout)(mabd_cuda_touch* touch, size_t bodies, mabd_arena* arena) {
    if (bodies == 0) return;
    touch->on = (mabd_affine_contacts*)mabd_arena_take(arena, 1, sizeof *touch->on);
    touch->head = (int32_t*)mabd_arena_take(arena, bodies, sizeof *touch->head);
    touch->row_first = (int32_t*)mabd_arena_take(arena, bodies, sizeof *touch->row_first);
    touch->row_count = (int32_t*)mabd_arena_take(arena, bodies, sizeof *touch->row_count);
    touch->euler = (uint8_t*)mabd_arena_take(arena, bodies, sizeof *touch->euler);
    touch->view.by_body.head = touch->head, touch->view.by_body.euler = touch->euler;
    touch->view.by_body.row_first = touch->row_first,
    touch->view.by_body.row_count = touch->row_count;
}

mabd_status MABD_CUDA(touch_put_euler)(mabd_cuda_touch* touch, const mabd_device* device,
                                       const mabd_affine_contacts* host, size_t bodies,
                                       mabd_error* error) {
    touch->staged = touch->view;
    MABD_TRY(
        MABD_CUDA(device_upload)(device, &touch->staged, sizeof touch->staged, touch->on, error));
    return MABD_CUDA(device_upload)(device, host->by_body.euler, bodies, touch->euler, error);
}

static mabd_status grow(mabd_cuda_touch* touch, int32_t count, mabd_error* error) {
    if (count <= touch->capacity) return MABD_OK;
    const size_t capacity = (size_t)count + (size_t)count / 2;
    const size_t contacts = mabd_bytes(capacity, sizeof(mabd_affine_contact)),
                 next = mabd_bytes(capacity, sizeof(int32_t)),
                 rows = mabd_bytes(MOST_ROWS * capacity, sizeof(mabd_vec12));
    MABD_CUDA(touch_release)(touch);
    touch->capacity = 0;
    MABD_CUDA_TRY(cudaMalloc(&touch->memory, contacts + next + rows), "taking memory for contacts");
    touch->size = contacts + next + rows;
    touch->capacity = (int32_t)capacity;
    touch->view.list.current.data = touch->memory;
    touch->view.by_body.next.data = (char*)touch->memory + contacts;
    touch->view.by_body.eliminated.data = (char*)touch->memory + contacts + next;
    return MABD_OK;
}

// Rows of each body, one after the other.
static void place_rows(mabd_affine_contacts* host) {
    const int32_t *next = (const int32_t*)host->by_body.next.data,
                  *touched = (const int32_t*)host->by_body.touched.data;
    int32_t place = 0;
    for (int32_t i = 0; i < host->by_body.touched.count; i++) {
        host->by_body.row_first[touched[i]] = place;
        for (int32_t k = host->by_body.head[touched[i]]; k >= 0; k = next[k]) place += MOST_ROWS;
    }
}

mabd_status MABD_CUDA(touch_put)(mabd_cuda_touch* touch, const mabd_device* device,
                                 mabd_affine_contacts* host, size_t bodies, mabd_error* error) {
    const int32_t count = host->list.current.count;
    MABD_TRY(grow(touch, count, error));
    place_rows(host);
#define PUT(from, bytes, to) MABD_TRY(MABD_CUDA(device_upload)(device, from, bytes, to, error))
    PUT(host->by_body.head, bodies * sizeof *host->by_body.head, touch->head);
    PUT(host->by_body.row_first, bodies * sizeof *host->by_body.row_first, touch->row_first);
    PUT(host->by_body.next.data, (size_t)count * sizeof(int32_t), touch->view.by_body.next.data);
#undef PUT
    MABD_TRY(MABD_CUDA(touch_put_euler)(touch, device, host, bodies, error));
    return MABD_CUDA(touch_put_pieces)(touch, device, host, error);
}

mabd_status MABD_CUDA(touch_put_pieces)(mabd_cuda_touch* touch, const mabd_device* device,
                                        const mabd_affine_contacts* host, mabd_error* error) {
    return MABD_CUDA(device_upload)(device, host->list.current.data,
                                    (size_t)host->list.current.count * sizeof(mabd_affine_contact),
                                    touch->view.list.current.data, error);
}

void MABD_CUDA(touch_release)(mabd_cuda_touch* touch) {
    if (touch->memory) cudaFree(touch->memory);
    touch->memory = NULL, touch->size = 0;
}
