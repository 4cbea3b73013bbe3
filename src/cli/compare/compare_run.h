// SPDX-License-Identifier: Apache-2.0
// One run of `mabd compare`: a formulation, an integrator and a step on a model, its figures, and
// its poses at instants that all runs share.
#pragma once

#include "mabd/mabd.h"

#include <stdbool.h>

/// Numbers of a run: X(member, format of text, unit). NaN = not known.
#define COMPARE_NUMBER_LIST(X)                                                                     \
    X(position, "%.2e", "m")           /* largest distance of a body frame from the reference */   \
    X(position_end, "%.2e", "m")       /* the same at the end */                                   \
    X(angle, "%.2e", "rad")            /* largest rotation of a body from the reference */         \
    X(angle_end, "%.2e", "rad")        /* the same at the end */                                   \
    X(energy, "%.2e", "1")             /* largest |E - E_0| over the energy exchanged */           \
    X(energy_end, "%+.2e", "1")        /* (E - E_0) over the same, at the end */                   \
    X(energy_integrator, "%+.2e", "1") /* taken by the time steps, over the same */                \
    X(momentum, "%.2e", "kg m/s")      /* |p - p_0| at the end */                                  \
    X(angular_momentum, "%.2e", "kg m^2/s") /* |L - L_0| at the end, about the origin */           \
    X(gap, "%.1e", "m")           /* largest error of a translation row after any step */          \
    X(angle_error, "%.1e", "rad") /* largest error of a rotation row after any step */             \
    X(penetration, "%.1e", "m")   /* deepest overlap of two bodies after any step */               \
    X(iterations, "%.2f", "1")    /* mean per step */                                              \
    X(substeps, "%.0f", "1")      /* most parts of one step */                                     \
    X(retries, "%.0f", "1")       /* times that a step was halved, over the run */                 \
    X(unconverged, "%.0f", "1")   /* steps that did not meet their tolerances, over the run */     \
    X(ms, "%.4g", "ms")           /* time of a step, mean */                                       \
    X(cost, "%.4g", "ms/s")       /* time of a second of motion */                                 \
    X(order, "%.2f", "1")         /* observed in the positions over this step and the two above */ \
    X(order_angle, "%.2f", "1")   /* the same of the rotations */

/// Poses and energies at `count` instants: after step 0, every, 2 every, ..., and the last one.
/// Runs with the same `count` have the same instants.
typedef struct compare_path {
    int32_t count, capacity, bodies;
    double* times;        // (count) [s]
    double* energies;     // (count) |E - E_0| over the energy exchanged
    double* positions;    // (count) largest distance of a body from the reference [m]
    double* angles;       // (count) largest rotation from the reference [rad]
    mabd_real* places;    // (count x bodies x 3) [m]; null after compare_path_forget
    mabd_real* rotations; // (count x bodies x 4) w x y z; null after compare_path_forget
} compare_path;

/// A row of the comparison.
typedef struct compare_row {
    mabd_formulation formulation;
    mabd_integrator integrator; // the resolved one if the run was created
    double h;                   // [s]
    int64_t steps, every;       // requested, and those between two instants of the path
    bool complete;              // it did all of them
    bool reference;             // the others are compared with it
    char outcome[512];          // "ok", or why there are no figures
#define X(name, format, unit) double name;
    COMPARE_NUMBER_LIST(X)
#undef X
    compare_path path;
} compare_row;

/// Simulate row->steps steps of `def` and fill the figures of a row that do not depend on others.
/// Times are processor time with one thread, else wall time; a short run is repeated and its
/// fastest time counts. A definition that is refused and a step that
/// fails leave row->complete false and the reason in row->outcome. `bodies` is that of the model.
/// Returns false if memory is short.
bool compare_run(const mabd_model* model, const mabd_sim_def* def, int32_t bodies,
                 compare_row* row);
/// Fill the differences of a row from a reference with the same instants; both complete.
void compare_difference(const compare_row* reference, compare_row* row);
/// Fill the orders of `fine` from three complete rows of one method with the same instants and
/// falling steps. They stay NaN where the rows differ by round-off only.
void compare_order(const compare_row* coarse, const compare_row* middle, compare_row* fine);
/// Free the poses of a path and keep what was computed from them.
void compare_path_forget(compare_path* path);
/// Free a path.
void compare_path_release(compare_path* path);
