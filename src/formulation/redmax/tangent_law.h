// SPDX-License-Identifier: Apache-2.0
// Derivatives of axes with force laws: stages (tangent_law.c) and impacts (tangent_impact.c).
#pragma once

#include "formulation/redmax/redmax_axes.h"
#include "formulation/redmax/redmax_pass.h"

/// Backwards, after a transposed solve: split its solution g->z into bars of the residual, g->z,
/// and of what held axes take, g->hold.
void mabd_redmax_split_rows(const mabd_redmax_pass* r);
/// Forward: make the right side g->z of a solve from that of the residual, g->z, and the changes
/// g->hold of what held axes take.
void mabd_redmax_join_rows(const mabd_redmax_pass* r);

/// Pass what the branches of laws change in a stage: forward to g->hold and g->changes.r, backwards
/// from g->hold and g->z. center: turns of the centres of charts; g->base_q, base_theta and targets
/// are the others.
void mabd_redmax_pass_laws(const mabd_redmax_pass* r, mabd_real* center);
/// g->base_theta += s times the changes of the rotation vectors at a node by its changes t.
void mabd_redmax_pass_theta(const mabd_redmax_pass* r, mabd_real s, const mabd_redmax_node* node,
                            mabd_redmax_tangent t);
/// rate += the changes of the rates of rotation vectors in a stage, by g->q, g->base_theta and
/// turns of the centres of charts.
void mabd_redmax_pass_theta_rate(const mabd_redmax_pass* r, mabd_real* rate, mabd_real* center);

/// g->hold -= the changes of the rates theta' = dtheta/dq v of held components of rotation vectors,
/// at rates v (freedoms), by q (null = none) and turns of the centres of charts.
void mabd_redmax_pass_held_rates(const mabd_redmax_pass* r, const mabd_real* v, mabd_real* q,
                                 mabd_real* center);

/// Take the impulses at the end of a step again, from the node in sim->next before them, and go
/// back over them: bars of `end` after them -> before them (tangent_impact.c).
mabd_status mabd_redmax_impact_back(mabd_redmax_pass* r, mabd_redmax_tangent end);
/// Go forward over them in all directions: their `fresh` before -> after them (tangent_impact.c).
mabd_status mabd_redmax_impact_forward(mabd_redmax_pass* r);
