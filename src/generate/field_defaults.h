// SPDX-License-Identifier: Apache-2.0
// Expands a list of fields (generate/fields.h) to the statements of a default function. They set
// the members of the local variable `def`, which is zero before.
#pragma once

#include "generate/fields.h"

#include <string.h>

#define FIELD(kind, field, value, unit, meaning) MABD_SET_##kind(field, value);
#define MATERIAL_VALUE(field, member, value)     def.field.member = (value);

// Values of several numbers.
#define VECTOR(x, y, z)                                                                            \
    { (x), (y), (z) }
#define LIST(...)                                                                                  \
    { __VA_ARGS__ }
#define LEVEL(segments, children, length, radius, tip, spread, spread_tip, droop, bare, shorten)   \
    {                                                                                              \
        segments, children, (mabd_real)(length), (mabd_real)(radius), (mabd_real)(tip),            \
            (mabd_real)(spread), (mabd_real)(spread_tip), (mabd_real)(droop), (mabd_real)(bare),   \
            (mabd_real)(shorten)                                                                   \
    }

// Copy the values of an initializer into a member that is an array.
#define MABD_SET_ARRAY(type, field, ...)                                                           \
    do {                                                                                           \
        static const type values[] = __VA_ARGS__;                                                  \
        memcpy(def.field, values, sizeof values);                                                  \
    } while (0)

#define MABD_SET_NAME(field, value)         def.field = (value)
#define MABD_SET_INT(field, value)          def.field = (value)
#define MABD_SET_REAL(field, value)         def.field = (mabd_real)(value)
#define MABD_SET_SCENE_REAL(field, value)   def.field = (mabd_real)(value)
#define MABD_SET_BOOL(field, value)         def.field = (value)
#define MABD_SET_VEC3(field, ...)           MABD_SET_ARRAY(mabd_real, field, __VA_ARGS__)
#define MABD_SET_SEED(field, value)         def.field = (value)
#define MABD_SET_BITS(field, value)         def.field = (value)
#define MABD_SET_SHAPE(field, value)        def.field = (value)
#define MABD_SET_JOINT(field, value)        def.field = (value)
#define MABD_SET_CHAIN_START(field, value)  def.field = (value)
#define MABD_SET_NET_PIN(field, value)      def.field = (value)
#define MABD_SET_ARRANGEMENT(field, value)  def.field = (value)
#define MABD_SET_PLANE(field, value)        def.field = (value)
#define MABD_SET_MATERIAL(field, value)     def.field = (value)
#define MABD_SET_SURFACE_REAL(field, value) def.field = (mabd_real)(value)
#define MABD_SET_SURFACE_BITS(field, value) def.field = (value)
#define MABD_SET_SIGNAL(field, value)       def.field.kind = (value)
#define MABD_SET_AXES(field, value)         def.field[0] = (value) // null, as the others
#define MABD_SET_COUNT(field, value)        def.field = (value)
#define MABD_SET_LEVELS(field, ...)         MABD_SET_ARRAY(mabd_branch_level, field, __VA_ARGS__)
#define MABD_SET_JOINTS(field, ...)         MABD_SET_ARRAY(mabd_joint, field, __VA_ARGS__)
