// SPDX-License-Identifier: Apache-2.0
// The tables of stages, and the calls through the one that a simulation has.

#include "cpu/stages.h"

#define PROTOTYPES(isa) MABD_STAGE_PROTOTYPES(isa);
#define TABLE(isa)                                                                                 \
    {MABD_STAGE_JOIN(predict, isa),    MABD_STAGE_JOIN(predict_body, isa),                         \
     MABD_STAGE_JOIN(assemble, isa),   MABD_STAGE_JOIN(update, isa),                               \
     MABD_STAGE_JOIN(joint_rows, isa), MABD_STAGE_JOIN(check, isa),                                \
     MABD_STAGE_JOIN(refer, isa),      MABD_STAGE_JOIN(finish, isa)},

MABD_ISA_EACH(PROTOTYPES)
static const mabd_cpu_stages tables[] = {MABD_ISA_EACH(TABLE)};

const mabd_cpu_stages* mabd_cpu_stages_of(int32_t isa) {
    return &tables[isa];
}

void mabd_cpu_predict(mabd_cpu_sim* sim) {
    sim->stages->predict(sim);
}
void mabd_cpu_predict_body(mabd_cpu_sim* sim, int32_t body) {
    sim->stages->predict_body(sim, body);
}
int32_t mabd_cpu_joint_rows(mabd_cpu_sim* sim, int32_t body, int32_t side, mabd_affine* rows) {
    return sim->stages->joint_rows(sim, body, side, rows);
}
void mabd_cpu_assemble(mabd_cpu_sim* sim, mabd_pass pass) {
    sim->stages->assemble(sim, pass);
}
mabd_motion_report mabd_cpu_update(mabd_cpu_sim* sim) {
    return sim->stages->update(sim);
}
mabd_opening mabd_cpu_check(const mabd_cpu_sim* sim, const mabd_real* q) {
    return sim->stages->check(sim, q);
}
bool mabd_cpu_refer(mabd_cpu_sim* sim, int32_t* body) {
    return sim->stages->refer(sim, body);
}
void mabd_cpu_finish(mabd_cpu_sim* sim, bool keep_history) {
    sim->stages->finish(sim, keep_history);
}
