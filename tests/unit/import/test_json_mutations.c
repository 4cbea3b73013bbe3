// SPDX-License-Identifier: Apache-2.0
// Damaged scenes: seeded mutations of the shipped scenes and of the corpus of broken ones are
// loaded and built. No result crashes or leaks, and a failure is reported in one line with its
// place.
#include "fuzz/feed.h"
#include "fuzz/mutate.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <stdio.h>

#define ROUNDS       4000
#define MOST_SEEDS   400
#define LONGEST_SEED 8192
#define ROOM         (2 * LONGEST_SEED)

typedef struct seed_text {
    char* data;
    size_t size;
} seed_text;

static seed_text seeds[MOST_SEEDS]; // the shipped scenes first
static int seed_count, shipped_count;

static int by_name(const struct dirent** a, const struct dirent** b) {
    return strcmp((*a)->d_name, (*b)->d_name);
}

// Add the .json files of a directory, in the order of their names.
static void add_seeds(const char* directory) {
    struct dirent** entries = NULL;
    int count = scandir(directory, &entries, NULL, by_name);
    for (int i = 0; i < count; i++) {
        size_t length = strlen(entries[i]->d_name);
        bool json = length > 5 && strcmp(entries[i]->d_name + length - 5, ".json") == 0;
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
        free(entries[i]);
        FILE* file = json && seed_count < MOST_SEEDS ? fopen(path, "rb") : NULL;
        if (!file) continue;
        seed_text seed = {malloc(LONGEST_SEED), 0};
        seed.size = fread(seed.data, 1, LONGEST_SEED, file);
        fclose(file);
        seeds[seed_count++] = seed;
    }
    free(entries);
}

static void free_seeds(void) {
    while (seed_count > 0) free(seeds[--seed_count].data);
}

static void check(const feed_result* result, int round) {
    const mabd_error* error = &result->error;
    cr_expect(eq(sz, result->leaked, 0), "round %d", round);
    if (result->load == MABD_OK && result->build == MABD_OK) return;
    mabd_status status = result->load != MABD_OK ? result->load : result->build;
    cr_expect(status == MABD_ERR_INPUT || status == MABD_ERR_MEMORY, "round %d: status %d", round,
              (int)status);
    cr_expect(error->text[0] != '\0' && !strpbrk(error->text, "\r\n"), "round %d: '%s'", round,
              error->text);
    if (result->load == MABD_ERR_INPUT) {
        cr_expect(error->line >= 1 && error->column >= 1, "round %d: %s", round, error->text);
    }
}

Test(json_mutations, damaged_scenes_never_crash_or_leak) {
    add_seeds(MABD_SOURCE_DIR "/scenes");
    shipped_count = seed_count;
    add_seeds(MABD_SOURCE_DIR "/tests/broken");
    cr_assert(lt(int, 0, shipped_count));
    cr_assert(lt(int, shipped_count + 65, seed_count));
    uint64_t state = 20240607;
    int loaded = 0;
    for (int round = 0; round < ROUNDS; round++) {
        int among = mutate_draw(&state) % 2 ? shipped_count : seed_count;
        const seed_text* seed = &seeds[mutate_draw(&state) % (uint32_t)among];
        char* text = malloc(ROOM);
        size_t size = seed->size;
        memcpy(text, seed->data, size);
        for (uint32_t i = mutate_draw(&state) % 3; i < 3; i++)
            size = mutate(text, size, ROOM, &state);
        // an exact copy, so that a read beyond the end is detected
        char* exact = malloc(size ? size : 1);
        memcpy(exact, text, size);
        free(text);
        feed_result result = feed(exact, size);
        free(exact);
        check(&result, round);
        loaded += result.load == MABD_OK;
    }
    free_seeds();
    cr_expect(lt(int, ROUNDS / 20, loaded)); // enough of them reach the model
}
