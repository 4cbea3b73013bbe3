// SPDX-License-Identifier: Apache-2.0
// `mabd sensitivity`: how far poses move per unit of each motor, over time [VQ Fig. 12]. Each motor
// is changed by a constant from the start on; the largest entry of the matrix at each time tells
// how close the mechanism comes to a singular pose.
//
// A motor with a constant signal is one parameter of the gradient. One whose signal changes is a
// parameter for each step, held at the signal, and the change by a constant is their sum.
#include "cli/cli.h"
#include "cli/gradient/command_gradient.h"
#include "cli/gradient/gradient_setup.h"
#include "cli/output.h"
#include "cli/path_use.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char NOTES[] =
    "Poses are positions [m] and turns in the body frame [rad]; motors are forces [N] and torques\n"
    "[N m], servos are targets [m], [rad]. Each is changed by a constant over the whole run.\n"
    "The table has one row for each time: the largest entry, and the body, the component and the\n"
    "motor that it belongs to.\n"
    "Exit codes: 0 done, 2 bad input, 3 the simulation failed, 4 cannot write.\n\n"
    "Example: mabd sensitivity scenes/arm.json --of poses --by motors --csv s.csv";

enum { STATE = 12, POSE = 6 }; // numbers of a body in ds_dp; the first ones are its pose

static const char* const OF[] = {"poses", "velocities", NULL};
static const char* const BY[] = {"motors", "servos", "controls", NULL};

typedef struct sensitivity {
    gradient_run run;
    int of, by;
    const char* csv;
    int64_t every, rows;        // states 0, every, 2 every, ...
    int32_t count, bodies;      // parameters, bodies
    int32_t motors;             // controls that are changed
    int32_t* first;             // (motors + 1) first parameter of each
    mabd_parameter* parameters; // (count)
    mabd_real *values, *ds_dp;  // (count), (rows x 12 bodies x count)
} sensitivity;

// An entry of the matrix at one time.
typedef struct entry {
    double value; // with its sign
    int32_t body, component, motor;
} entry;

static const char* component_name(const sensitivity* s, int32_t component) {
    static const char* const names[2][POSE] = {{"x", "y", "z", "rx", "ry", "rz"},
                                               {"vx", "vy", "vz", "wx", "wy", "wz"}};
    return names[s->of][component];
}

// Derivative of number `state` of the matrices by a constant change of a motor.
static double sum_of(const sensitivity* s, int64_t state, int32_t motor) {
    double sum = 0;
    for (int32_t i = s->first[motor]; i < s->first[motor + 1]; i++) {
        sum += (double)s->ds_dp[state * s->count + i];
    }
    return sum;
}

// Write the name of a motor: "elbow, rx force". Returns text.
static const char* motor_name(const sensitivity* s, int32_t motor, char* text, size_t size) {
    mabd_parameter p = s->parameters[s->first[motor]];
    p.first = 1, p.last = s->run.steps;
    return gradient_parameter_name(s->run.loaded.model, &p, text, size);
}

// Entry of the largest magnitude in row `row`, of one motor; -1: of all.
static entry worst_of(const sensitivity* s, int64_t row, int32_t motor) {
    entry worst = {0, 0, 0, 0};
    for (int32_t b = 0; b < s->bodies; b++) {
        for (int32_t k = 0; k < POSE; k++) {
            const int64_t state = (row * s->bodies + b) * STATE + s->of * POSE + k;
            for (int32_t m = 0; m < s->motors; m++) {
                if (motor >= 0 && m != motor) continue;
                const double value = sum_of(s, state, m);
                if (fabs(value) <= fabs(worst.value)) continue;
                worst = (entry){value, b, k, m};
            }
        }
    }
    return worst;
}

static double time_of(const sensitivity* s, int64_t row) {
    return (double)(row * s->every) * (double)s->run.def.h;
}

// ---- table -------------------------------------------------------------------------------------

static int write_csv(const sensitivity* s) {
    char body[256], motor[320], message[512] = "out of memory", *text = NULL;
    size_t size = 0;
    FILE* memory = open_memstream(&text, &size);
    bool ok = memory != NULL;
    if (ok) fprintf(memory, "time,worst,body,component,parameter\n");
    for (int64_t row = 0; ok && row < s->rows; row++) {
        const entry e = worst_of(s, row, -1);
        fprintf(memory, "%.9g,%.9g,\"%s\",%s,\"%s\"\n", time_of(s, row), e.value,
                mabd_model_body_name(s->run.loaded.model, e.body, body, sizeof(body)),
                component_name(s, e.component), motor_name(s, e.motor, motor, sizeof(motor)));
    }
    if (memory != NULL) ok = fclose(memory) == 0;
    ok = ok && output_write(s->csv, text, message, sizeof(message));
    free(text);
    if (ok) return CLI_OK;
    fprintf(stderr, "mabd sensitivity: %s\n", message);
    return CLI_CANNOT_WRITE;
}

// Print the largest entry at any time of one motor; -1: of all.
static void print_peak(const sensitivity* s, const char* label, int32_t motor) {
    char body[256], name[320];
    entry peak = {0, 0, 0, motor >= 0 ? motor : 0};
    int64_t at = 0;
    for (int64_t row = 0; row < s->rows; row++) {
        const entry e = worst_of(s, row, motor);
        if (fabs(e.value) > fabs(peak.value)) peak = e, at = row;
    }
    printf("%-9s %.6g at t = %g s: %s of '%s' by %s\n", label, peak.value, time_of(s, at),
           component_name(s, peak.component),
           mabd_model_body_name(s->run.loaded.model, peak.body, body, sizeof(body)),
           motor_name(s, peak.motor, name, sizeof(name)));
}

static void print_worst(const sensitivity* s) {
    const entry last = worst_of(s, s->rows - 1, -1);
    printf("matrix    %d %s by %d %s at %lld times\n", (int)(POSE * s->bodies), OF[s->of],
           (int)s->motors, BY[s->by], (long long)s->rows);
    print_peak(s, "peak", -1);
    for (int32_t m = 0; s->motors > 1 && m < s->motors; m++) print_peak(s, "by", m);
    printf("end       %.6g at t = %g s\n", last.value, time_of(s, s->rows - 1));
}

// ---- run ---------------------------------------------------------------------------------------

static bool is_chosen(const sensitivity* s, int32_t control) {
    const mabd_control_kind kind = mabd_model_control(s->run.loaded.model, control).kind;
    return s->by == 2 || kind == (s->by == 0 ? MABD_CONTROL_FORCE : MABD_CONTROL_POSITION);
}

// Target of a control in a step, of the scene.
static mabd_real target_of(const sensitivity* s, int32_t control, int64_t step) {
    mabd_parameter p = mabd_default_parameter(MABD_PARAMETER_CONTROL);
    p.index = control, p.first = p.last = step;
    return mabd_parameter_value(s->run.loaded.model, s->run.def.h, &p);
}

static bool is_constant(const sensitivity* s, int32_t control) {
    for (int64_t k = 2; k <= s->run.steps; k++) {
        if (target_of(s, control, k) != target_of(s, control, 1)) return false;
    }
    return true;
}

// Add the parameters of one control, `pieces` of equal length; false if memory is short.
static bool add_control(sensitivity* s, int32_t control, int64_t pieces) {
    const size_t all = (size_t)s->count + (size_t)pieces;
    mabd_parameter* parameters = realloc(s->parameters, all * sizeof(*parameters));
    if (parameters != NULL) s->parameters = parameters;
    mabd_real* values = realloc(s->values, all * sizeof(*values));
    if (values != NULL) s->values = values;
    if (parameters == NULL || values == NULL) return false;
    for (int64_t i = 0; i < pieces; i++) {
        mabd_parameter p = mabd_default_parameter(MABD_PARAMETER_CONTROL);
        p.index = control, p.first = i + 1, p.last = pieces > 1 ? i + 1 : s->run.steps;
        s->values[s->count] = target_of(s, control, p.first);
        s->parameters[s->count++] = p;
    }
    s->first[++s->motors] = s->count;
    return true;
}

// The controls of --by as parameters.
static int list_parameters(sensitivity* s) {
    const int32_t controls = mabd_model_control_count(s->run.loaded.model);
    s->first = calloc((size_t)controls + 1, sizeof(*s->first));
    bool ok = s->first != NULL;
    for (int32_t i = 0; ok && i < controls; i++) {
        if (!is_chosen(s, i)) continue;
        const int64_t pieces = is_constant(s, i) ? 1 : s->run.steps;
        ok = s->count + pieces < INT32_MAX && add_control(s, i, pieces);
    }
    if (!ok) {
        fprintf(stderr, "mabd sensitivity: out of memory\n");
        return CLI_FAILED;
    }
    if (s->motors > 0) return CLI_OK;
    fprintf(stderr, "mabd sensitivity: %s has no %s\n", s->run.loaded.path, BY[s->by]);
    return CLI_BAD_INPUT;
}

static int compute(sensitivity* s) {
    mabd_error error = {.body = -1, .joint = -1};
    s->rows = s->run.steps / s->every + 1; // with the start
    s->bodies = mabd_model_body_count(s->run.loaded.model);
    const double size = (double)s->rows * s->bodies * STATE * s->count * sizeof(*s->ds_dp);
    if (size > (double)s->run.loaded.budget.limit) {
        return run_options_say(&s->run.options, "the matrices need too much memory: use --every");
    }
    s->ds_dp = malloc((size_t)size);
    if (s->ds_dp == NULL) {
        fprintf(stderr, "mabd sensitivity: out of memory\n");
        return CLI_FAILED;
    }
    const mabd_status status =
        mabd_gradient_forward(s->run.gradient, s->values, s->every, s->ds_dp, &error);
    return status == MABD_OK ? CLI_OK : gradient_run_failed(&s->run, status, &error);
}

static int run_all(sensitivity* s) {
    const path_use uses[] = {{PATH_SCENE, "SCENE", s->run.options.scene},
                             {PATH_WRITTEN, "--csv", s->csv}};
    int code = path_use_check("sensitivity", sizeof(uses) / sizeof(uses[0]), uses);
    if (code == CLI_OK) code = list_parameters(s);
    if (code != CLI_OK) return code;
    mabd_gradient_def def = mabd_default_gradient_def();
    def.parameter_count = s->count, def.parameters = s->parameters, def.steps = s->run.steps;
    code = gradient_run_create(&s->run, &def);
    if (code == CLI_OK) code = compute(s);
    if (code != CLI_OK) return code;
    if (!s->run.options.quiet && !output_is_stdout(s->csv)) {
        gradient_run_print(&s->run, stdout);
        print_worst(s);
    }
    return s->csv != NULL ? write_csv(s) : CLI_OK;
}

int command_sensitivity(int argc, char** argv) {
    sensitivity* s = calloc(1, sizeof(*s));
    if (s == NULL) return CLI_FAILED;
    s->every = 1;
    const option more[] = {
        option_choice("of", OF, &s->of, "what is moved (default poses)"),
        option_choice("by", BY, &s->by, "what moves it (default motors)"),
        option_integer("every", "K", OPTION_POSITIVE, 0, &s->every, NULL,
                       "a row for every K-th step (default 1)"),
        option_text("csv", "FILE|-", &s->csv, "write the table; - = standard output"),
    };
    const run_command command = {.name = "sensitivity",
                                 .about = "Differentiate the motion of a scene by its motors.",
                                 .notes = NOTES,
                                 .more_count = sizeof(more) / sizeof(more[0]),
                                 .more = more,
                                 .without = gradient_run_without,
                                 .formulation = gradient_run_formulation()};
    bool go = false;
    int code = gradient_run_start(&s->run, &command, argc, argv, &go);
    if (go) code = run_all(s);
    gradient_run_release(&s->run);
    free(s->first);
    free(s->parameters);
    free(s->values);
    free(s->ds_dp);
    free(s);
    return code;
}
