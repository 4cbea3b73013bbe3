// SPDX-License-Identifier: Apache-2.0
// Contacts on a device. They are found, sorted and searched on the host (affine/contact/find.c, touch_search.c), which needs the references and what a
// solve has made of them; rows of a body against fixed ones are eliminated in its block on the device, by the text of affine/element/eliminate.h.
//
// Contacts come and go, so their lists lie in memory of their own, which grows; all else is in the simulation's.
#pragma once

#include "cuda/runtime/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "formulation/affine/data.h"

typedef struct mabd_cuda_touch {
    mabd_affine_contacts* on;       // what kernels see, null = the model has no contacts
    mabd_affine_contacts view;      // the same on the host, with the device's pointers
    mabd_affine_contacts staged;    // as copied: stays until the next wait
    void* memory;                   // of lists
    size_t size;                    //
    int32_t capacity;               // contacts
    int32_t* head;                  // (bodies)
    int32_t *row_first, *row_count; // (bodies)
    uint8_t* euler;                 // (bodies)
} mabd_cuda_touch;

/// Device memory from the arena; called twice, first to count. bodies = 0: no contacts.
void MABD_CUDA(touch_layout)(mabd_cuda_touch* touch, size_t bodies, mabd_arena* arena);
/// Which bodies take the solve under way by Euler.
mabd_status MABD_CUDA(touch_put_euler)(mabd_cuda_touch* touch, const mabd_device* device,
                                       const mabd_affine_contacts* host, size_t bodies,
                                       mabd_error* error);
/// All contacts that are in blocks: lists, and where each body's rows go. MABD_ERR_MEMORY.
mabd_status MABD_CUDA(touch_put)(mabd_cuda_touch* touch, const mabd_device* device,
                                 mabd_affine_contacts* host, size_t bodies, mabd_error* error);
/// The contacts themselves, after the host has changed their pieces.
mabd_status MABD_CUDA(touch_put_pieces)(mabd_cuda_touch* touch, const mabd_device* device,
                                        const mabd_affine_contacts* host, mabd_error* error);
void MABD_CUDA(touch_release)(mabd_cuda_touch* touch);

#ifdef __cplusplus
}
#endif
