// SPDX-License-Identifier: Apache-2.0
// Graph colouring: neighbours have different colours, so that all nodes of one colour can be
// processed at the same time.
#pragma once

#include "mabd/base.h"

/// Colour n nodes in order of their index, each with the lowest colour that none of its neighbours
/// has. The neighbours of node s are other[start[s]] ... other[start[s + 1] - 1]; s itself may be
/// among them, and both ends list each other. color (n) gets the colours, taken (n) is scratch.
/// Returns the number of colours: at most one more than the largest number of neighbours. O(n +
/// neighbours).
int32_t mabd_color_greedy(int32_t n, const int32_t* start, const int32_t* other, int32_t* color,
                          int32_t* taken);
/// Sort nodes by colour, rising within each colour: the nodes of colour c are order[first[c]] ...
/// order[first[c + 1] - 1]. color (n), first (count + 1), order (n); count is the number of
/// colours.
void mabd_color_sort(int32_t n, const int32_t* color, int32_t count, int32_t* first,
                     int32_t* order);
