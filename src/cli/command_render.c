// SPDX-License-Identifier: Apache-2.0
// `mabd render`: draws one frame of a recording.
#include "cli/cli.h"
#include "cli/load.h"
#include "cli/path_use.h"
#include "cli/render_items.h"
#include "mabd/record.h"
#include "mabd/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

typedef struct render_options {
    const char *recording, *out, *size;
    int64_t frame, exposures;
    double time, fov; // [s], [degrees]
    double camera[3], target[3], direction[3];
    bool frame_given, time_given, fov_given, camera_given, target_given, direction_given, no_ground;
} render_options;

static const char NOTES[] =
    "Without --camera the camera is placed so that all bodies are in view; without --direction it "
    "is\n"
    "raised until the content of bowls and valleys is visible.\n"
    "Exit codes: 0 done, 2 bad input, 4 cannot write.\n\n"
    "Example: mabd render chain.h5 --time 1.5 -o chain.png --direction 1,-2,0.5";

static bool parse_options(int argc, char** argv, render_options* o, int* code) {
    const char* names[] = {"FILE.h5"};
    *o = (render_options){.exposures = 1};
    const option options[] = {
        option_integer("frame", "K", OPTION_ANY, 0, &o->frame, &o->frame_given,
                       "draw frame K, from 0; -1 = the last one (default)"),
        option_real("time", "T", OPTION_ANY, &o->time, &o->time_given,
                    "draw the frame nearest to T [s]"),
        option_integer(
            "exposures", "N", OPTION_POSITIVE, 100, &o->exposures, NULL,
            "draw N frames in one picture, from the first to this one, older ones paler"),
        option_short('o', option_text("out", "FILE.png", &o->out,
                                      "picture (default: name of the recording, .png)")),
        option_text("size", "WxH", &o->size, "pixels (default 1280x720)"),
        option_vector("camera", o->camera, &o->camera_given, "position of the eye [m]"),
        option_vector("target", o->target, &o->target_given,
                      "point at the center of the picture with --camera [m] (default 0,0,0)"),
        option_vector("direction", o->direction, &o->direction_given,
                      "view from this side, with all bodies in view"),
        option_real("fov", "DEG", OPTION_POSITIVE, &o->fov, &o->fov_given,
                    "vertical field of view [degrees]"),
        option_flag("no-ground", &o->no_ground, "draw no ground grid"),
    };
    const option_command command = {.name = "render",
                                    .about = "Draw one frame of a recording as a PNG picture.",
                                    .argument_count = 1,
                                    .argument_names = names,
                                    .arguments = &o->recording,
                                    .option_count = sizeof(options) / sizeof(options[0]),
                                    .options = options,
                                    .notes = NOTES};
    return options_start(&command, argc, argv, code);
}

static int say(const char* path, const char* text, int code) {
    if (path != NULL)
        fprintf(stderr, "mabd render: %s: %s\n", path, text);
    else
        fprintf(stderr, "mabd render: %s\nTry 'mabd render --help'.\n", text);
    return code;
}

static int say_error(const char* path, mabd_status status, const mabd_error* error, int code) {
    load_say_file("render", path, status, error);
    return status == MABD_ERR_MEMORY ? CLI_FAILED : code;
}

// ---- options to definition ---------------------------------------------------------------------

static bool parse_size(const char* text, int32_t* width, int32_t* height) {
    int w = 0, h = 0, used = 0;
    if (sscanf(text, "%dx%d%n", &w, &h, &used) != 2 || text[used] != '\0') return false;
    if (w < 1 || h < 1 || w > 16384 || h > 16384) return false;
    *width = w;
    *height = h;
    return true;
}

static bool is_zero(const double* v) {
    return v[0] == 0 && v[1] == 0 && v[2] == 0;
}

static bool same_point(const double* a, const double* b) {
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static int make_def(const render_options* o, mabd_render_def* def) {
    *def = mabd_default_render_def();
    if (o->frame_given && o->time_given) {
        return say(NULL, "give --frame or --time, not both", CLI_BAD_INPUT);
    }
    if (o->camera_given && o->direction_given) {
        return say(NULL, "give --camera or --direction, not both", CLI_BAD_INPUT);
    }
    if (o->target_given && !o->camera_given) {
        return say(NULL, "--target needs --camera", CLI_BAD_INPUT);
    }
    if (o->camera_given && same_point(o->camera, o->target)) {
        return say(NULL, "--camera and --target are the same point", CLI_BAD_INPUT);
    }
    if (o->direction_given && is_zero(o->direction)) {
        return say(NULL, "--direction: expected a vector of length > 0", CLI_BAD_INPUT);
    }
    if (o->fov_given && o->fov >= 180) {
        return say(NULL, "--fov: expected less than 180 degrees", CLI_BAD_INPUT);
    }
    if (o->size != NULL && !parse_size(o->size, &def->width, &def->height)) {
        return say(NULL, "--size: expected WIDTHxHEIGHT, each 1 to 16384", CLI_BAD_INPUT);
    }
    def->camera.fit = !o->camera_given;
    def->camera.raise = !o->direction_given;
    for (int k = 0; k < 3; k++) {
        if (o->direction_given) def->camera.direction[k] = (mabd_real)o->direction[k];
        def->camera.position[k] = (mabd_real)o->camera[k];
        def->camera.target[k] = (mabd_real)o->target[k];
    }
    if (o->fov_given) def->camera.fov = (mabd_real)(o->fov * PI / 180);
    def->ground = !o->no_ground;
    return CLI_OK;
}

static int32_t nearest_frame(const mabd_recording* recording, double time) {
    int32_t best = 0;
    for (int32_t i = 1; i < mabd_recording_frame_count(recording); i++) {
        double distance = fabs((double)mabd_recording_time(recording, i) - time);
        if (distance < fabs((double)mabd_recording_time(recording, best) - time)) best = i;
    }
    return best;
}

static int choose_frame(const render_options* o, const mabd_recording* recording, int32_t* frame) {
    int32_t count = mabd_recording_frame_count(recording);
    char text[160];
    if (count == 0) return say(o->recording, "the recording has no frames", CLI_BAD_INPUT);
    *frame = count - 1;
    if (o->time_given) {
        double first = (double)mabd_recording_time(recording, 0);
        double last = (double)mabd_recording_time(recording, count - 1);
        double margin = 1e-9 * (1 + fabs(last));
        *frame = nearest_frame(recording, o->time);
        if (o->time >= first - margin && o->time <= last + margin) return CLI_OK;
        snprintf(text, sizeof(text), "no frame at %g s: expected a time from %g s to %g s", o->time,
                 first, last);
        return say(o->recording, text, CLI_BAD_INPUT);
    }
    if (!o->frame_given) return CLI_OK;
    int64_t wanted = o->frame < 0 ? o->frame + count : o->frame;
    if (wanted >= 0 && wanted < count) {
        *frame = (int32_t)wanted;
        return CLI_OK;
    }
    snprintf(text, sizeof(text), "no frame %lld: expected one of the frames 0 to %d",
             (long long)o->frame, (int)count - 1);
    return say(o->recording, text, CLI_BAD_INPUT);
}

// FILE.h5 -> FILE.png, to be freed.
static char* default_output(const char* recording) {
    size_t length = strlen(recording);
    bool has_ending = length > 3 && strcmp(recording + length - 3, ".h5") == 0;
    if (has_ending) length -= 3;
    char* path = malloc(length + 5);
    if (path == NULL) return NULL;
    memcpy(path, recording, length);
    memcpy(path + length, ".png", 5);
    return path;
}

// ---- drawing -----------------------------------------------------------------------------------

typedef struct picture {
    mabd_real *positions, *quaternions;
    mabd_render_item* items;
    uint8_t* rgb;
} picture;

static bool allocate(picture* p, const mabd_recording* recording, size_t exposures,
                     const mabd_render_def* def) {
    size_t bodies = (size_t)mabd_recording_body_count(recording);
    p->positions = malloc((3 * bodies + 1) * sizeof(mabd_real));
    p->quaternions = malloc((4 * bodies + 1) * sizeof(mabd_real));
    p->items = malloc((exposures * render_item_count(recording) + 1) * sizeof(*p->items));
    p->rgb = malloc((size_t)def->width * (size_t)def->height * 3);
    return p->positions != NULL && p->quaternions != NULL && p->items != NULL && p->rgb != NULL;
}

static void release(picture* p) {
    free(p->positions);
    free(p->quaternions);
    free(p->items);
    free(p->rgb);
}

// Read all exposures up to `frame` as items; *n gets their number.
static mabd_status read_items(mabd_recording* recording, int32_t frame, int32_t exposures,
                              picture* p, int32_t* n, mabd_error* error) {
    *n = 0;
    for (int32_t e = 0; e < exposures; e++) {
        const int32_t last = exposures - 1;
        const int32_t at = last > 0 ? (int32_t)((int64_t)frame * e / last) : frame;
        const float faded = last > 0 ? 0.6f * (float)(last - e) / (float)last : 0;
        MABD_TRY(mabd_recording_read(recording, at, p->positions, p->quaternions, error));
        *n += render_items_fill(recording, p->positions, p->quaternions, faded, p->items + *n);
    }
    return MABD_OK;
}

static int draw(const render_options* o, const char* out, mabd_recording* recording, int32_t frame,
                const mabd_render_def* def) {
    mabd_error error = {0};
    picture p = {0};
    int code = CLI_OK;
    int32_t n = 0;
    mabd_status status = MABD_OK;
    if (!allocate(&p, recording, (size_t)o->exposures, def)) {
        code = say(o->recording, "out of memory for the picture", CLI_FAILED);
    } else {
        status = read_items(recording, frame, (int32_t)o->exposures, &p, &n, &error);
        if (status == MABD_OK) status = mabd_render_draw(def, n, p.items, NULL, p.rgb, &error);
        if (status != MABD_OK) code = say_error(o->recording, status, &error, CLI_BAD_INPUT);
    }
    if (code == CLI_OK) {
        status = mabd_png_write(out, def->width, def->height, p.rgb, &error);
        if (status != MABD_OK) code = say_error(out, status, &error, CLI_CANNOT_WRITE);
    }
    release(&p);
    return code;
}

static int render(const render_options* o, const char* out, const mabd_render_def* def) {
    mabd_recording* recording = NULL;
    mabd_error error = {0};
    int32_t frame = 0;
    mabd_status status = mabd_recording_open(o->recording, &recording, &error);
    if (status != MABD_OK) return say_error(o->recording, status, &error, CLI_BAD_INPUT);
    int code = choose_frame(o, recording, &frame);
    if (code == CLI_OK) code = draw(o, out, recording, frame, def);
    if (code == CLI_OK) {
        printf("%s: frame %d, t = %g s, %d x %d pixels\n", out, (int)frame,
               (double)mabd_recording_time(recording, frame), (int)def->width, (int)def->height);
    }
    mabd_recording_close(recording);
    return code;
}

int command_render(int argc, char** argv) {
    int code = CLI_OK;
    render_options o;
    mabd_render_def def;
    if (!parse_options(argc, argv, &o, &code)) return code;
    code = make_def(&o, &def);
    if (code != CLI_OK) return code;
    char* made = o.out == NULL ? default_output(o.recording) : NULL;
    const char* out = o.out != NULL ? o.out : made;
    const path_use uses[] = {{PATH_READ, "FILE.h5", o.recording}, {PATH_WRITTEN, "--out", out}};
    if (out == NULL) {
        code = say(o.recording, "out of memory", CLI_FAILED);
    } else {
        code = path_use_check("render", sizeof(uses) / sizeof(uses[0]), uses);
    }
    if (code == CLI_OK) code = render(&o, out, &def);
    free(made);
    return code;
}
