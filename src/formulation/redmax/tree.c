// SPDX-License-Identifier: Apache-2.0
// From a model to links.
//
// The string of a joint from body a to body b, by its axes x y z; T three slides, B a ball:
//
//   fixed -        rectangular Tx Ty   pin-in-slot Tx Ry   planar Tx Ty Rz
//   prismatic Tx   cylindrical Tx Rx   cartesian T         slot Tx B
//   hinge Rx       universal Rx Ry     ball B              free T B
//   axis T Rx      point-on-plane Tx Ty B
//
// These are the coordinates of joint/table.h: slides along the axes of a, then turns, of which the
// last is about an axis of b. If the tree reaches the joint from b, E_ba = E_ab^-1: the reversed
// string with negated axes. A node is a body without moments on T. A fixed joint is a link without
// freedom, so that its wrench is there like that of any other. A body that no joint connects to the
// ground hangs at it by T B, about its centre of mass. A scripted body is a slide and a hinge at
// the ground that follow its signals.

#include "formulation/redmax/redmax_tree.h"

#include <string.h>

#define STRING_MAX MABD_JOINT_MAX_FREEDOMS

/// One primitive of a string; axis: mabd_axis of its first freedom.
typedef struct string_entry {
    mabd_primitive kind;
    int axis;
    const mabd_joint_piece* piece; // null = a plain joint
    bool opens;                    // first of its piece: the frame of the piece is before it
    int label;                     // number of its first coordinate in a joint with pieces
} string_entry;
typedef struct joint_string {
    int count;
    string_entry entry[STRING_MAX];
} joint_string;

#define ENTRY(kind, axis)                                                                          \
    { MABD_PRIMITIVE_##kind, axis, NULL, false, 0 }
#define SCREW(axis) ENTRY(SCREW, MABD_AXIS_##axis)
#define SLIDES      ENTRY(TRANSLATION, MABD_AXIS_TX)
#define BALL        ENTRY(BALL, MABD_AXIS_RX)

static const joint_string strings[MABD_JOINT_TYPE_COUNT] = {
    [MABD_JOINT_FIXED] = {1, {ENTRY(FIXED, 0)}},
    [MABD_JOINT_PRISMATIC] = {1, {SCREW(TX)}},
    [MABD_JOINT_HINGE] = {1, {SCREW(RX)}},
    [MABD_JOINT_RECTANGULAR] = {2, {SCREW(TX), SCREW(TY)}},
    [MABD_JOINT_CYLINDRICAL] = {2, {SCREW(TX), SCREW(RX)}},
    [MABD_JOINT_PIN_IN_SLOT] = {2, {SCREW(TX), SCREW(RY)}},
    [MABD_JOINT_UNIVERSAL] = {2, {SCREW(RX), SCREW(RY)}},
    [MABD_JOINT_CARTESIAN] = {1, {SLIDES}},
    [MABD_JOINT_PLANAR] = {3, {SCREW(TX), SCREW(TY), SCREW(RZ)}},
    [MABD_JOINT_BALL] = {1, {BALL}},
    [MABD_JOINT_SLOT] = {2, {SCREW(TX), BALL}},
    [MABD_JOINT_FREE] = {2, {SLIDES, BALL}},
    [MABD_JOINT_AXIS] = {2, {SLIDES, SCREW(RX)}},
    [MABD_JOINT_POINT_ON_PLANE] = {3, {SCREW(TX), SCREW(TY), BALL}},
    [MABD_JOINT_SCREW] = {1, {SCREW(RX)}},
    [MABD_JOINT_SPLINE_CURVE] = {1, {ENTRY(CURVE, 0)}},
    [MABD_JOINT_SPLINE_SURFACE] = {1, {ENTRY(SURFACE, 0)}},
};

static int freedoms_of(mabd_primitive kind) {
    static const int count[] = {
        [MABD_PRIMITIVE_FIXED] = 0, [MABD_PRIMITIVE_SCREW] = 1, [MABD_PRIMITIVE_TRANSLATION] = 3,
        [MABD_PRIMITIVE_BALL] = 3,  [MABD_PRIMITIVE_CURVE] = 1, [MABD_PRIMITIVE_SURFACE] = 2};
    return count[kind];
}

static bool is_path(mabd_primitive kind) {
    return kind == MABD_PRIMITIVE_CURVE || kind == MABD_PRIMITIVE_SURFACE;
}

// The strings of all pieces of a joint, one behind the other.
static joint_string pieces_of(const mabd_model* m, const mabd_model_joint* joint) {
    joint_string out = {0};
    int label = 0;
    for (int32_t i = joint->piece_first; i < joint->piece_first + joint->piece_count; i++) {
        const joint_string* own = &strings[m->pieces[i].type];
        for (int k = 0; k < own->count; k++) {
            string_entry* entry = &out.entry[out.count++];
            *entry = own->entry[k];
            entry->piece = &m->pieces[i], entry->opens = k == 0, entry->label = label;
            label += freedoms_of(entry->kind);
        }
    }
    return out;
}

// True if a slide of a joint may be held or is a guide: then its slides are links of their own.
static bool has_held_slide(const mabd_row_set* set) {
    bool held = false;
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        const bool own = c->rigid || c->law || c->pin.friction > 0;
        held |= own && set->control_row[r].kind == MABD_ROW_SLIDE;
    }
    return held;
}

static joint_string string_of(const mabd_model* m, const mabd_model_joint* joint) {
    if (joint->piece_count > 0) return pieces_of(m, joint);
    joint_string s = strings[joint->type];
    if (s.entry[0].kind != MABD_PRIMITIVE_TRANSLATION) return s;
    if (!has_held_slide(&m->row_sets[joint->row_set])) return s;
    const joint_string slides = {3, {SCREW(TX), SCREW(TY), SCREW(TZ)}};
    joint_string out = slides;
    for (int i = 1; i < s.count; i++) out.entry[out.count++] = s.entry[i];
    return out;
}

// ---- strings -----------------------------------------------------------------------------------

/// Work on one part; links and freedoms are only counted while sim is null.
typedef struct builder {
    const mabd_model* model;
    const mabd_joint_tree* graph;
    mabd_redmax_sim* sim;
    mabd_redmax_counts n;
} builder;

static mabd_spatial axis_of(int axis, mabd_real sign) {
    mabd_real e[6] = {0};
    e[axis < 3 ? axis + 3 : axis - 3] = sign; // slides are the linear part
    return mabd_sp_load(e);
}

static mabd_frame identity(void) {
    const mabd_frame E = {mabd_m3_identity(), mabd_v3(0, 0, 0)};
    return E;
}

// Add a link with its freedoms; returns its number.
static int32_t add_link(builder* w, const string_entry* entry, int32_t parent, mabd_frame rest) {
    const int32_t index = w->n.links++, count = freedoms_of(entry->kind);
    const bool ball = entry->kind == MABD_PRIMITIVE_BALL, path = is_path(entry->kind);
    if (w->sim) {
        w->sim->links[index] = (mabd_redmax_link){.kind = entry->kind,
                                                  .parent = parent,
                                                  .body = -1,
                                                  .share_of = -1,
                                                  .joint = -1,
                                                  .first = w->n.freedoms,
                                                  .count = count,
                                                  .ball = ball ? w->n.balls : -1,
                                                  .loop = -1,
                                                  .spring = -1,
                                                  .path = path ? w->n.paths : -1,
                                                  .piece = entry->piece,
                                                  .rest = rest,
                                                  .S = axis_of(entry->axis, 1),
                                                  .principal = identity()};
        for (int32_t k = 0; k < count; k++) {
            w->sim->freedoms[w->n.freedoms + k] = (mabd_redmax_freedom){
                .link = index, .axis = -1, .coordinate = -1, .motor = -1, .law = -1};
        }
    }
    w->n.freedoms += count, w->n.balls += ball, w->n.paths += path;
    return index;
}

// Give a link the inertia of a body whose principal frame in the link frame is P.
static void load_link(builder* w, int32_t link, int32_t body, mabd_frame P) {
    const mabd_model_class* c = &w->model->classes[w->model->body_class[body]];
    mabd_redmax_link* own = &w->sim->links[link];
    const mabd_mat3 moments =
        mabd_m3(mabd_v3(c->principal[0], 0, 0), mabd_v3(0, c->principal[1], 0),
                mabd_v3(0, 0, c->principal[2]));
    const mabd_mat3 turned = mabd_m3_product(mabd_m3_product(P.R, moments), mabd_m3_transpose(P.R));
    const mabd_mat3 arm = mabd_m3_skew(P.p);
    own->principal = P;
    own->M.mass = c->material.mass;
    own->M.mc = mabd_v3_scale(own->M.mass, P.p);
    own->M.Io = mabd_m3_axpy(-own->M.mass, mabd_m3_product(arm, arm), turned);
}

// Let a link carry a body, or a share of one that an earlier link carries.
static void carry(builder* w, int32_t link, int32_t body, mabd_frame P) {
    if (!w->sim) return;
    mabd_redmax_link* own = &w->sim->links[link];
    load_link(w, link, body, P);
    if (w->sim->body_link[body] >= 0) {
        own->share_of = body;
        w->sim->links[w->sim->body_link[body]].shares++;
        return;
    }
    own->body = body, own->drag = w->model->classes[w->model->body_class[body]].material.drag;
    w->sim->body_link[body] = link;
}

// ---- roots -------------------------------------------------------------------------------------

static mabd_frame frame_of(const mabd_model* m, int32_t body, const mabd_model_start* user) {
    const mabd_rigid_state s = mabd_rigid_from_user(&m->classes[m->body_class[body]], user);
    const mabd_frame E = {mabd_q_matrix(s.q), s.c};
    return E;
}

static void set_script(builder* w, int32_t link, mabd_spatial S, const mabd_signal* signal) {
    if (!w->sim) return;
    mabd_redmax_link* own = &w->sim->links[link];
    own->S = S;
    w->sim->freedoms[own->first].prescribed = w->sim->freedoms[own->first].held = true;
    w->sim->freedoms[own->first].script = signal;
}

// Add the links of a scripted body. Its principal frame in the last one, or in the world if it
// has no signal, is written to *principal. Returns the link, -1 = ground.
static int32_t add_script(builder* w, const mabd_model_script* script, mabd_frame* principal) {
    const mabd_model* m = w->model;
    const string_entry screw = SCREW(TX);
    mabd_model_start still = mabd_model_script_pose(m, script, 0, 0);
    mabd_frame rest = identity();
    int32_t link = -1;
    if (!script->translation && !script->angle) {
        *principal = frame_of(m, script->body, &still);
        return -1;
    }
    rest.p = script->translation ? script->pivot : mabd_v3_load(still.position);
    if (script->translation) {
        link = add_link(w, &screw, link, rest);
        set_script(w, link, mabd_sp(mabd_v3(0, 0, 0), script->direction), script->translation);
        rest.p = mabd_v3(0, 0, 0);
    }
    if (script->angle) {
        link = add_link(w, &screw, link, rest);
        set_script(w, link, mabd_sp(script->axis, mabd_v3(0, 0, 0)), script->angle);
    }
    memset(still.position, 0, sizeof still.position);
    *principal = frame_of(m, script->body, &still);
    return link;
}

// The link and principal frame of a body of the ground.
static int32_t ground_link(builder* w, int32_t body, mabd_frame* principal) {
    const mabd_model* m = w->model;
    *principal = identity();
    if (body == m->body_count) return -1;
    for (int32_t i = 0; i < m->script_count; i++) {
        if (m->scripts[i].body == body) return add_script(w, &m->scripts[i], principal);
    }
    *principal = frame_of(m, body, &m->start[body]);
    return -1;
}

// ---- joints ------------------------------------------------------------------------------------

// Freedom of an axis of a joint; null if the string has none there.
static mabd_redmax_freedom* find_axis(builder* w, int32_t from, int32_t joint, int axis) {
    for (int32_t k = from; k < w->n.freedoms; k++) {
        mabd_redmax_freedom* f = &w->sim->freedoms[k];
        if (f->axis == axis && w->sim->links[f->link].joint == joint) return f;
    }
    return NULL;
}

static int axis_of_row(const mabd_row* row) {
    return row->kind == MABD_ROW_SLIDE ? row->axis : row->axis + 3;
}

// True if a control of a joint needs a branch: a law, or a rigid servo on a rotation vector.
static bool has_branch(const mabd_row_set* set, int32_t r) {
    return set->control[r].law ||
           (set->control[r].rigid && set->control_row[r].kind == MABD_ROW_VECTOR);
}

// Bound of the compliance of one axis of a joint, of both bodies if they were free [1/kg] or
// [1/(kg m^2)].
static mabd_real yield_of(const mabd_model* m, const mabd_model_joint* joint, bool slide) {
    const int32_t bodies[2] = {joint->a, joint->b};
    const mabd_real* anchors[2] = {joint->Xa, joint->Xb};
    mabd_real sum = 0;
    for (int side = 0; side < 2; side++) {
        if (m->body_motion[bodies[side]] != MABD_MOTION_DYNAMIC) continue;
        const mabd_model_class* c = &m->classes[m->body_class[bodies[side]]];
        const mabd_vec3 arm = mabd_v3_load(anchors[side]);
        mabd_real least = c->principal[0];
        for (int k = 1; k < 3; k++) least = c->principal[k] < least ? c->principal[k] : least;
        sum += slide ? 1 / c->material.mass + mabd_v3_dot(arm, arm) / least : 1 / least;
    }
    return sum;
}

static void add_law(builder* w, int32_t joint, mabd_redmax_freedom* f) {
    const mabd_redmax_law law = {
        .freedom = (int32_t)(f - w->sim->freedoms),
        .yield = yield_of(w->model, &w->model->joints[joint], f->axis < MABD_AXIS_RX)};
    f->law = w->n.laws;
    w->sim->laws[w->n.laws] = law;
}

// Connect the controls and motors of a joint with the freedoms of its string.
static void set_laws(builder* w, int32_t from, int32_t joint) {
    const mabd_model_joint* own = &w->model->joints[joint];
    const mabd_row_set* set = &w->model->row_sets[own->row_set];
    for (int32_t r = 0; r < set->control_count; r++) {
        const mabd_control* c = &set->control[r];
        const bool branch = has_branch(set, r);
        if (w->sim) {
            mabd_redmax_freedom* f = find_axis(w, from, joint, axis_of_row(&set->control_row[r]));
            f->control = c, f->coordinate = own->coordinate + r;
            f->prescribed = f->held = c->rigid && !branch;
            f->k = c->stiffness, f->d = c->damping, f->I = c->armature;
            f->bound = c->friction;
            w->sim->links[f->link].laws = true;
            if (branch) add_law(w, joint, f);
        }
        w->n.laws += branch;
    }
    if (!w->sim) return;
    for (int32_t r = 0; r < set->motor_count; r++) {
        mabd_redmax_freedom* f = find_axis(w, from, joint, axis_of_row(&set->motor[r].row));
        f->engine = &set->motor[r], f->motor = w->sim->inputs.joint_motor[joint] + r;
        w->sim->links[f->link].laws = true;
    }
}

// Chart of a ball in the string of a joint.
static int32_t chart_of(const builder* w, const string_entry* entry, int32_t joint) {
    return entry->piece ? entry->piece->chart : w->model->joints[joint].chart;
}

// Set axes and direction of a link of a joint.
static void set_link(builder* w, int32_t link, const string_entry* entry, int32_t joint,
                     bool reversed) {
    if (!w->sim) return;
    mabd_redmax_link* own = &w->sim->links[link];
    const mabd_real sign = reversed ? -1 : 1;
    own->joint = joint, own->reversed = reversed;
    own->S = axis_of(entry->axis, sign);
    if (entry->kind == MABD_PRIMITIVE_TRANSLATION) own->S.v.x = sign;
    if (entry->piece && entry->piece->type == MABD_JOINT_SCREW) {
        own->S.v = mabd_v3_scale(entry->piece->pitch, own->S.w);
    }
    if (own->ball >= 0) own->chart = chart_of(w, entry, joint);
    const bool composite = w->model->joints[joint].type > MABD_JOINT_SCREW;
    for (int32_t k = 0; k < own->count; k++) {
        w->sim->freedoms[own->first + k].axis = (composite ? entry->label : entry->axis) + k;
    }
}

// The frame of a piece in the frame behind the one before.
static mabd_frame piece_frame(const string_entry* entry) {
    const mabd_joint_piece* piece = entry->piece;
    mabd_frame E = identity();
    if (!piece || !entry->opens) return E;
    E.R = mabd_q_matrix(mabd_q_load(piece->rotation)), E.p = mabd_v3_load(piece->position);
    return E;
}

// Add the string of a joint from a link, in whose frame the parent's principal frame is P.
static void add_joint(builder* w, int32_t parent, mabd_frame P, int32_t joint, int32_t body) {
    const mabd_model_joint* own = &w->model->joints[joint];
    const joint_string string = string_of(w->model, own);
    const bool reversed = own->a == body;
    const int32_t from = w->n.freedoms;
    mabd_joint_view view;
    mabd_model_joint_view(w->model, own, &view);
    const mabd_frame on_a = {view.Fa, view.Xa}, on_b = {view.Fb, view.Xb};
    mabd_frame rest = mabd_frame_product(&P, reversed ? &on_b : &on_a), end = on_b;
    int32_t link = parent;
    for (int i = 0; i < string.count; i++) {
        const string_entry* entry = &string.entry[reversed ? string.count - 1 - i : i];
        const mabd_frame own_frame = piece_frame(entry);
        if (!reversed) rest = mabd_frame_product(&rest, &own_frame);
        link = add_link(w, entry, link, rest);
        w->n.charts +=
            entry->kind == MABD_PRIMITIVE_BALL && chart_of(w, entry, joint) != MABD_CHART_LOCAL;
        set_link(w, link, entry, joint, reversed);
        rest = reversed ? mabd_frame_inverse(&own_frame) : identity();
        if (reversed) end = mabd_frame_product(&on_a, &own_frame); // that of the first piece stays
    }
    carry(w, link, body, mabd_frame_inverse(&end));
    if (w->sim) w->sim->links[link].last = true, w->sim->joint_link[joint] = link;
    set_laws(w, from, joint);
}

// Add a body by the joint through which the tree reaches it.
static void add_body(builder* w, int32_t body) {
    const mabd_tree* tree = &w->graph->tree;
    const int32_t parent = tree->parent[body], joint = tree->parent_joint[body];
    if (joint < 0) {
        const joint_string* free = &strings[MABD_JOINT_FREE];
        const bool node = mabd_model_is_node(w->model, body); // slides only, and no moments
        int32_t link = -1;
        for (int i = 0; i < (node ? 1 : free->count); i++) {
            link = add_link(w, &free->entry[i], link, identity());
            if (w->sim && i == 0) w->sim->links[link].S.v.x = 1;
        }
        carry(w, link, body, identity());
        const mabd_vec3 none = mabd_v3(0, 0, 0);
        if (w->sim && node) w->sim->links[link].M.Io = mabd_m3(none, none, none);
        return;
    }
    mabd_frame P = identity();
    int32_t link = -1;
    if (parent >= 0) {
        if (w->sim) link = w->sim->body_link[parent], P = w->sim->links[link].principal;
    } else {
        const mabd_model_joint* own = &w->model->joints[joint];
        link = ground_link(w, own->a == body ? own->b : own->a, &P);
    }
    add_joint(w, link, P, joint, body);
}

// Add the string of a cut joint, with a share of one of its bodies (cuts.c).
static void add_cut(builder* w, int32_t joint) {
    const mabd_model_joint* own = &w->model->joints[joint];
    const int32_t body = mabd_redmax_cut_body(w->model, own);
    const int32_t other = own->a == body ? own->b : own->a;
    mabd_frame P = identity();
    int32_t link = -1;
    if (w->model->body_motion[other] != MABD_MOTION_DYNAMIC) {
        link = ground_link(w, other, &P);
    } else if (w->sim) {
        link = w->sim->body_link[other], P = w->sim->links[link].principal;
    }
    add_joint(w, link, P, joint, body);
}

// ---- parts -------------------------------------------------------------------------------------

// Divide the inertia of a body that is cut among its links.
static void divide_bodies(mabd_redmax_sim* sim, const mabd_redmax_part* part) {
    for (int32_t i = part->link_first; i < part->link_first + part->link_count; i++) {
        mabd_redmax_link* link = &sim->links[i];
        const int32_t main = link->share_of >= 0 ? sim->body_link[link->share_of] : i;
        const mabd_real share = 1 / (mabd_real)(1 + sim->links[main].shares);
        if (sim->links[main].shares == 0) continue;
        link->M.mass *= share;
        link->M.mc = mabd_v3_scale(share, link->M.mc);
        const mabd_mat3 own = link->M.Io;
        link->M.Io = mabd_m3_axpy(share - 1, own, own);
    }
}

// True if a force on the bodies of a part depends on their poses, or turns with them.
static void judge_forces(const mabd_redmax_sim* sim, mabd_redmax_part* part, int32_t body) {
    const mabd_model* m = sim->model;
    for (int32_t i = sim->body_force[body]; i < sim->body_force[body + 1]; i++) {
        part->poses |= !m->forces[i].body_frame;
        part->driven |= m->forces[i].body_frame;
    }
    part->poses |= m->wind != NULL && m->classes[m->body_class[body]].material.drag > 0;
}

// Length of a link: from its parent's frame, and to its centre.
static mabd_real link_length(const mabd_redmax_link* link) {
    return mabd_v3_norm(link->rest.p) + mabd_v3_norm(link->principal.p);
}

// Lengths, weight and reach of a part. `up` (links) holds the length of the way from the ground.
static void measure_part(mabd_redmax_sim* sim, mabd_redmax_part* part) {
    mabd_real weight = 0, longest = 0;
    for (int32_t i = part->link_first; i < part->link_first + part->link_count; i++) {
        const mabd_redmax_link* link = &sim->links[i];
        const mabd_real g = mabd_v3_norm(mabd_v3_load(sim->model->gravity));
        mabd_real* way = sim->up + i;
        *way = link_length(link) + (link->parent >= 0 ? sim->up[link->parent] : 0);
        if (*way > longest) longest = *way;
        weight += link->M.mass * g;
        part->has_charts |= link->ball >= 0 && link->chart != MABD_CHART_LOCAL;
        if (link->body >= 0) judge_forces(sim, part, link->body), part->body_count++;
        for (int32_t k = link->first; k < link->first + link->count; k++) {
            const mabd_control* c = sim->freedoms[k].control;
            part->driven |= sim->freedoms[k].prescribed;
            part->pins |= c && c->pin.friction > 0;
            part->frictions |= c && (c->friction > 0 || c->pin.friction > 0);
        }
    }
    part->reach = weight * longest;
    const mabd_real length = longest > 0 ? longest / (mabd_real)part->link_count : 1;
    for (int32_t k = part->freedom_first; k < part->freedom_first + part->freedom_count; k++) {
        mabd_redmax_freedom* f = &sim->freedoms[k];
        const mabd_redmax_link* link = &sim->links[f->link];
        const bool slide =
            link->kind == MABD_PRIMITIVE_TRANSLATION ||
            (link->kind == MABD_PRIMITIVE_SCREW && mabd_v3_dot(link->S.w, link->S.w) == 0);
        f->length = slide ? length : 1;
    }
}

static mabd_redmax_counts walk(builder* w) {
    const mabd_tree* tree = &w->graph->tree;
    for (int32_t i = 0; i < tree->component_count; i++) {
        const mabd_tree_component* c = &tree->components[i];
        const mabd_redmax_counts before = w->n;
        for (int32_t k = c->body_count - 1; k >= 0; k--)
            add_body(w, tree->order[c->body_first + k]);
        for (int32_t k = c->cut_first; k < c->cut_first + c->cut_count; k++) {
            if (mabd_redmax_cuts_body(w->model, tree->cuts[k])) add_cut(w, tree->cuts[k]);
        }
        if (w->sim) {
            w->sim->parts[i] =
                (mabd_redmax_part){.structure = w->sim->parts[i].structure, // if refilled
                                   .link_first = before.links,
                                   .link_count = w->n.links - before.links,
                                   .freedom_first = before.freedoms,
                                   .freedom_count = w->n.freedoms - before.freedoms,
                                   .law_first = before.laws,
                                   .law_count = w->n.laws - before.laws};
            divide_bodies(w->sim, &w->sim->parts[i]);
            measure_part(w->sim, &w->sim->parts[i]);
        }
    }
    w->n.parts = tree->component_count;
    return w->n;
}

mabd_redmax_counts mabd_redmax_count(const mabd_model* model, const mabd_joint_tree* graph) {
    builder w = {.model = model, .graph = graph};
    mabd_redmax_counts n = walk(&w);
    mabd_redmax_count_cuts(model, &graph->tree, &n);
    return n;
}

static void map_model(mabd_redmax_sim* sim) {
    const mabd_model* m = sim->model;
    for (int32_t i = 0; i <= m->body_count; i++) sim->body_link[i] = sim->body_script[i] = -1;
    for (int32_t i = 0; i < m->script_count; i++) sim->body_script[m->scripts[i].body] = i;
    for (int32_t i = 0, at = 0; i <= m->body_count; i++) { // forces are sorted by body
        while (at < m->force_count && m->forces[at].body < i) at++;
        sim->body_force[i] = at;
    }
    for (int32_t j = 0; j < m->joint_count; j++) sim->joint_link[j] = -1;
}

void mabd_redmax_fill(mabd_redmax_sim* sim, const mabd_joint_tree* graph) {
    builder w = {.model = sim->model, .graph = graph, .sim = sim};
    map_model(sim);
    walk(&w);
    mabd_redmax_fill_cuts(sim, &graph->tree);
    mabd_redmax_fill_springs(sim, &graph->tree);
}
