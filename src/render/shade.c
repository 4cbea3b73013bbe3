// SPDX-License-Identifier: Apache-2.0
// Lambert under a key and a fill light, a sky that is brighter above than the bounce from the
// floor below, and a Blinn-Phong highlight with normalised energy:
//   rgb = albedo (A(n) open + K lit n.k + F n.f open) + K lit n.k (e+8)/8pi f0 (n.h)^e + rim

#include "render/shade.h"

static const float sky[3] = {0.50f, 0.54f, 0.60f};
static const float bounce[3] = {0.33f, 0.32f, 0.31f};
static const float key_color[3] = {1.20f, 1.16f, 1.10f};
static const float fill_color[3] = {0.20f, 0.23f, 0.27f};

static void store(mabd_vec3 v, float* out) {
    mabd_real s = 1 / mabd_v3_norm(v);
    out[0] = (float)(s * v.x), out[1] = (float)(s * v.y), out[2] = (float)(s * v.z);
}

mabd_lights mabd_lights_make(const mabd_view* view) {
    mabd_vec3 up = mabd_v3(0, 0, 1);
    // horizontal direction to the viewer; right is always horizontal
    mabd_vec3 back = mabd_v3_cross(view->right, up);
    mabd_vec3 key = mabd_v3(-0.50f * view->right.x + 0.50f * back.x,
                            -0.50f * view->right.y + 0.50f * back.y, 1);
    mabd_vec3 fill = mabd_v3(0.90f * view->right.x + 0.40f * back.x,
                             0.90f * view->right.y + 0.40f * back.y, (mabd_real)0.35);
    mabd_lights lights;
    lights.key_world = mabd_v3_scale(1 / mabd_v3_norm(key), key);
    store(mabd_view_direction(view, key), lights.key);
    store(mabd_view_direction(view, fill), lights.fill);
    store(mabd_view_direction(view, up), lights.up);
    return lights;
}

static float dot3(const float* a, const float* b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static float positive(float x) {
    return x > 0 ? x : 0;
}

// x^64 and x^12
static float highlight(float x) {
    float x2 = x * x, x4 = x2 * x2, x8 = x4 * x4, x16 = x8 * x8, x32 = x16 * x16;
    return 0.26f * x32 * x32 + 0.05f * x8 * x4;
}

void mabd_shade(const mabd_lights* lights, const float* albedo, const float* normal,
                const float* to_eye, float lit, float open, float* rgb) {
    float up = 0.5f + 0.5f * dot3(normal, lights->up);
    float key = positive(dot3(normal, lights->key)) * lit;
    float fill = positive(dot3(normal, lights->fill)) * open;

    float half[3];
    for (int k = 0; k < 3; k++) half[k] = lights->key[k] + to_eye[k];
    float length = sqrtf(dot3(half, half)), shine = 0;
    if (length > 0) shine = highlight(positive(dot3(normal, half)) / length) * lit;
    float edge = 1 - positive(dot3(normal, to_eye)), edge2 = edge * edge;
    float rim = 0.18f * edge2 * edge2 * open * up;

    for (int k = 0; k < 3; k++) {
        float ambient = (bounce[k] + up * (sky[k] - bounce[k])) * open;
        float diffuse = ambient + key_color[k] * key + fill_color[k] * fill;
        rgb[k] = albedo[k] * diffuse + key_color[k] * shine + rim;
    }
}

void mabd_shade_rod(const mabd_lights* lights, const float* albedo, const float* axis,
                    const float* to_eye, float lit, float* rgb) {
    static const float turn[3] = {-0.87f, 0, 0.87f}, weight[3] = {0.27f, 0.46f, 0.27f};
    // facing: the part of to_eye across the axis; side: across both
    float along = dot3(axis, axis) > 0 ? dot3(axis, to_eye) / dot3(axis, axis) : 0;
    float facing[3], side[3];
    for (int k = 0; k < 3; k++) facing[k] = to_eye[k] - along * axis[k];
    float length = sqrtf(dot3(facing, facing));
    for (int k = 0; k < 3; k++) facing[k] = length > 1e-6f ? facing[k] / length : to_eye[k];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        side[k] = axis[i] * facing[j] - axis[j] * facing[i];
    }
    length = sqrtf(dot3(side, side));
    rgb[0] = rgb[1] = rgb[2] = 0;
    for (int t = 0; t < 3; t++) {
        float n[3], color[3], s = length > 0 ? turn[t] / length : 0;
        float c = sqrtf(1 - turn[t] * turn[t]);
        for (int k = 0; k < 3; k++) n[k] = c * facing[k] + s * side[k];
        mabd_shade(lights, albedo, n, to_eye, lit, 0.9f, color);
        for (int k = 0; k < 3; k++) rgb[k] += weight[t] * color[k];
    }
}

uint8_t mabd_srgb(float linear) {
    // identity to 0.8, then a shoulder that tends to 1
    float x = linear > 0.8f ? 0.8f + 0.2f * (1 - expf((0.8f - linear) / 0.2f)) : linear;
    if (!(x > 0)) return 0;
    float s = x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
    return (uint8_t)(s >= 1 ? 255 : s * 255 + 0.5f);
}
