// SPDX-License-Identifier: Apache-2.0
// mabd: multi affine body dynamics. Everything public.
#pragma once

#include "mabd/base.h"
#include "mabd/batch.h"
#include "mabd/generate.h"
#include "mabd/gradient.h"
#include "mabd/model.h"
#include "mabd/record.h"
#include "mabd/render.h"
#include "mabd/scene.h"
#include "mabd/sim.h"
