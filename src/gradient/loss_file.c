// SPDX-License-Identifier: Apache-2.0
// Loss files (docs/guide/gradients.md): names and seconds become indices and steps.
//   {"parameters": [{"of": "start-velocity", "name": "ball", "component": "x", "lower": -5}],
//    "terms": [{"type": "point", "name": "ball", "at": 1, "target": [3, 0, 0], "weight": 2}]}
#include "base/list.h"
#include "gradient/gradient_defs.h"
#include "gradient/loss_term.h"
#include "import/json/json_document.h"
#include "import/json/json_internal.h"
#include "model/model_data.h"

#include <math.h>
#include <string.h>

// Relative difference of a time and a whole number of steps that is round-off of decimal numbers.
#define ROUNDING_TOLERANCE ((mabd_real)1e-9)

struct mabd_loss {
    mabd_allocator allocator;
    int64_t steps;
    mabd_list parameters; // mabd_parameter
    mabd_list terms;      // mabd_loss_term
    mabd_list values;     // mabd_real, of each parameter
    mabd_list entries;    // int32_t, of each parameter
};

// The functions of the reader get the first member.
typedef struct loss_reader {
    mabd_json_reader json;
    const mabd_model* model;
    mabd_real h;
    mabd_loss* loss;
    int32_t entry; // of the parameters
} loss_reader;

#define X(name, text) text,
static const char* const parameter_kinds[] = {MABD_PARAMETER_LIST(X)};
static const char* const loss_kinds[] = {MABD_LOSS_LIST(X)};
static const char* const control_kinds[] = {MABD_CONTROL_LIST(X)};
#undef X
static const char* const vector_parts[] = {"x", "y", "z"};
static const char* const inertia_parts[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
static const char* const spring_parts[] = {"stiffness", "damping", "length"};
static const char* const ground_parts[] = {"stiffness", "damping", "tangent", "friction"};
static const char* const force_parts[] = {"fx", "fy", "fz", "tx", "ty", "tz"};

// ---- members -----------------------------------------------------------------------------------

// Read a member that must be there, one of `names`.
static mabd_status read_choice(loss_reader* r, const mabd_json_node* node, const char* what,
                               const char* key, const char* const* names, int count, int* value) {
    mabd_json_node member;
    if (!mabd_json_member(node, key, &member)) {
        return mabd_json_missing(&r->json, node, what, key);
    }
    return mabd_json_choice(&r->json, node, key, names, count, value);
}

// Read a time as a number of steps, 0 .. steps; absent leaves *step unchanged.
static mabd_status read_step(loss_reader* r, const mabd_json_node* node, const char* key,
                             int64_t* step) {
    mabd_json_node member;
    mabd_real time = 0;
    if (!mabd_json_member(node, key, &member)) return MABD_OK;
    MABD_TRY(mabd_json_number(&r->json, &member, &time));
    const mabd_real count = time / r->h, whole = (mabd_real)floor(count + (mabd_real)0.5);
    const mabd_real end = r->h * (mabd_real)r->loss->steps;
    if (time < 0) {
        return mabd_json_fail(&r->json, &member, "%s: %.12g s is before the start", key,
                              (double)time);
    }
    if (whole > (mabd_real)r->loss->steps) {
        return mabd_json_fail(&r->json, &member, "%s: %.12g s is after the end of the run, %.12g s",
                              key, (double)time, (double)end);
    }
    if (fabs(count - whole) > ROUNDING_TOLERANCE * (1 + whole)) {
        return mabd_json_fail(&r->json, &member,
                              "%s: %.12g s is not a whole number of steps of %.12g s", key,
                              (double)time, (double)r->h);
    }
    *step = (int64_t)whole;
    return MABD_OK;
}

// Read the name of a body or a joint, which must be given unless `whole`: then it may be absent and
// *index becomes -1.
// Body or joint of a name, -1 = none; of copies a name alone is that of the first one.
static int32_t find_name(const mabd_model* m, bool body, const char* name) {
    char first[128];
    const int32_t own = body ? mabd_model_find_body(m, name) : mabd_model_find_joint(m, name);
    if (own >= 0 || mabd_model_copy_count(m) == 0) return own;
    snprintf(first, sizeof first, "0/%.120s", name);
    return body ? mabd_model_find_body(m, first) : mabd_model_find_joint(m, first);
}

static mabd_status read_name(loss_reader* r, const mabd_json_node* node, bool body, bool whole,
                             int32_t* index) {
    const char* name = NULL;
    mabd_json_node member;
    *index = -1;
    if (!mabd_json_member(node, "name", &member)) {
        if (whole) return MABD_OK;
        return mabd_json_missing(&r->json, node, "it", "name");
    }
    MABD_TRY(mabd_json_string(&r->json, &member, &name));
    *index = find_name(r->model, body, name);
    if (*index >= 0) return MABD_OK;
    return mabd_json_fail(&r->json, &member, "there is no %s named '%.80s'",
                          body ? "body" : "joint", name);
}

// Refuse a member that the kind does not use.
static mabd_status refuse(loss_reader* r, const mabd_json_node* node, const char* key,
                          const char* kind) {
    mabd_json_node member;
    if (!mabd_json_member(node, key, &member)) return MABD_OK;
    return mabd_json_fail(&r->json, &member, "'%s' has no meaning for '%s'", key, kind);
}

// Append an element to a list.
static mabd_status append(loss_reader* r, mabd_list* list, size_t element, const void* value) {
    if (mabd_list_reserve(&r->json.allocator, list, element, 1) != MABD_OK) {
        return mabd_json_no_memory(&r->json);
    }
    memcpy((char*)list->data + (size_t)list->count++ * element, value, element);
    return MABD_OK;
}

// ---- parameters --------------------------------------------------------------------------------

// The parameters of one entry: components times pieces.
typedef struct expansion {
    mabd_parameter base;
    int32_t first_component, components, pieces;
} expansion;

static int32_t count_of(const expansion* e) {
    return e->components * e->pieces;
}

// Member number i of an expansion: pieces of one component in sequence.
static mabd_parameter member_of(const expansion* e, int32_t i) {
    mabd_parameter p = e->base;
    const int64_t steps = e->base.last - e->base.first + 1, piece = i % e->pieces;
    p.component = e->first_component + i / e->pieces;
    p.first = e->base.first + piece * steps / e->pieces;
    p.last = e->base.first + (piece + 1) * steps / e->pieces - 1;
    return p;
}

// Find the control on an axis of a joint.
static mabd_status find_control(loss_reader* r, const mabd_json_node* node, mabd_parameter* p) {
    int kind = -1;
    MABD_TRY(mabd_json_choice(&r->json, node, "control", control_kinds, MABD_CONTROL_COUNT, &kind));
    const int32_t copies =
        mabd_model_copy_count(r->model) > 0 ? mabd_model_copy_count(r->model) : 1;
    const int32_t joints = mabd_model_joint_count(r->model) / copies;
    const int32_t controls = mabd_model_control_count(r->model);
    int32_t found = -1, count = 0;
    for (int32_t i = 0; i < controls; i++) {
        const mabd_control_info info = mabd_model_control(r->model, i);
        if (info.joint != p->index % joints || (int32_t)info.axis != p->axis) continue;
        if (kind >= 0 && (int)info.kind != kind) continue;
        if (count++ == 0) found = i;
    }
    if (count == 0) {
        return mabd_json_fail(&r->json, node, "that joint has no servo or motor on axis %s",
                              mabd_parameter_axes[p->axis]);
    }
    if (count > 1) return mabd_json_missing(&r->json, node, "an axis with two drives", "control");
    p->index = p->index / joints * controls + found;
    return MABD_OK;
}

static mabd_status read_owner(loss_reader* r, const mabd_json_node* node, mabd_parameter* p) {
    const mabd_parameter_traits* t = mabd_parameter_get_traits(p->kind);
    const char* kind = parameter_kinds[p->kind];
    const bool on_axis = t->owner == MABD_OWNER_AXIS || t->owner == MABD_OWNER_CONTROL;
    if (t->owner == MABD_OWNER_SPRING) {
        MABD_TRY(mabd_json_int(&r->json, node, "index", &p->index));
    } else {
        MABD_TRY(refuse(r, node, "index", kind));
    }
    if (t->owner == MABD_OWNER_NONE || t->owner >= MABD_OWNER_SPRING) {
        MABD_TRY(refuse(r, node, "name", kind));
    } else {
        MABD_TRY(read_name(r, node, t->owner == MABD_OWNER_BODY, t->whole, &p->index));
    }
    if (!on_axis) return refuse(r, node, "axis", kind);
    MABD_TRY(read_choice(r, node, kind, "axis", mabd_parameter_axes, MABD_AXIS_COUNT, &p->axis));
    return t->owner == MABD_OWNER_CONTROL ? find_control(r, node, p)
                                          : refuse(r, node, "control", kind);
}

static mabd_status read_component(loss_reader* r, const mabd_json_node* node, expansion* e) {
    const mabd_parameter_traits* t = mabd_parameter_get_traits(e->base.kind);
    const char* const* names = t->owner == MABD_OWNER_SPRING            ? spring_parts
                               : t->owner == MABD_OWNER_GROUND          ? ground_parts
                               : t->components == 3                     ? vector_parts
                               : e->base.kind == MABD_PARAMETER_INERTIA ? inertia_parts
                                                                        : force_parts;
    int component = -1;
    if (t->owner == MABD_OWNER_SPLINE) {
        int32_t value = -1;
        MABD_TRY(mabd_json_int(&r->json, node, "component", &value));
        e->first_component = value >= 0 ? value : 0;
        e->components = value >= 0 ? 1 : mabd_parameter_spline_count(r->model, e->base.index);
        if (e->components > 0) return MABD_OK;
        return mabd_json_fail(&r->json, node, "that joint has no spline");
    }
    if (t->components == 0) return refuse(r, node, "component", parameter_kinds[e->base.kind]);
    MABD_TRY(mabd_json_choice(&r->json, node, "component", names, t->components, &component));
    e->first_component = component >= 0 ? component : 0;
    e->components = component >= 0 ? 1 : t->components;
    return MABD_OK;
}

static mabd_status read_steps(loss_reader* r, const mabd_json_node* node, expansion* e) {
    const char* kind = parameter_kinds[e->base.kind];
    static const char* const keys[] = {"from", "to", "pieces"};
    if (!mabd_parameter_get_traits(e->base.kind)->steps) {
        for (int i = 0; i < 3; i++) MABD_TRY(refuse(r, node, keys[i], kind));
        return MABD_OK;
    }
    int64_t from = 0, to = r->loss->steps;
    MABD_TRY(read_step(r, node, "from", &from));
    MABD_TRY(read_step(r, node, "to", &to));
    MABD_TRY(mabd_json_int(&r->json, node, "pieces", &e->pieces));
    if (from >= to) return mabd_json_fail(&r->json, node, "%s: 'from' is not before 'to'", kind);
    if (e->pieces < 1 || e->pieces > to - from) {
        return mabd_json_fail(&r->json, node, "%s: %d pieces of %lld steps", kind, (int)e->pieces,
                              (long long)(to - from));
    }
    e->base.first = from + 1, e->base.last = to;
    return MABD_OK;
}

// Read one number for all members, or an array of one each: number i of it.
static mabd_status read_one_of(loss_reader* r, const mabd_json_node* node, const char* key,
                               int32_t count, int32_t i, mabd_real* value) {
    mabd_json_node member;
    if (!mabd_json_member(node, key, &member)) return MABD_OK;
    if (!json_is_array(member.value)) return mabd_json_number(&r->json, &member, value);
    if (json_array_size(member.value) != (size_t)count) {
        return mabd_json_fail(&r->json, &member, "%s: expected a number or %d of them, got %zu",
                              key, (int)count, json_array_size(member.value));
    }
    mabd_json_node element = mabd_json_element(&member, (size_t)i);
    return mabd_json_number(&r->json, &element, value);
}

// Add member i of an entry, checked against the model.
static mabd_status add_member(loss_reader* r, const mabd_json_node* node, const expansion* e,
                              int32_t i) {
    mabd_parameter p = member_of(e, i);
    const int32_t n = count_of(e);
    MABD_TRY(read_one_of(r, node, "lower", n, i, &p.lower));
    MABD_TRY(read_one_of(r, node, "upper", n, i, &p.upper));
    MABD_TRY(read_one_of(r, node, "scale", n, i, &p.scale));
    mabd_status status = mabd_parameter_check(r->model, r->loss->steps, &p, &r->json.error);
    if (status == MABD_ERR_UNAVAILABLE) status = MABD_ERR_INPUT;
    MABD_TRY(mabd_json_place(&r->json, node, status));
    mabd_real value = mabd_parameter_value(r->model, r->h, &p);
    MABD_TRY(read_one_of(r, node, "value", n, i, &value));
    MABD_TRY(append(r, &r->loss->parameters, sizeof p, &p));
    MABD_TRY(append(r, &r->loss->values, sizeof value, &value));
    return append(r, &r->loss->entries, sizeof r->entry, &r->entry);
}

static mabd_status read_parameter(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"of",      "name",  "index", "axis",   "component",
                                       "control", "from",  "to",    "pieces", "lower",
                                       "upper",   "scale", "value", NULL};
    loss_reader* r = (loss_reader*)reader;
    int kind = 0;
    MABD_TRY(mabd_json_only(reader, node, keys));
    MABD_TRY(
        read_choice(r, node, "a parameter", "of", parameter_kinds, MABD_PARAMETER_COUNT, &kind));
    expansion e = {mabd_default_parameter((mabd_parameter_kind)kind), 0, 1, 1};
    MABD_TRY(read_owner(r, node, &e.base));
    MABD_TRY(read_component(r, node, &e));
    MABD_TRY(read_steps(r, node, &e));
    for (int32_t i = 0; i < count_of(&e); i++) MABD_TRY(add_member(r, node, &e, i));
    r->entry++;
    return MABD_OK;
}

// ---- terms -------------------------------------------------------------------------------------

static mabd_status read_target(loss_reader* r, const mabd_json_node* node, mabd_loss_term* term) {
    const mabd_loss_traits* t = mabd_loss_get_traits(term->kind);
    if (term->kind == MABD_LOSS_ROTATION) {
        return mabd_json_rotation(&r->json, node, "target", term->target);
    }
    if (t->targets == 1) return mabd_json_real(&r->json, node, "target", term->target);
    return mabd_json_numbers(&r->json, node, "target", (size_t)t->targets, term->target);
}

// Read "at", or "from" and "to"; without them the end of the run.
static mabd_status read_states(loss_reader* r, const mabd_json_node* node, mabd_loss_term* term) {
    mabd_json_node at, from, to;
    const bool range = mabd_json_member(node, "from", &from) | mabd_json_member(node, "to", &to);
    if (mabd_json_member(node, "at", &at) && range) {
        return mabd_json_fail(&r->json, &at, "give 'at', or 'from' and 'to', not both");
    }
    term->first = range ? mabd_loss_get_traits(term->kind)->first : r->loss->steps;
    term->last = r->loss->steps;
    MABD_TRY(read_step(r, node, "at", &term->first));
    if (!range) term->last = term->first;
    MABD_TRY(read_step(r, node, "from", &term->first));
    return read_step(r, node, "to", &term->last);
}

static mabd_status read_term_owner(loss_reader* r, const mabd_json_node* node,
                                   mabd_loss_term* term) {
    const mabd_loss_traits* t = mabd_loss_get_traits(term->kind);
    const char* kind = loss_kinds[term->kind];
    if (t->owner == MABD_OWNER_NONE) {
        MABD_TRY(refuse(r, node, "name", kind));
    } else {
        MABD_TRY(read_name(r, node, t->owner == MABD_OWNER_BODY, false, &term->index));
    }
    if (t->parameter) {
        MABD_TRY(mabd_json_int(&r->json, node, "index", &term->index));
    } else {
        MABD_TRY(refuse(r, node, "index", kind));
    }
    if (!t->point) MABD_TRY(refuse(r, node, "point", kind));
    MABD_TRY(mabd_json_vec3(&r->json, node, "point", term->point));
    if (t->owner != MABD_OWNER_AXIS) return refuse(r, node, "axis", kind);
    if (!t->all_axes) {
        return read_choice(r, node, kind, "axis", mabd_parameter_axes, MABD_AXIS_COUNT,
                           &term->axis);
    }
    term->axis = -1;
    return mabd_json_choice(&r->json, node, "axis", mabd_parameter_axes, MABD_AXIS_COUNT,
                            &term->axis);
}

static mabd_status read_term(mabd_json_reader* reader, const mabd_json_node* node) {
    static const char* const keys[] = {"type", "name", "axis",   "point",  "index", "at",
                                       "from", "to",   "target", "weight", NULL};
    loss_reader* r = (loss_reader*)reader;
    int kind = 0;
    MABD_TRY(mabd_json_only(reader, node, keys));
    MABD_TRY(read_choice(r, node, "a term", "type", loss_kinds, MABD_LOSS_COUNT, &kind));
    mabd_loss_term term = mabd_default_loss_term((mabd_loss_kind)kind);
    if (term.kind == MABD_LOSS_USER) {
        return mabd_json_fail(reader, node, "'user' is a function of a program (mabd/gradient.h)");
    }
    MABD_TRY(read_term_owner(r, node, &term));
    MABD_TRY(read_states(r, node, &term));
    MABD_TRY(read_target(r, node, &term));
    MABD_TRY(mabd_json_not_negative(reader, node, "weight", &term.weight));
    MABD_TRY(
        mabd_json_place(reader, node,
                        mabd_loss_term_check(r->model, r->loss->steps, r->loss->parameters.count,
                                             false, &term, &reader->error)));
    return append(r, &r->loss->terms, sizeof term, &term);
}

// ---- the document ------------------------------------------------------------------------------

static mabd_status read_document(loss_reader* r, const mabd_json_node* root) {
    static const char* const keys[] = {"name", "parameters", "terms", "run", NULL};
    const char* name = NULL;
    mabd_json_node terms;
    MABD_TRY(mabd_json_only(&r->json, root, keys));
    MABD_TRY(mabd_json_text(&r->json, root, "name", &name));
    MABD_TRY(mabd_json_list(&r->json, root, "parameters", read_parameter));
    if (!mabd_json_member(root, "terms", &terms)) {
        return mabd_json_missing(&r->json, root, "a loss", "terms");
    }
    return mabd_json_list(&r->json, root, "terms", read_term);
}

// Fill a loss from a text.
static mabd_status fill(const mabd_model* model, mabd_real h, const mabd_json_source* text,
                        mabd_loss* loss, mabd_error* error) {
    loss_reader r = {.json = {.what = "loss", .allocator = loss->allocator},
                     .model = model,
                     .h = h,
                     .loss = loss};
    r.json.text = text->data;
    r.json.length = text->length;
    mabd_fail(&r.json.error, MABD_OK, "%s", "");
    json_t* document = NULL;
    mabd_status status = mabd_json_parse(&r.json, &document);
    if (status == MABD_OK) {
        const mabd_json_node root = {document, NULL, NULL, 0};
        status = read_document(&r, &root);
    }
    json_decref(document);
    mabd_json_release(&r.json);
    if (status != MABD_OK && error) {
        *error = r.json.error;
        error->status = status;
    }
    return status;
}

static mabd_status check_arguments(const mabd_model* model, mabd_real h, int64_t steps,
                                   const char* source, mabd_loss** loss, mabd_error* error) {
    if (loss) *loss = NULL;
    if (!model || !source || !loss || !(h > 0) || !isfinite(h) || steps < 1) {
        return mabd_fail(error, MABD_ERR_ARG,
                         "a model, a step h > 0, steps >= 1, a source and a result must be given");
    }
    return MABD_OK;
}

// Make a loss of a text, which is freed.
static mabd_status make(const mabd_model* model, mabd_real h, int64_t steps, mabd_json_source* text,
                        mabd_loss** loss, mabd_error* error) {
    const mabd_allocator allocator = model->allocator;
    mabd_loss* made = (mabd_loss*)mabd_alloc(&allocator, sizeof *made);
    mabd_status status = made ? MABD_OK : mabd_fail_memory(error, "reading the loss");
    if (made) {
        made->allocator = allocator;
        made->steps = steps;
        status = fill(model, h, text, made, error);
    }
    mabd_json_source_free(&allocator, text);
    if (status == MABD_OK) {
        *loss = made;
    } else {
        mabd_loss_destroy(made);
    }
    return status;
}

mabd_status mabd_loss_load(const mabd_model* model, mabd_real h, int64_t steps, const char* path,
                           mabd_loss** loss, mabd_error* error) {
    mabd_json_source text;
    MABD_TRY(check_arguments(model, h, steps, path, loss, error));
    MABD_TRY(mabd_json_source_read(&model->allocator, "loss", path, &text, error));
    return make(model, h, steps, &text, loss, error);
}

mabd_status mabd_loss_load_text(const mabd_model* model, mabd_real h, int64_t steps,
                                const char* text, size_t length, mabd_loss** loss,
                                mabd_error* error) {
    mabd_json_source copy;
    MABD_TRY(check_arguments(model, h, steps, text, loss, error));
    MABD_TRY(mabd_json_source_copy(&model->allocator, "loss", text, length, &copy, error));
    return make(model, h, steps, &copy, loss, error);
}

void mabd_loss_destroy(mabd_loss* loss) {
    if (!loss) return;
    const mabd_allocator allocator = loss->allocator;
    mabd_list_free(&allocator, &loss->parameters, sizeof(mabd_parameter));
    mabd_list_free(&allocator, &loss->terms, sizeof(mabd_loss_term));
    mabd_list_free(&allocator, &loss->values, sizeof(mabd_real));
    mabd_list_free(&allocator, &loss->entries, sizeof(int32_t));
    mabd_free(&allocator, loss, sizeof *loss);
}

mabd_gradient_def mabd_loss_gradient_def(const mabd_loss* loss) {
    mabd_gradient_def def = mabd_default_gradient_def();
    def.parameter_count = loss->parameters.count;
    def.parameters = (const mabd_parameter*)loss->parameters.data;
    def.term_count = loss->terms.count;
    def.terms = (const mabd_loss_term*)loss->terms.data;
    def.steps = loss->steps;
    return def;
}

const mabd_real* mabd_loss_values(const mabd_loss* loss) {
    return (const mabd_real*)loss->values.data;
}

int32_t mabd_loss_entry(const mabd_loss* loss, int32_t parameter) {
    return ((const int32_t*)loss->entries.data)[parameter];
}
