// SPDX-License-Identifier: Apache-2.0
// `mabd gradient`: loss and its derivatives, checked against differences.
#include "cli/gradient/command_gradient.h"

#include "cli/cli.h"
#include "cli/gradient/gradient_setup.h"
#include "cli/system.h"
#include "mabd/record.h"

#include <math.h>
#include <stdlib.h>

#define CHECK_TOLERANCE 1e-5 // largest relative error that --check accepts
#define NAME_SIZE       320

static const char NOTES[] =
    "The loss file lists parameters and terms (docs/guide/gradients.md). With --check each\n"
    "derivative is compared with a difference of fourth order, which takes four runs for each\n"
    "parameter; an error above 1e-5 of the largest derivative ends with exit code 3.\n"
    "With --copies the loss is summed over copies of the scene, and the table has the gradient of\n"
    "each copy, named 0/..., 1/..., and those of what all copies share.\n"
    "Exit codes: 0 done, 2 bad input, 3 the simulation or the check failed, 4 cannot write.\n\n"
    "Example: mabd gradient scenes/double-pendulum.json --loss scenes/losses/aim.json --check";

typedef struct gradient_command {
    gradient_run run;
    bool check;
    int32_t count;
    const mabd_parameter* parameters;
    mabd_real *gradient, *differences; // (count), differences null without --check
    mabd_gradient_info info;
} gradient_command;

// Size of derivative i in units of its parameter's scale.
static double scaled(const gradient_command* c, const mabd_real* derivatives, int32_t i) {
    return fabs((double)derivatives[i]) * (double)c->parameters[i].scale;
}

// Error of derivative i relative to the largest one, both by value / scale.
static double error_of(const gradient_command* c, double largest, int32_t i) {
    const double error = fabs((double)(c->gradient[i] - c->differences[i]));
    return largest > 0 ? error * (double)c->parameters[i].scale / largest : error;
}

static double largest_of(const gradient_command* c) {
    double largest = 0;
    for (int32_t i = 0; i < c->count; i++) {
        largest = fmax(largest, scaled(c, c->gradient, i));
        if (c->differences != NULL) largest = fmax(largest, scaled(c, c->differences, i));
    }
    return largest;
}

static void print_table(const gradient_command* c) {
    char name[NAME_SIZE];
    const double largest = largest_of(c);
    const mabd_model* model = c->run.loaded.model;
    printf("%-44s %14s %14s", "parameter", "value", "derivative");
    if (c->differences != NULL) printf(" %14s %9s", "difference", "error");
    printf("  unit of the value\n");
    for (int32_t i = 0; i < c->count; i++) {
        gradient_parameter_name(model, &c->parameters[i], name, sizeof(name));
        printf("%-44s %14.7g %14.7g", name, (double)c->run.values[i], (double)c->gradient[i]);
        if (c->differences != NULL) {
            printf(" %14.7g %9.1e", (double)c->differences[i], error_of(c, largest, i));
        }
        printf("  %s\n", mabd_parameter_unit(model, &c->parameters[i]));
    }
}

// Print the largest error; returns the exit code.
static int judge(const gradient_command* c) {
    char name[NAME_SIZE] = "";
    const double largest = largest_of(c);
    double worst = 0;
    for (int32_t i = 0; i < c->count; i++) {
        const double error = error_of(c, largest, i);
        if (error <= worst) continue; // NaN is the worst
        worst = error;
        gradient_parameter_name(c->run.loaded.model, &c->parameters[i], name, sizeof(name));
        if (isnan(error)) break;
    }
    printf("check     largest relative error %.2e%s%s\n", worst, name[0] != '\0' ? ": " : "", name);
    if (worst <= CHECK_TOLERANCE) return CLI_OK;
    fprintf(stderr,
            "mabd gradient: the gradient differs from differences by %.2e, more than %.0e\n", worst,
            CHECK_TOLERANCE);
    return CLI_FAILED;
}

static void print_run(const gradient_command* c) {
    char bytes[32];
    printf("memory    gradient %s\n",
           system_format_bytes((double)mabd_gradient_bytes(c->run.gradient), bytes, sizeof(bytes)));
    printf("time      forward %.4g s, backward %.4g s, %lld steps taken twice\n",
           c->info.forward_seconds, c->info.backward_seconds, (long long)c->info.recomputed);
    if (c->info.non_smooth > 0) {
        printf("warning   the derivative is one-sided: %d steps changed a law or were halved\n",
               (int)c->info.non_smooth);
    }
    printf("loss      %.10g\n", (double)c->info.loss);
}

static double* doubles(int32_t count, const mabd_real* from) {
    double* copy = malloc(((size_t)count + 1) * sizeof(*copy));
    for (int32_t i = 0; copy != NULL && i < count; i++) copy[i] = (double)from[i];
    return copy;
}

// Write the datasets of --out.
static mabd_status write_arrays(const gradient_command* c, char* names, const char** texts,
                                double* columns[3], mabd_error* error) {
    const double loss = (double)c->info.loss;
    const int64_t n = c->count;
    const mabd_record_array arrays[] = {{"loss", 1, {1}, &loss},
                                        {"value", 1, {n}, columns[0]},
                                        {"gradient", 1, {n}, columns[1]},
                                        {"difference", 1, {n}, columns[2]}};
    for (int32_t i = 0; i < c->count; i++) {
        char* name = names + (size_t)i * NAME_SIZE;
        texts[i] = gradient_parameter_name(c->run.loaded.model, &c->parameters[i], name, NAME_SIZE);
        texts[c->count + i] = mabd_parameter_unit(c->run.loaded.model, &c->parameters[i]);
    }
    const mabd_record_texts lists[] = {{"parameter", c->count, texts},
                                       {"unit", c->count, texts + c->count}};
    return mabd_arrays_write(c->run.out, c->run.command, c->differences != NULL ? 4 : 3, arrays, 2,
                             lists, error);
}

static int write_out(const gradient_command* c) {
    mabd_error error = {0};
    const size_t n = (size_t)c->count;
    char* names = malloc((n + 1) * NAME_SIZE);
    const char** texts = malloc((2 * n + 1) * sizeof(*texts));
    double* columns[3] = {
        doubles(c->count, c->run.values), doubles(c->count, c->gradient),
        doubles(c->count, c->differences != NULL ? c->differences : c->run.values)};
    mabd_status status = MABD_ERR_MEMORY;
    if (names != NULL && texts != NULL && columns[0] != NULL && columns[1] != NULL &&
        columns[2] != NULL) {
        status = write_arrays(c, names, texts, columns, &error);
    }
    for (int k = 0; k < 3; k++) free(columns[k]);
    free(names);
    free((void*)texts);
    if (status == MABD_OK) return CLI_OK;
    load_say_file("gradient", c->run.out, status, &error);
    return status == MABD_ERR_MEMORY ? CLI_FAILED : CLI_CANNOT_WRITE;
}

// Compute, and print the results.
static int compute(gradient_command* c) {
    mabd_error error = {.body = -1, .joint = -1};
    const gradient_run* run = &c->run;
    mabd_status status =
        mabd_gradient_run(run->gradient, c->run.values, c->gradient, &c->info, &error);
    if (status == MABD_OK && c->check) {
        status = mabd_gradient_differences(run->gradient, c->run.values, 0, c->differences, &error);
    }
    if (status != MABD_OK) return gradient_run_failed(run, status, &error);
    if (!run->options.quiet) {
        gradient_run_print(run, stdout);
        print_run(c);
    }
    print_table(c);
    int code = c->run.out != NULL ? write_out(c) : CLI_OK;
    const int judged = c->check ? judge(c) : CLI_OK;
    return code != CLI_OK ? code : judged;
}

static int run_all(void* user) {
    gradient_command* c = user;
    c->count = c->run.losses.parameter_count;
    c->parameters = c->run.losses.parameters;
    c->gradient = calloc(2 * (size_t)c->count + 1, sizeof(*c->gradient));
    if (c->gradient == NULL) {
        fprintf(stderr, "mabd gradient: out of memory\n");
        return CLI_FAILED;
    }
    c->differences = c->check ? c->gradient + c->count : NULL;
    return compute(c);
}

int command_gradient(int argc, char** argv) {
    gradient_command* c = calloc(1, sizeof(*c));
    if (c == NULL) return CLI_FAILED;
    const option more[] = {
        option_text("loss", "FILE.json", &c->run.loss_file,
                    "parameters and terms of the loss (required)"),
        option_flag("check", &c->check, "compare with differences of fourth order"),
        option_integer("copies", "N", OPTION_POSITIVE, 1 << 24, &c->run.batch.copies, NULL,
                       "of the scene, one gradient each"),
        option_list("vary", "NAME=LOW:HIGH", &c->run.batch.texts,
                    "draw a parameter of the scene for every copy, repeatable"),
        option_integer("seed", "S", OPTION_NOT_NEGATIVE, 0, &c->run.batch.seed, NULL,
                       "of what is drawn (default 0)"),
        option_short('o', option_text("out", "FILE.h5", &c->run.out,
                                      "write values, derivatives and differences (HDF5)")),
    };
    const run_command command = {.name = "gradient",
                                 .about = "Differentiate a loss over a run by its parameters.",
                                 .notes = NOTES,
                                 .more_count = sizeof(more) / sizeof(more[0]),
                                 .more = more,
                                 .without = gradient_run_without,
                                 .formulation = gradient_run_formulation()};
    const int code = gradient_run_on_loss(&c->run, &command, argc, argv, run_all, c);
    free(c->gradient);
    free(c);
    return code;
}
