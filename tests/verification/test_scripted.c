// SPDX-License-Identifier: Apache-2.0
// Scripted bodies, and bodies that hang from them.
//
// A rod on a hinge that is moved along x by X(t), angle p from straight down, I about the hinge,
// centre at c:
//   I p'' = -m c (g sin p + X'' cos p)
//
// A rod on a turntable of speed W, hinged at radius r about the tangent, angle p from straight down
// to the outside; moments I about the hinge and J about its own line:
//   I p'' = W^2 (m c r + (I - J) sin p) cos p - m g c sin p
//
// Both equations are solved by RK4; the error must fall with order 1.8 or more. Young's modulus is
// 1e12 Pa.

#include "support/joint_rig.h"
#include "support/reference.h"
#include "support/rig.h"

#include <string.h>

#define H 0.01

static const double pi = 3.14159265358979323846, gravity = 9.81;
static const double length = 0.8, width = 0.05;

typedef struct rod {
    double mass, center, about_hinge, about_line;
} rod;

static rod make_rod(void) {
    rod r = {.mass = 1000 * length * width * width, .center = length / 2};
    r.about_hinge = r.mass * (length * length + width * width) / 12 + r.mass * r.center * r.center;
    r.about_line = r.mass * width * width / 6;
    return r;
}

// Add a rod that hangs from (x, 0, 0) at the angle p towards +x; hinge axis -y, so that p grows
// with the coordinate.
static void add_rod(mabd_scene* scene, int32_t base, double x, double p, const mabd_real* velocity,
                    const mabd_real* spin) {
    mabd_error error = {0};
    const mabd_real size[3] = {width, width, length}, axis[3] = {0, -1, 0};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def body = mabd_default_body_def();
    mabd_joint_def joint = mabd_default_joint_def();
    body.geom_count = 1;
    body.geoms = &geom;
    body.young = 1e12;
    body.position[0] = x + length / 2 * sin(p);
    body.position[2] = -length / 2 * cos(p);
    body.rotation[0] = cos(p / 2);
    body.rotation[2] = -sin(p / 2);
    memcpy(body.velocity, velocity, sizeof body.velocity);
    memcpy(body.angular_velocity, spin, sizeof body.angular_velocity);
    joint.type = MABD_JOINT_HINGE;
    joint.a = base;
    joint.b = rig_add_body(scene, &body);
    joint.anchor[0] = x;
    cr_assert(mabd_frame_from_axes(axis, NULL, joint.frame));
    rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
}

// Return the angle of the rod (body 1) in the vertical plane at the angle `turn` about z.
static double rod_angle(const mabd_sim* sim, double turn) {
    mabd_real rotation[8];
    const double down[3] = {0, 0, -1};
    double line[3];
    mabd_sim_get_state(sim, NULL, rotation, NULL, NULL);
    reference_rotate(rotation + 4, down, line);
    const double out = line[0] * cos(turn) + line[1] * sin(turn);
    const double side = line[1] * cos(turn) - line[0] * sin(turn);
    cr_assert(fabs(side) < 1e-8, "off the plane by %g", side);
    return atan2(out, -line[2]);
}

// ---- a moved pivot -----------------------------------------------------------------------------

static const double shake = 0.15,
                    shake_rate = 2 * 3.14159265358979323846 * 0.9; // X = A - A cos(u t)

// y = p, p', t
static void shaken_rate(const void* context, const double* y, double* dy) {
    const rod* r = context;
    const double acceleration = shake * shake_rate * shake_rate * cos(shake_rate * y[2]);
    dy[0] = y[1];
    dy[1] =
        -r->mass * r->center / r->about_hinge * (gravity * sin(y[0]) + acceleration * cos(y[0]));
    dy[2] = 1;
}

static double shaken_error(double h) {
    const rod r = make_rod();
    const mabd_real zero[3] = {0, 0, 0};
    mabd_scene* scene = rig_scene(-gravity);
    mabd_body_def slider = mabd_default_body_def();
    slider.motion = MABD_MOTION_SCRIPTED;
    slider.script.direction[0] = 2; // its length matters
    slider.script.translation = signal_sine(shake / 2, shake / 2, shake_rate / (2 * pi), -pi / 2);
    add_rod(scene, rig_add_body(scene, &slider), 0, 0.3, zero, zero);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    mabd_sim* sim = rig_sim(model, &def);
    double y[3] = {0.3, 0, 0}, worst = 0;
    for (int n = 1; n <= (int)lround(2 / h); n++) {
        mabd_real position[6];
        joint_run(sim, 1);
        mabd_sim_get_state(sim, position, NULL, NULL, NULL);
        cr_assert(fabs(position[0] - shake * (1 - cos(shake_rate * n * h))) < 1e-12);
        reference_rk4(shaken_rate, &r, 3, h / 10, 10, y);
        worst = fmax(worst, fabs(rod_angle(sim, 0) - y[0]));
    }
    rig_destroy(sim, model);
    return worst;
}

Test(scripted, a_shaken_pivot_drives_a_pendulum) {
    double errors[4];
    for (int k = 0; k < 4; k++) errors[k] = shaken_error(ldexp(H, -k));
    const double order = rig_order("shaken pendulum", H, 4, errors);
    cr_expect(order >= 1.8, "order %g", order);
    cr_expect(errors[3] < 1e-3, "%g", errors[3]);
}

// ---- a turntable -------------------------------------------------------------------------------

static const double table_speed = 5, table_radius = 0.3;

static void table_rate(const void* context, const double* y, double* dy) {
    const rod* r = context;
    const double W2 = table_speed * table_speed, s = sin(y[0]), c = cos(y[0]);
    dy[0] = y[1];
    dy[1] = (W2 * (r->mass * r->center * table_radius + (r->about_hinge - r->about_line) * s) * c -
             r->mass * gravity * r->center * s) /
            r->about_hinge;
}

static double table_error(double h) {
    const rod r = make_rod();
    const mabd_real velocity[3] = {0, table_speed * table_radius, 0}, spin[3] = {0, 0, table_speed};
    mabd_scene* scene = rig_scene(-gravity);
    mabd_body_def table = mabd_default_body_def();
    table.motion = MABD_MOTION_SCRIPTED;
    table.script.axis[2] = 3; // its length does not matter
    table.script.angle = signal_ramp(0, 1000 * table_speed, 0, 1000);
    add_rod(scene, rig_add_body(scene, &table), table_radius, 0, velocity, spin);
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_EXACT, h);
    mabd_sim* sim = rig_sim(model, &def);
    double y[2] = {0, 0}, worst = 0;
    for (int n = 1; n <= (int)lround(2 / h); n++) {
        joint_run(sim, 1);
        reference_rk4(table_rate, &r, 2, h / 10, 10, y);
        worst = fmax(worst, fabs(rod_angle(sim, table_speed * n * h) - y[0]));
    }
    cr_expect(lt(dbl, 0.01, y[0] * y[0] + y[1] * y[1])); // it has swung outwards
    rig_destroy(sim, model);
    return worst;
}

Test(scripted, a_turntable_swings_a_rod_out) {
    double errors[4];
    for (int k = 0; k < 4; k++) errors[k] = table_error(ldexp(H / 2, -k));
    // second order: with BDF2 on the coordinates up to 286 m/s^2
    const double factor = rig_square_bound("turntable", H / 2, 4, errors);
    cr_expect(factor < 250, "%g m/s^2", factor);
    cr_expect(errors[3] < 1.5e-4, "%g", errors[3]);
}

// A scripted body moves another one through a fixed joint, which closes to 1e-9 and carries m a.
Test(scripted, a_shaken_clamp_carries_its_body) {
    const double u = shake_rate;
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(0);
    const mabd_real size[3] = {0.1, 0.2, 0.15};
    const mabd_geom geom = mabd_geom_make(MABD_SHAPE_BOX, size, 1000);
    mabd_body_def slider = mabd_default_body_def(), body = mabd_default_body_def();
    slider.motion = MABD_MOTION_SCRIPTED;
    slider.script.direction[0] = 1;
    slider.script.translation = signal_sine(shake, shake, 0.9, -pi / 2);
    body.geom_count = 1;
    body.geoms = &geom;
    mabd_joint_def joint = mabd_default_joint_def();
    joint.type = MABD_JOINT_FIXED;
    joint.a = rig_add_body(scene, &slider);
    joint.b = rig_add_body(scene, &body);
    rig_check(mabd_scene_add_joint(scene, &joint, NULL, &error), &error, "joint");
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, H / 4);
    mabd_sim* sim = rig_sim(model, &def);
    for (int n = 1; n <= 400; n++) {
        mabd_real position[6], wrench[6];
        const double t = n * H / 4;
        joint_run(sim, 1);
        mabd_sim_get_state(sim, position, NULL, NULL, NULL);
        mabd_sim_get_joint_forces(sim, wrench);
        cr_assert(fabs(position[3] - shake * (1 - cos(u * t))) < 1e-9, "%g", position[3]);
        // (u h)^2 of the force 3 shake u^2 = 14 N
        if (t > 0.1)
            cr_assert(fabs(wrench[0] - 3 * shake * u * u * cos(u * t)) < 5e-3, "%g", wrench[0]);
    }
    rig_destroy(sim, model);
}

// Seven bodies are added with one script, a table: each follows it from its own start position.
Test(scripted, bodies_added_at_once_all_follow_their_script) {
    enum { COUNT = 7 };
    mabd_error error = {0};
    mabd_scene* scene = rig_scene(0);
    const mabd_real times[3] = {0, 0.5, 1}, values[3] = {0, 0.2, 1};
    mabd_body_def slider = mabd_default_body_def();
    slider.motion = MABD_MOTION_SCRIPTED;
    slider.script.direction[2] = 1;
    slider.script.translation = (mabd_signal){
        .kind = MABD_SIGNAL_TABLE, .point_count = 3, .times = times, .values = values};
    slider.script.axis[0] = 1;
    slider.script.angle = slider.script.translation;
    mabd_real position[3 * COUNT] = {0}, rotation[4 * COUNT];
    for (int i = 0; i < COUNT; i++) position[3 * i] = i;
    rig_check(
        mabd_scene_add_body_n(scene, &slider, COUNT, position, NULL, NULL, NULL, NULL, &error),
        &error, "sliders");
    mabd_model* model = rig_model(scene);
    const mabd_sim_def def = rig_def(MABD_PRESET_BALANCED, 0.05);
    mabd_sim* sim = rig_sim(model, &def);
    for (int n = 1; n <= 20; n++) {
        joint_run(sim, 1);
        const double t = 0.05 * n, s = t < 0.5 ? 0.4 * t : 0.2 + 1.6 * (t - 0.5);
        mabd_sim_get_state(sim, position, rotation, NULL, NULL);
        for (int i = 0; i < COUNT; i++) {
            cr_expect(lt(dbl, fabs(position[3 * i] - i), 1e-12), "body %d at %g s", i, t);
            cr_expect(lt(dbl, fabs(position[3 * i + 2] - s), 1e-12), "body %d at %g s", i, t);
            cr_expect(lt(dbl, fabs(rotation[4 * i + 1] - sin(s / 2)), 1e-12), "body %d at %g s", i,
                      t);
        }
    }
    rig_destroy(sim, model);
}
