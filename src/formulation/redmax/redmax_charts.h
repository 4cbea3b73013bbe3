// SPDX-License-Identifier: Apache-2.0
// Charts of balls that stay from step to step (charts.c).
#pragma once

#include "formulation/redmax/redmax_data.h"

/// True if a solve moves a ball in a chart of its own; else its chart is centred at s->from_node.
bool mabd_redmax_is_charted(const mabd_redmax_solve* s, const mabd_redmax_link* link);
/// Centre of the chart of a ball in a solve.
mabd_quat mabd_redmax_center(const mabd_redmax_solve* s, const mabd_redmax_link* link);
/// Return the chart of a ball in a solve at q.
mabd_turn_chart mabd_redmax_chart_at(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                                     mabd_vec3 q);

/// Begin a step or a part of one at s->from_node: switch charts where coordinates ask for it, add
/// the switches to s->switched, and write coordinates and rates of the start to s->start_q, v.
void mabd_redmax_enter_charts(mabd_redmax_solve* s);
/// Write coordinates and rates of a charted ball at a node, in the chart of the step and near those
/// of its start, to q and v (3 each).
void mabd_redmax_chart_past(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                            const mabd_redmax_node* node, mabd_real* q, mabd_real* v);
/// Set coordinates of a ball at a node, whose rotation is there, after a solve.
void mabd_redmax_store_chart(const mabd_redmax_solve* s, const mabd_redmax_link* link,
                             mabd_redmax_node* to);
/// Find the coordinates of all balls at a node in the charts that the scene has for them.
void mabd_redmax_find_charts(const mabd_redmax_sim* sim, mabd_redmax_node* node);
/// Return why the iterate of a charted ball is out of its chart, null = it is not.
const char* mabd_redmax_leaves_chart(const mabd_redmax_solve* s, const mabd_redmax_link* link);
/// Refuse a start state in which the chart of a joint is singular: MABD_ERR_INPUT.
mabd_status mabd_redmax_check_charts(const mabd_redmax_sim* sim, mabd_error* error);
