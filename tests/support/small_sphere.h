// SPDX-License-Identifier: Apache-2.0
// A Hoberman sphere of three rings: 48 bodies, 165 rows at cut joints of which 50 do not follow
// from others.
#pragma once

#include "support/rig.h"

static inline mabd_model* small_sphere_model(void) {
    mabd_scene* scene = rig_scene(0);
    mabd_hoberman_sphere_def def = mabd_default_hoberman_sphere_def();
    mabd_error error = {0};
    def.rings = 3, def.pairs = 8, def.spin = 6, def.velocity[0] = (mabd_real)0.5;
    rig_check(mabd_generate_hoberman_sphere(scene, &def, &error), &error, "sphere");
    return rig_model(scene);
}
