// SPDX-License-Identifier: Apache-2.0
// Names of kernels: one name for the symbol of the compiler's report and for the type of a tag that
// the executor reports (exec/kernel.h).
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/// "_Z15assemble_bodiesIL14mabd_body_kind3EEv12mabd_cpu_simi" and the type of its tag become
/// "assemble_bodies<3>": without namespace, arguments and the types of template arguments. Other
/// text is copied unchanged. Returns name.
const char* model_kernel_name(const char* symbol, char* name, size_t size);

#ifdef __cplusplus
}
#endif
