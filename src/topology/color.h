// SPDX-License-Identifier: Apache-2.0
// Colours: things that are joined have different ones, so that all of one colour can be worked on at the same time.
#pragma once

#include "mabd/base.h"

/// Colour n things from 0 on, the lowest first, each with the first colour that none of its neighbours has. The neighbours of s are other[start[s]]
/// ... other[start[s + 1] - 1] (s itself may be among them; both ends list each other). taken (n): scratch. Returns the number of
/// colours: at most one more than the most neighbours. O(n + neighbours).
int32_t mabd_color_greedy(int32_t n, const int32_t* start, const int32_t* other, int32_t* color,
                          int32_t* taken);
/// Things by colour, rising within each: those of colour c are order[first[c]] ... order[first[c + 1] - 1]. first (count + 1), order (n).
void mabd_color_sort(int32_t n, const int32_t* color, int32_t count, int32_t* first,
                     int32_t* order);
