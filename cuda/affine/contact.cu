// SPDX-License-Identifier: Apache-2.0
#include "cuda/affine/contact_device.h"

extern "C" {
#include "base/error.h"
}

void MABD_CUDA(contacts_layout)(mabd_cuda_contacts* contacts, size_t bodies, mabd_arena* arena) {
    if (bodies == 0) return;
    contacts->on = (mabd_affine_contacts*)mabd_arena_take(arena, 1, sizeof *contacts->on);
    contacts->head = (int32_t*)mabd_arena_take(arena, bodies, sizeof *contacts->head);
    contacts->row_first = (int32_t*)mabd_arena_take(arena, bodies, sizeof *contacts->row_first);
    contacts->row_count = (int32_t*)mabd_arena_take(arena, bodies, sizeof *contacts->row_count);
    contacts->euler = (uint8_t*)mabd_arena_take(arena, bodies, sizeof *contacts->euler);
    contacts->view.by_body.head = contacts->head, contacts->view.by_body.euler = contacts->euler;
    contacts->view.by_body.row_first = contacts->row_first,
    contacts->view.by_body.row_count = contacts->row_count;
}

mabd_status MABD_CUDA(contacts_upload_euler)(mabd_cuda_contacts* contacts,
                                             const mabd_device* device,
                                             const mabd_affine_contacts* host, size_t bodies,
                                             mabd_error* error) {
    contacts->staged = contacts->view;
    MABD_TRY(MABD_CUDA(device_upload)(device, &contacts->staged, sizeof contacts->staged,
                                      contacts->on, error));
    return MABD_CUDA(device_upload)(device, host->by_body.euler, bodies, contacts->euler, error);
}

static mabd_status grow(mabd_cuda_contacts* contacts, int32_t count, int32_t most_rows,
                        mabd_error* error) {
    if (count <= contacts->capacity) return MABD_OK;
    const size_t capacity = (size_t)count + (size_t)count / 2;
    const size_t list = mabd_bytes(capacity, sizeof(mabd_affine_contact)),
                 next = mabd_bytes(capacity, sizeof(int32_t)),
                 rows = mabd_bytes((size_t)most_rows * capacity, sizeof(mabd_vec12));
    MABD_CUDA(contacts_release)(contacts);
    contacts->capacity = 0;
    MABD_CUDA_TRY(cudaMalloc(&contacts->memory, list + next + rows),
                  "allocating memory for contacts");
    contacts->size = list + next + rows;
    contacts->capacity = (int32_t)capacity;
    contacts->view.list.current.data = contacts->memory;
    contacts->view.by_body.next.data = (char*)contacts->memory + list;
    contacts->view.by_body.eliminated.data = (char*)contacts->memory + list + next;
    return MABD_OK;
}

// Assign the rows of each body, one body after the other.
static void place_rows(mabd_affine_contacts* host) {
    const int32_t *next = (const int32_t*)host->by_body.next.data,
                  *touched = (const int32_t*)host->by_body.touched.data;
    const int32_t most_rows = mabd_affine_most_rows(host->geometry->model);
    int32_t place = 0;
    for (int32_t i = 0; i < host->by_body.touched.count; i++) {
        host->by_body.row_first[touched[i]] = place;
        for (int32_t k = host->by_body.head[touched[i]]; k >= 0; k = next[k]) place += most_rows;
    }
}

mabd_status MABD_CUDA(contacts_upload)(mabd_cuda_contacts* contacts, const mabd_device* device,
                                       mabd_affine_contacts* host, size_t bodies,
                                       mabd_error* error) {
    const int32_t count = host->list.current.count;
    MABD_TRY(grow(contacts, count, mabd_affine_most_rows(host->geometry->model), error));
    place_rows(host);
#define UPLOAD(from, bytes, to) MABD_TRY(MABD_CUDA(device_upload)(device, from, bytes, to, error))
    UPLOAD(host->by_body.head, bodies * sizeof *host->by_body.head, contacts->head);
    UPLOAD(host->by_body.row_first, bodies * sizeof *host->by_body.row_first, contacts->row_first);
    UPLOAD(host->by_body.next.data, (size_t)count * sizeof(int32_t),
           contacts->view.by_body.next.data);
#undef UPLOAD
    MABD_TRY(MABD_CUDA(contacts_upload_euler)(contacts, device, host, bodies, error));
    return MABD_CUDA(contacts_upload_branches)(contacts, device, host, error);
}

mabd_status MABD_CUDA(contacts_upload_branches)(mabd_cuda_contacts* contacts,
                                                const mabd_device* device,
                                                const mabd_affine_contacts* host,
                                                mabd_error* error) {
    return MABD_CUDA(device_upload)(device, host->list.current.data,
                                    (size_t)host->list.current.count * sizeof(mabd_affine_contact),
                                    contacts->view.list.current.data, error);
}

void MABD_CUDA(contacts_release)(mabd_cuda_contacts* contacts) {
    if (contacts->memory) cudaFree(contacts->memory);
    contacts->memory = NULL, contacts->size = 0;
}
