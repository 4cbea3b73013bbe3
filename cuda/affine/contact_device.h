// SPDX-License-Identifier: Apache-2.0
// Contacts on a device. The host finds, classifies and searches them (affine/contact/), for which
// it needs the references and the result of each solve. Rows of a body against bodies that do not
// move are eliminated in its block on the device, by the source of affine/element/eliminate.h.
//
// The number of contacts changes from step to step, so their lists have an allocation of their own,
// which grows; all else is in the memory of the simulation.
#pragma once

#include "cuda/runtime/device.h"

#ifdef __cplusplus
extern "C" {
#endif

#include "formulation/affine/data.h"

typedef struct mabd_cuda_contacts {
    mabd_affine_contacts* on;       // on the device, for kernels; null = the model has no contacts
    mabd_affine_contacts view;      // on the host, with the device's pointers
    mabd_affine_contacts staged;    // copy of `view` that is being uploaded, until the next wait
    void* memory;                   // of lists, on the device
    size_t size;                    // of `memory` [bytes]
    int32_t capacity;               // contacts
    int32_t* head;                  // (bodies) on the device
    int32_t *row_first, *row_count; // (bodies) on the device
    uint8_t* euler;                 // (bodies) on the device
} mabd_cuda_contacts;

/// Take device memory from the arena; called twice, first to count. bodies = 0: no contacts.
void MABD_CUDA(contacts_layout)(mabd_cuda_contacts* contacts, size_t bodies, mabd_arena* arena);
/// Upload which bodies take the current solve by Euler.
mabd_status MABD_CUDA(contacts_upload_euler)(mabd_cuda_contacts* contacts,
                                             const mabd_device* device,
                                             const mabd_affine_contacts* host, size_t bodies,
                                             mabd_error* error);
/// Upload all eliminated contacts: the lists, and where the rows of each body go. MABD_ERR_MEMORY.
mabd_status MABD_CUDA(contacts_upload)(mabd_cuda_contacts* contacts, const mabd_device* device,
                                       mabd_affine_contacts* host, size_t bodies,
                                       mabd_error* error);
/// Upload the contacts without their lists, after the host has changed the branches of their laws.
mabd_status MABD_CUDA(contacts_upload_branches)(mabd_cuda_contacts* contacts,
                                                const mabd_device* device,
                                                const mabd_affine_contacts* host,
                                                mabd_error* error);
/// Free the memory of the lists.
void MABD_CUDA(contacts_release)(mabd_cuda_contacts* contacts);

#ifdef __cplusplus
}
#endif
