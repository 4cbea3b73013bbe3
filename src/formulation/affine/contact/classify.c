// SPDX-License-Identifier: Apache-2.0
// The way each contact is solved (affine/contact/contact.h), and the lists that follow from it.
//
// Components that touch each other are a group. A contact between moving bodies is eliminated in
// the block of the lighter one if that is much lighter and all such contacts of its group are of
// that kind, with no component that is load and support at the same time; else all contacts of the
// group are rows. If some group has rows, so have all other groups of small components.

#include "formulation/affine/contact/contact_classify.h"
#include "formulation/affine/limits.h"

#include <string.h>

enum { IS_LOAD = 1, IS_SUPPORT = 2, BY_ROWS = 4, LARGE = 8 };

static void add_index(mabd_list* list, int32_t value) {
    ((int32_t*)list->data)[list->count++] = value;
}

// ---- choice ------------------------------------------------------------------------------------

// The components of a contact. Returns their number.
static int both_components(const mabd_affine_contacts* c, const mabd_affine_contact* p,
                           int32_t both[2]) {
    both[0] = c->by_body.component[p->b];
    both[1] = p->moving ? c->by_body.component[p->a] : -1;
    return p->moving ? 2 : 1;
}

static void clear_components(mabd_affine_contacts* c) {
    for (int32_t i = 0; i < c->list.current.count; i++) {
        int32_t both[2];
        const int count = both_components(c, mabd_affine_contacts_at(c, i), both);
        for (int k = 0; k < count; k++) {
            c->by_component.role[both[k]] = 0;
            c->by_component.group[both[k]] = both[k];
            c->by_component.met[both[k]] = true;
        }
    }
}

// The lowest component of the group so far, with path compression.
static int32_t find_group(mabd_affine_contacts* c, int32_t i) {
    for (; c->by_component.group[i] != i; i = c->by_component.group[i])
        c->by_component.group[i] = c->by_component.group[c->by_component.group[i]];
    return i;
}

static void join_groups(mabd_affine_contacts* c) {
    for (int32_t i = 0; i < c->list.current.count; i++) {
        int32_t both[2];
        if (both_components(c, mabd_affine_contacts_at(c, i), both) < 2) continue;
        const int32_t a = find_group(c, both[1]), b = find_group(c, both[0]);
        c->by_component.group[a > b ? a : b] = a < b ? a : b;
    }
    for (int32_t i = 0; i < c->by_component.count; i++) {
        if (!c->by_component.met[i]) continue;
        c->by_component.group[i] = find_group(c, i);
        if (c->by_component.group[i] == i) add_index(&c->by_component.groups, i);
    }
}

static void find_roles(mabd_affine_contacts* c) {
    for (int32_t i = 0; i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        if (!p->moving) continue;
        uint8_t *a = &c->by_component.role[c->by_body.component[p->a]],
                *b = &c->by_component.role[c->by_body.component[p->b]];
        const bool same = c->by_body.component[p->a] == c->by_body.component[p->b];
        *a |= p->light && !same ? IS_SUPPORT : BY_ROWS;
        *b |= p->light && !same ? IS_LOAD : BY_ROWS;
    }
    for (int32_t i = 0; i < c->by_component.count; i++) {
        if (!c->by_component.met[i]) continue;
        const bool mixed =
            (c->by_component.role[i] & (IS_LOAD | IS_SUPPORT)) == (IS_LOAD | IS_SUPPORT);
        if (mixed || (c->by_component.role[i] & BY_ROWS))
            c->by_component.role[c->by_component.group[i]] |= BY_ROWS;
    }
}

// Groups with a component that is not small, or has many contacts.
static void find_large(mabd_affine_contacts* c) {
    for (int32_t i = 0; i < c->list.current.count; i++) {
        int32_t both[2];
        const int count = both_components(c, mabd_affine_contacts_at(c, i), both);
        for (int k = 0; k < count; k++) c->by_component.line[both[k]].count = 0;
    }
    for (int32_t i = 0; i < c->list.current.count; i++) {
        int32_t both[2];
        const int count = both_components(c, mabd_affine_contacts_at(c, i), both);
        for (int k = 0; k < count; k++) {
            const bool few = ++c->by_component.line[both[k]].count <= MABD_SMALL_MAX_CONTACTS;
            if (!few || !c->by_component.small[both[k]])
                c->by_component.role[c->by_component.group[both[k]]] |= LARGE;
        }
    }
}

// Each round of the search for eliminated contacts solves the whole system. If some group has rows,
// groups of small components cost less as rows, too.
static void follow_rows(mabd_affine_contacts* c) {
    const int32_t* groups = c->by_component.groups.data;
    bool any = false;
    for (int32_t i = 0; i < c->by_component.groups.count; i++) {
        c->by_component.free[groups[i]] = (c->by_component.role[groups[i]] & BY_ROWS) != 0;
        any |= c->by_component.free[groups[i]];
    }
    for (int32_t i = 0; any && i < c->by_component.groups.count; i++) {
        if (!(c->by_component.role[groups[i]] & LARGE)) c->by_component.role[groups[i]] |= BY_ROWS;
    }
}

static void choose_solution(mabd_affine_contacts* c) {
    clear_components(c);
    join_groups(c);
    find_roles(c);
    find_large(c);
    follow_rows(c);
    for (int32_t i = 0; i < c->list.current.count; i++) {
        mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        p->eliminated =
            !(c->by_component.role[c->by_component.group[c->by_body.component[p->b]]] & BY_ROWS);
    }
}

// ---- lists -------------------------------------------------------------------------------------

static mabd_status reserve_set(mabd_affine_contacts* c, mabd_affine_body_set* set, int64_t count) {
    MABD_TRY(mabd_list_reserve(&c->allocator, &set->bodies, sizeof(int32_t), count));
    return mabd_list_reserve(&c->allocator, &set->components, sizeof(int32_t), count);
}

// Reserve room for `count` saved contacts.
static mabd_status reserve_saved(mabd_affine_contacts* c, mabd_list* list, int32_t count) {
    return mabd_list_reserve(&c->allocator, list, sizeof(mabd_affine_saved_contact),
                             (int64_t)count - list->count);
}

// Entries of a contact in the list of rows.
static int32_t entries_of(const mabd_affine_contact* p) {
    return p->rolling > 0 || p->spinning > 0 ? 2 : 1;
}

static mabd_status reserve(mabd_affine_contacts* c) {
    const int64_t count = c->list.current.count;
    int64_t free = 0, moving = 0;
    for (int32_t i = 0; i < count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        free += p->eliminated ? 0 : entries_of(p);
        moving += p->moving && p->eliminated;
    }
    MABD_TRY(reserve_saved(c, &c->list.saved, c->list.current.count));
    MABD_TRY(reserve_saved(c, &c->list.last_reference, c->list.current.count));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->by_body.next, sizeof(int32_t), count));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->by_body.touched, sizeof(int32_t), count));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->rows.contacts, sizeof(int32_t), free));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->rows.ranges, sizeof(mabd_affine_contact_range),
                               c->by_component.groups.count));
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->support.contacts, sizeof(int32_t), moving));
    MABD_TRY(reserve_set(c, &c->rows.bodies, 2 * free));
    MABD_TRY(reserve_set(c, &c->support.loads, moving));
    MABD_TRY(reserve_set(c, &c->support.supports, moving));
    return mabd_list_reserve(&c->allocator, &c->by_body.eliminated, sizeof(mabd_vec12),
                             mabd_affine_most_rows(c->geometry->model) * (count - free));
}

static void clear_set(mabd_affine_contacts* c, mabd_affine_body_set* set) {
    const int32_t* bodies = set->bodies.data;
    for (int32_t i = 0; i < set->bodies.count; i++) c->by_body.place[bodies[i]] = -1;
    set->bodies.count = set->components.count = 0;
}

static void add_body(mabd_affine_contacts* c, mabd_affine_body_set* set, int32_t body) {
    if (c->by_body.place[body] >= 0) return;
    c->by_body.place[body] = 0;
    add_index(&set->bodies, body);
}

static void finish_set(mabd_affine_contacts* c, mabd_affine_body_set* set) {
    mabd_list_sort(&set->bodies);
    const int32_t* bodies = set->bodies.data;
    for (int32_t i = 0; i < set->bodies.count; i++) {
        c->by_body.place[bodies[i]] = i;
        add_index(&set->components, c->by_body.component[bodies[i]]);
    }
    mabd_list_sort(&set->components);
    int32_t *components = set->components.data, kept = 0;
    for (int32_t i = 0; i < set->components.count; i++) {
        if (i > 0 && components[i] == components[i - 1]) continue;
        components[kept++] = components[i];
    }
    set->components.count = kept;
}

static void list_eliminated(mabd_affine_contacts* c) {
    int32_t* next = c->by_body.next.data;
    for (int32_t i = c->list.current.count - 1; i >= 0; i--) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        if (!p->eliminated) continue;
        if (c->by_body.head[p->b] < 0) add_index(&c->by_body.touched, p->b);
        next[i] = c->by_body.head[p->b];
        c->by_body.head[p->b] = i;
    }
}

// Make a range for each group with rows; line.count becomes the place of its next contact.
static void list_ranges(mabd_affine_contacts* c) {
    const int32_t* groups = c->by_component.groups.data;
    for (int32_t i = 0; i < c->by_component.groups.count; i++)
        c->by_component.line[groups[i]].count = 0;
    for (int32_t i = 0; i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        c->by_component.line[c->by_component.group[c->by_body.component[p->b]]].count +=
            p->eliminated ? 0 : entries_of(p);
    }
    for (int large = 0; large < 2; large++) {
        for (int32_t i = 0; i < c->by_component.groups.count; i++) {
            mabd_affine_contact_line* line = &c->by_component.line[groups[i]];
            const bool is_large = (c->by_component.role[groups[i]] & LARGE) != 0;
            if (line->count == 0 || is_large != (large == 1)) continue;
            const mabd_affine_contact_range range = {c->rows.contacts.count, line->count,
                                                     !is_large};
            ((mabd_affine_contact_range*)c->rows.ranges.data)[c->rows.ranges.count++] = range;
            line->count = c->rows.contacts.count;
            c->rows.contacts.count += range.count;
        }
    }
}

static void list_bodies(mabd_affine_contacts* c) {
    list_ranges(c);
    for (int32_t i = 0; i < c->list.current.count; i++) {
        const mabd_affine_contact* p = mabd_affine_contacts_at(c, i);
        if (!p->eliminated) {
            int32_t* place =
                &c->by_component.line[c->by_component.group[c->by_body.component[p->b]]].count;
            ((int32_t*)c->rows.contacts.data)[(*place)++] = i;
            if (entries_of(p) > 1) ((int32_t*)c->rows.contacts.data)[(*place)++] = -1 - i;
            add_body(c, &c->rows.bodies, p->b);
            if (p->moving) add_body(c, &c->rows.bodies, p->a);
        } else if (p->moving) {
            add_index(&c->support.contacts, i);
            add_body(c, &c->support.loads, p->b);
            add_body(c, &c->support.supports, p->a);
        }
    }
    finish_set(c, &c->rows.bodies);
    finish_set(c, &c->support.loads);
    finish_set(c, &c->support.supports);
}

mabd_status mabd_affine_contacts_classify(mabd_affine_contacts* c) {
    memset(c->by_component.met, 0, (size_t)c->by_component.count * sizeof *c->by_component.met);
    const int32_t* touched = c->by_body.touched.data;
    for (int32_t i = 0; i < c->by_body.touched.count; i++) c->by_body.head[touched[i]] = -1;
    clear_set(c, &c->rows.bodies), clear_set(c, &c->support.loads),
        clear_set(c, &c->support.supports);
    c->by_component.groups.count = c->rows.ranges.count = c->rows.contacts.count =
        c->support.contacts.count = c->by_body.touched.count = c->by_body.next.count =
            c->by_body.eliminated.count = 0;
    MABD_TRY(mabd_list_reserve(&c->allocator, &c->by_component.groups, sizeof(int32_t),
                               c->list.current.count));
    choose_solution(c);
    MABD_TRY(reserve(c));
    list_eliminated(c);
    list_bodies(c);
    return MABD_OK;
}
