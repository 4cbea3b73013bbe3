// SPDX-License-Identifier: Apache-2.0
// The hash of a model: every IDENTITY field of model/fields.def, in the order of the list. Records
// are hashed member by member, so that padding and pointers have no part in it.

#include "base/hash.h"
#include "model/build.h"

// A field in a function with the record `p` and the hash so far: HASH_<role>(kind, name, count).
#define HASH_DERIVED(kind, name, count)
#define HASH_IDENTITY(kind, name, count)                   hash = HASH_##kind(hash, p->name, count);
#define HASH_FIELD(kind, name, count, role, unit, meaning) HASH_##role(kind, name, count)

#define HASH_VALUE(hash, member, count)  mabd_hash(hash, &(member), sizeof(member))
#define HASH_COUNT(hash, member, count)  mabd_hash(hash, &(member), sizeof(member))
#define HASH_ARRAY(hash, member, count)  mabd_hash(hash, member, (size_t)(count) * sizeof *(member))
#define HASH_SIGNAL(hash, member, count) hash_pointer_signal(hash, member, count)
#define HASH_RECORD(record)              hash_inside_##record
#define HASH_RECORDS(record)             hash_records_##record
#define HASH_POINTER(record)             hash_pointer_##record

// Functions for records behind a pointer, and for a pointer that may be null.
#define RECORDS_OF(record, type)                                                                   \
    static uint64_t hash_records_##record(uint64_t hash, const type* records, int32_t count) {     \
        for (int32_t i = 0; i < count; i++) hash = hash_##record(hash, &records[i]);               \
        return hash;                                                                               \
    }
#define POINTER_OF(record, type)                                                                   \
    static uint64_t hash_pointer_##record(uint64_t hash, const type* record, int32_t count) {      \
        const uint8_t there = record != NULL;                                                      \
        (void)count;                                                                               \
        hash = mabd_hash(hash, &there, sizeof there);                                              \
        return there ? hash_##record(hash, record) : hash;                                         \
    }

static uint64_t hash_signal(uint64_t hash, const mabd_signal* p) {
#define SIGNAL_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
POINTER_OF(signal, mabd_signal)

static uint64_t hash_class(uint64_t hash, const mabd_model_class* p) {
#define CLASS_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
RECORDS_OF(class, mabd_model_class)

static uint64_t hash_joint(uint64_t hash, const mabd_model_joint* p) {
#define JOINT_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
RECORDS_OF(joint, mabd_model_joint)

static uint64_t hash_piece(uint64_t hash, const mabd_joint_piece* p) {
#define PIECE_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
RECORDS_OF(piece, mabd_joint_piece)

static uint64_t hash_row(uint64_t hash, const mabd_row* p) {
#define ROW_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
RECORDS_OF(row, mabd_row)
#define hash_inside_row(hash, member, count) hash_row(hash, &(member))

static uint64_t hash_control(uint64_t hash, const mabd_control* p) {
#define CONTROL_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
RECORDS_OF(control, mabd_control)

static uint64_t hash_motor(uint64_t hash, const mabd_motor* p) {
#define MOTOR_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
RECORDS_OF(motor, mabd_motor)

static uint64_t hash_row_set(uint64_t hash, const mabd_row_set* p) {
#define ROW_SET_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
RECORDS_OF(row_set, mabd_row_set)

static uint64_t hash_force(uint64_t hash, const mabd_model_force* p) {
#define FORCE_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
RECORDS_OF(force, mabd_model_force)

static uint64_t hash_spring(uint64_t hash, const mabd_model_spring* p) {
#define SPRING_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
RECORDS_OF(spring, mabd_model_spring)

static uint64_t hash_point(uint64_t hash, const mabd_model_point* p) {
#define POINT_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
RECORDS_OF(point, mabd_model_point)

static uint64_t hash_script(uint64_t hash, const mabd_model_script* p) {
#define SCRIPT_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
RECORDS_OF(script, mabd_model_script)

static uint64_t hash_height_field(uint64_t hash, const mabd_height_field* p) {
#define HEIGHT_FIELD_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
POINTER_OF(height_field, mabd_height_field)

static uint64_t hash_collider(uint64_t hash, const mabd_model_collider* p) {
#define COLLIDER_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
RECORDS_OF(collider, mabd_model_collider)

static uint64_t hash_pair(uint64_t hash, const mabd_model_pair* p) {
#define PAIR_FIELD HASH_FIELD
#include "model/fields.def"
    return hash;
}
RECORDS_OF(pair, mabd_model_pair)

uint64_t mabd_model_compute_hash(const mabd_model* m) {
    const mabd_model* p = m;
    uint64_t hash = MABD_HASH_START;
#define MODEL_FIELD(kind, name, count, capacity, role, unit, meaning) HASH_##role(kind, name, count)
#include "model/fields.def"
    return hash;
}
