// SPDX-License-Identifier: Apache-2.0
#include "model/model_analysis.h"

#include "base/handover.h"

static mabd_model_analysis* exchange(const mabd_model* m, mabd_model_analysis* analysis) {
    mabd_model* model = (mabd_model*)m; // the model that it represents does not change
    return mabd_handover_exchange(&model->analysis, analysis);
}

void mabd_model_leave_analysis(const mabd_model* m, mabd_model_analysis* analysis) {
    mabd_model_analysis* earlier = exchange(m, analysis);
    if (earlier) earlier->destroy(earlier);
}

mabd_model_analysis* mabd_model_take_analysis(const mabd_model* m, const void* owner) {
    mabd_model_analysis* analysis = exchange(m, NULL);
    if (!analysis || analysis->owner == owner) return analysis;
    mabd_model_leave_analysis(m, analysis);
    return NULL;
}
