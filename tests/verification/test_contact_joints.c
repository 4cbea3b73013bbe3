// SPDX-License-Identifier: Apache-2.0
// Trees and nets whose contacts need more than one dual solve per step: contacts of moving bodies
// of similar mass (rows of projected CG), and contacts of loads on a much heavier support. In
// either case a ball joint closes to round-off: its rows are linear, independent of the contacts.

#include "support/contact_rig.h"
#include "support/sanitized.h"

static const double round_off = 1e-12; // [m], for coordinates of 1 m, with a margin

/// The body that jointed links fall on: a free box or ball on the ground, its top at z = 0.2 m.
typedef struct contact_base {
    mabd_shape shape;
    mabd_real size[3];
    mabd_real mass; // [kg]
} contact_base;

static mabd_scene* scene_on(const contact_base* base) {
    mabd_scene* scene = contact_scene(CONTACT_GRAVITY);
    const contact_body body = {.shape = base->shape,
                               .size = {base->size[0], base->size[1], base->size[2]},
                               .mass = base->mass,
                               .friction = 0.5,
                               .position = {0, 0, 0.1}};
    contact_add_ground(scene, 0.5);
    contact_add(scene, &body);
    return scene;
}

/// Links touch the base and the ground, not each other.
static mabd_material link_material(void) {
    mabd_material material = mabd_default_material();
    material.category = 2;
    material.mask = 1;
    return material;
}

/// Build seven links of 0.3 m and less, branching in two twice, about 1 kg; level, above the base.
static mabd_model* tree_model(const contact_base* base) {
    mabd_error error = {0};
    mabd_scene* scene = scene_on(base);
    mabd_tree_def def = mabd_default_tree_def();
    def.depth = 3;
    def.length = 0.3;
    def.radius = 0.02;
    def.pinned = false;
    def.material = link_material();
    def.direction[0] = 1, def.direction[2] = 0;
    def.anchor[0] = -0.3, def.anchor[2] = 0.47;
    rig_check(mabd_generate_tree(scene, &def, &error), &error, "tree");
    mabd_model* model = rig_model(scene);
    cr_assert(eq(i64, mabd_model_plan_totals(model, MABD_COMPONENT_TREE).bodies, 7));
    return model;
}

/// Build 5 x 5 hubs 0.1 m apart, 65 links, above the middle of the base.
static mabd_model* net_model(const contact_base* base) {
    mabd_error error = {0};
    mabd_scene* scene = scene_on(base);
    mabd_net_def def = mabd_default_net_def();
    def.rows = def.columns = 5;
    def.pinned = MABD_NET_PIN_NONE;
    def.material = link_material();
    def.position[0] = -0.23, def.position[1] = -0.21, def.position[2] = 0.23;
    rig_check(mabd_generate_net(scene, &def, &error), &error, "net");
    mabd_model* model = rig_model(scene);
    cr_assert(eq(i64, mabd_model_plan_totals(model, MABD_COMPONENT_GRAPH).bodies, 65));
    return model;
}

/// Count the pressing contacts between the base and a link; the ground is body 0, the base body 1.
static int pushing_links(const mabd_sim* sim) {
    mabd_contact_info contacts[256];
    const int32_t count = mabd_sim_get_contacts(sim, 256, contacts);
    cr_assert(le(i32, count, 256));
    int pushing = 0;
    for (int32_t i = 0; i < count; i++) {
        const int32_t a = contacts[i].a, b = contacts[i].b;
        pushing += (a == 1 && b > 1) || (b == 1 && a > 1);
    }
    return pushing;
}

/// Run 0.6 s at 5 ms per step, sanitized 0.35 s: links press on the base in most steps after their
/// fall, joints are closed after each.
static void expect_closed(const char* what, mabd_model* model) {
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.005);
    mabd_sim* sim = rig_sim(model, &def);
    contact_watch watch = contact_watch_start(sim);
    int touching = 0;
    for (int i = 0; i < AMOUNT(120, 70); i++) {
        contact_watch_step(&watch, sim);
        touching += pushing_links(sim) > 0;
    }
    printf(
        "%s: joints open by %.1e m, energy gained %.1e J, %d of %d steps touch, %d not converged\n",
        what, watch.gap, watch.gained, touching, watch.steps, watch.unconverged);
    cr_expect(lt(int, AMOUNT(60, 15), touching), "%s", what);
    cr_expect(lt(dbl, watch.gap, round_off), "%s", what);
    rig_destroy(sim, model);
}

static const contact_base box = {MABD_SHAPE_BOX, {0.6, 0.6, 0.2}, 0};
static const contact_base ball = {MABD_SHAPE_SPHERE, {0.1, 0, 0}, 0};

static contact_base base_of(contact_base base, double mass) {
    base.mass = (mabd_real)mass;
    return base;
}

Test(contact_joints, a_tree_on_a_free_box_stays_closed) {
    const contact_base like = base_of(box, 0.3), heavy = base_of(box, 1e4);
    expect_closed("tree on a box of like mass", tree_model(&like));
    expect_closed("tree on a heavy box", tree_model(&heavy));
}

Test(contact_joints, a_net_on_a_free_ball_stays_closed) {
    const contact_base like = base_of(ball, 0.02), heavy = base_of(ball, 1e4);
    expect_closed("net on a ball of like mass", net_model(&like));
    expect_closed("net on a heavy ball", net_model(&heavy));
}
