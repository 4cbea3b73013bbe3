// SPDX-License-Identifier: Apache-2.0
#include "cli/gradient/gradient_setup.h"

#include "cli/cli.h"
#include "cli/path_use.h"
#include "cli/run_extra.h"
#include "mabd/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char* const gradient_run_without[] = {
    "out", "every", "json", "checkpoint", "checkpoint-every", "resume", NULL};

mabd_formulation gradient_run_formulation(void) {
    for (int f = 0; f < MABD_FORMULATION_COUNT; f++) {
        if (mabd_formulation_get_info((mabd_formulation)f).can & MABD_CAN_GRADIENT) {
            return (mabd_formulation)f;
        }
    }
    return MABD_FORMULATION_AFFINE;
}

// ---- start -------------------------------------------------------------------------------------

// A run must end at a state: a duration that is no whole number of steps is refused, not rounded.
static int count_steps(gradient_run* run) {
    double duration = 0;
    const double h = (double)run->def.h;
    const int code = run_count_steps(&run->options, &run->loaded, h, &run->steps, &duration);
    if (code != CLI_OK) return code;
    if (run->steps < 1)
        return run_options_say(&run->options, "there are no steps to differentiate");
    if (fabs((double)run->steps * h - duration) <= 1e-9 * duration) return CLI_OK;
    char text[160];
    snprintf(text, sizeof(text), "%.12g s is not a whole number of steps of %.12g s: use --steps",
             duration, h);
    return run_options_say(&run->options, text);
}

int gradient_run_start(gradient_run* run, const run_command* command, int argc, char** argv,
                       bool* go) {
    int code = CLI_OK;
    *go = false;
    if (!run_options_read(command, argc, argv, &run->options, &code)) return code;
    run->command = load_join_command(command->name, argc, argv);
    run->loaded.close_joints = run->options.close_joints;
    run->loaded.young = run->options.young;
    if (run->batch.copies == 0 && run->batch.texts.count > 0) {
        return run_options_say(&run->options, "--vary needs --copies");
    }
    if (run->batch.copies > 0) {
        run->batch.command = command->name;
        code = batch_vary_read(&run->batch, &run->options);
        if (code == CLI_OK) code = batch_vary_load(&run->batch, &run->options, &run->loaded);
    } else {
        code = load_scene(command->name, run->options.scene, &run->options.settings,
                          run->options.memory_limit, &run->loaded);
    }
    if (code != CLI_OK) return code;
    load_say_warnings(&run->loaded);
    run->def = run_make_def(&run->options, &run->loaded);
    code = count_steps(run);
    if (code == CLI_OK) code = load_plan(&run->loaded, &run->def);
    if (code == CLI_OK) code = load_check_memory(&run->loaded);
    *go = code == CLI_OK;
    return code;
}

int gradient_run_create(gradient_run* run, const mabd_gradient_def* def) {
    mabd_error error = {.body = -1, .joint = -1};
    const mabd_status status =
        mabd_gradient_create(run->loaded.model, &run->def, def, &run->gradient, &error);
    if (status == MABD_OK) return CLI_OK;
    return load_say_refused(&run->loaded, &run->def, status, &error);
}

// Repeat parameters and terms for all copies.
static int repeat_loss(gradient_run* run) {
    const mabd_status status =
        gradient_copies_make(run->loaded.model, run->def.h, (int32_t)run->batch.copies,
                             &run->losses, mabd_loss_values(run->loss), &run->copies);
    if (status == MABD_ERR_UNAVAILABLE) {
        return run_options_say(&run->options, "springs are no parameters of copies");
    }
    if (status != MABD_OK) {
        fprintf(stderr, "mabd %s: out of memory\n", run->options.name);
        return CLI_FAILED;
    }
    run->losses.parameter_count = run->copies.parameter_count;
    run->losses.parameters = run->copies.parameters;
    run->losses.term_count = run->copies.term_count, run->losses.terms = run->copies.terms;
    return CLI_OK;
}

// Read the loss file and create the gradient.
static int load_loss(gradient_run* run) {
    mabd_error error = {.body = -1, .joint = -1};
    const char* path = run->loss_file;
    const mabd_status status =
        mabd_loss_load(run->loaded.model, run->def.h, run->steps, path, &run->loss, &error);
    if (status == MABD_OK) {
        run->losses = mabd_loss_gradient_def(run->loss);
        const int code = run->batch.copies > 0 ? repeat_loss(run) : CLI_OK;
        return code == CLI_OK ? gradient_run_create(run, &run->losses) : code;
    }
    if (error.line > 0) {
        fprintf(stderr, "%s:%d:%d: %s\n", path, (int)error.line, (int)error.column, error.text);
    } else {
        load_say_file(run->options.name, path, status, &error);
    }
    return status == MABD_ERR_MEMORY ? CLI_FAILED : CLI_BAD_INPUT;
}

static int copy_values(gradient_run* run) {
    const size_t n = (size_t)run->losses.parameter_count;
    run->values = calloc(n + 1, sizeof(*run->values));
    if (run->values == NULL) {
        fprintf(stderr, "mabd %s: out of memory\n", run->options.name);
        return CLI_FAILED;
    }
    const mabd_real* from =
        run->batch.copies > 0 ? run->copies.values : mabd_loss_values(run->loss);
    if (n > 0) memcpy(run->values, from, n * sizeof(*run->values));
    return CLI_OK;
}

static int prepare_loss(gradient_run* run) {
    const path_use uses[] = {{PATH_SCENE, "SCENE", run->options.scene},
                             {PATH_READ, "--loss", run->loss_file},
                             {PATH_WRITTEN, "--out", run->out}};
    if (run->loss_file == NULL) return run_options_say(&run->options, "--loss is missing");
    int code = path_use_check(run->options.name, sizeof(uses) / sizeof(uses[0]), uses);
    if (code == CLI_OK) code = load_loss(run);
    return code == CLI_OK ? copy_values(run) : code;
}

int gradient_run_on_loss(gradient_run* run, const run_command* command, int argc, char** argv,
                         int (*body)(void* user), void* user) {
    bool go = false;
    int code = gradient_run_start(run, command, argc, argv, &go);
    if (go) code = prepare_loss(run);
    if (go && code == CLI_OK) code = body(user);
    gradient_run_release(run);
    return code;
}

void gradient_run_release(gradient_run* run) {
    mabd_gradient_destroy(run->gradient);
    mabd_loss_destroy(run->loss);
    gradient_copies_free(&run->copies);
    load_release(&run->loaded);
    free(run->command);
    free(run->values);
}

// ---- texts -------------------------------------------------------------------------------------

void gradient_run_print(const gradient_run* run, FILE* out) {
    const mabd_model_info* info = &run->loaded.info;
    fprintf(out, "scene     %s: %d bodies, %d joints, %d rows\n",
            mabd_model_name(run->loaded.model), (int)info->bodies, (int)info->joints,
            (int)info->rows);
    fprintf(out, "run       %s, %s, h = %g s, %lld steps, %g s\n",
            mabd_formulation_name(run->def.formulation),
            mabd_integrator_name(run->loaded.plan.def.integrator), (double)run->def.h,
            (long long)run->steps, (double)run->steps * (double)run->def.h);
}

int gradient_run_failed(const gradient_run* run, mabd_status status, const mabd_error* error) {
    fprintf(stderr, "mabd %s: the run failed at t = %g s: %s\n", run->options.name,
            (double)error->time, error->text[0] != '\0' ? error->text : mabd_status_text(status));
    return status == MABD_ERR_ARG || status == MABD_ERR_INPUT || status == MABD_ERR_UNAVAILABLE
               ? CLI_BAD_INPUT
               : CLI_FAILED;
}

// Names of components, by kind.
static const char* component_name(const mabd_parameter* p) {
    static const char* const vector[] = {"x", "y", "z"};
    static const char* const inertia[] = {"xx", "yy", "zz", "xy", "xz", "yz"};
    static const char* const force[] = {"fx", "fy", "fz", "tx", "ty", "tz"};
    static const char* const spring[] = {"stiffness", "damping", "length"};
    static const char* const ground[] = {"stiffness", "damping", "tangent", "friction"};
    switch (p->kind) {
    case MABD_PARAMETER_SPRING:
        return spring[p->component];
    case MABD_PARAMETER_GROUND:
        return ground[p->component];
    case MABD_PARAMETER_INERTIA:
        return inertia[p->component];
    case MABD_PARAMETER_FORCE:
        return force[p->component];
    case MABD_PARAMETER_START_POSITION:
    case MABD_PARAMETER_START_ROTATION:
    case MABD_PARAMETER_START_VELOCITY:
    case MABD_PARAMETER_START_ANGULAR:
    case MABD_PARAMETER_CENTER:
    case MABD_PARAMETER_ANCHOR_A:
    case MABD_PARAMETER_ANCHOR_B:
    case MABD_PARAMETER_AXIS_A:
    case MABD_PARAMETER_AXIS_B:
    case MABD_PARAMETER_GRAVITY:
        return vector[p->component];
    default:
        return "";
    }
}

static bool is_of_body(mabd_parameter_kind kind) {
    return kind <= MABD_PARAMETER_START_ANGULAR || kind == MABD_PARAMETER_MASS ||
           kind == MABD_PARAMETER_CENTER || kind == MABD_PARAMETER_INERTIA ||
           kind == MABD_PARAMETER_FORCE;
}

static bool is_on_axis(mabd_parameter_kind kind) {
    return kind == MABD_PARAMETER_COORDINATE || kind == MABD_PARAMETER_RATE ||
           (kind >= MABD_PARAMETER_STIFFNESS && kind <= MABD_PARAMETER_FRICTION);
}

const char* gradient_parameter_name(const mabd_model* model, const mabd_parameter* parameter,
                                    char* text, size_t size) {
    static const char* const axes[] = {"tx", "ty", "tz", "rx", "ry", "rz"};
    char owner[256] = "", part[32] = "", steps[64] = "";
    const mabd_parameter* p = parameter;
    const char* component = component_name(p);
    if (p->kind == MABD_PARAMETER_CONTROL) {
        const mabd_control_info c =
            mabd_model_control(model, p->index % mabd_model_control_count(model));
        const int32_t copies = mabd_model_copy_count(model);
        const int32_t members = copies > 0 ? mabd_model_joint_count(model) / copies : 0;
        const int32_t copy = p->index / mabd_model_control_count(model);
        mabd_model_joint_name(model, copy * members + c.joint, owner, sizeof(owner));
        snprintf(part, sizeof(part), ", %s %s", axes[c.axis], mabd_control_name(c.kind));
    } else if (p->kind == MABD_PARAMETER_GRAVITY || p->kind == MABD_PARAMETER_GROUND) {
        snprintf(part, sizeof(part), ", %s", component);
    } else if (p->kind == MABD_PARAMETER_SPRING) {
        snprintf(part, sizeof(part), " %d, %s", (int)p->index, component);
    } else if (is_of_body(p->kind)) {
        if (p->index >= 0) mabd_model_body_name(model, p->index, owner, sizeof(owner));
        if (component[0] != '\0') snprintf(part, sizeof(part), ", %s", component);
    } else {
        mabd_model_joint_name(model, p->index, owner, sizeof(owner));
        if (is_on_axis(p->kind)) snprintf(part, sizeof(part), ", %s", axes[p->axis]);
        if (component[0] != '\0') snprintf(part, sizeof(part), ", %s", component);
    }
    const bool held = p->kind == MABD_PARAMETER_CONTROL || p->kind == MABD_PARAMETER_FORCE;
    if (held) {
        snprintf(steps, sizeof(steps), ", steps %lld to %lld", (long long)p->first,
                 (long long)p->last);
    }
    snprintf(text, size, "%s%s%s%s%s%s", mabd_parameter_kind_name(p->kind),
             owner[0] != '\0' ? " of '" : "", owner, owner[0] != '\0' ? "'" : "", part, steps);
    return text;
}
