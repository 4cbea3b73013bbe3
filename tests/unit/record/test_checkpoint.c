// SPDX-License-Identifier: Apache-2.0
// Tests for src/record/checkpoint.c: a resumed run equals the uninterrupted one, damage is
// reported, and the old checkpoint stays until the new one is whole.
#include "support/die.h"

#include "support/counting_allocator.h"
#include "support/record_chain.h"

#include <criterion/new/assert.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static const char extra_text[] = "the caller's own";

static void save(const char* path, const mabd_sim* sim) {
    mabd_error error = {0};
    chain_check(mabd_checkpoint_write(path, sim, extra_text, sizeof extra_text, &error), &error,
                "checkpoint");
}

// The state as bytes; the caller frees.
static char* state_of(const mabd_sim* sim) {
    char* state = malloc(mabd_sim_state_size(sim));
    mabd_sim_save(sim, state);
    return state;
}

static bool same_state(const mabd_sim* a, const mabd_sim* b) {
    char *left = state_of(a), *right = state_of(b);
    bool same = memcmp(left, right, mabd_sim_state_size(a)) == 0;
    free(left), free(right);
    return same;
}

static unsigned char* load_bytes(const char* path, size_t* size) {
    FILE* file = fopen(path, "rb");
    cr_assert(file != NULL);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char* bytes = malloc(*size);
    cr_assert(eq(sz, fread(bytes, 1, *size, file), *size));
    fclose(file);
    return bytes;
}

static void store_bytes(const char* path, const unsigned char* bytes, size_t size) {
    FILE* file = fopen(path, "wb");
    cr_assert(file != NULL);
    cr_assert(eq(sz, fwrite(bytes, 1, size, file), size));
    fclose(file);
}

// Reading is refused with this in the message; neither the simulation nor the extra bytes change.
static void expect_refused(const char* path, mabd_sim* sim, const char* message, size_t where) {
    char* before = state_of(sim);
    char extra[sizeof extra_text] = "untouched";
    mabd_error error = {0};
    mabd_status status = mabd_checkpoint_read(path, sim, extra, sizeof extra, &error);
    cr_expect(eq(int, status, MABD_ERR_INPUT), "%s at %zu", message, where);
    cr_expect(strstr(error.text, message) != NULL, "'%s' is not '%s' at %zu", error.text, message,
              where);
    cr_expect(eq(str, extra, "untouched"));
    char* after = state_of(sim);
    cr_expect(memcmp(before, after, mabd_sim_state_size(sim)) == 0, "at %zu", where);
    free(before), free(after);
}

Test(checkpoint, a_resumed_run_is_the_uninterrupted_one) {
    char path[256];
    scratch_path(path, sizeof path, "a.ckpt");
    chain whole = chain_create(), resumed = chain_create();
    chain_step(whole.sim, 13);
    save(path, whole.sim);
    chain_step(whole.sim, 20);

    char extra[sizeof extra_text] = "";
    mabd_error error = {0};
    chain_step(resumed.sim, 3);
    cr_assert(not(same_state(whole.sim, resumed.sim)));
    chain_check(mabd_checkpoint_read(path, resumed.sim, extra, sizeof extra, &error), &error,
                "read");
    cr_expect(eq(str, extra, (char*)extra_text));
    cr_expect(eq(i64, mabd_sim_step_count(resumed.sim), 13));
    chain_step(resumed.sim, 20);
    cr_expect(same_state(whole.sim, resumed.sim));
    chain_destroy(whole), chain_destroy(resumed);
    scratch_remove(path);
}

Test(checkpoint, no_extra_bytes_are_needed) {
    char path[256];
    scratch_path(path, sizeof path, "a.ckpt");
    chain c = chain_create();
    mabd_error error = {0};
    chain_check(mabd_checkpoint_write(path, c.sim, NULL, 0, &error), &error, "write");
    chain_check(mabd_checkpoint_read(path, c.sim, NULL, 0, &error), &error, "read");
    expect_refused(path, c.sim, "extra bytes", 0);
    cr_expect(eq(int, mabd_checkpoint_write(path, c.sim, NULL, 1, &error), MABD_ERR_ARG));
    cr_expect(eq(int, mabd_checkpoint_read(NULL, c.sim, NULL, 0, &error), MABD_ERR_ARG));
    chain_destroy(c);
    scratch_remove(path);
}

Test(checkpoint, a_changed_bit_anywhere_is_found) {
    char path[256];
    scratch_path(path, sizeof path, "a.ckpt");
    chain c = chain_create();
    chain_step(c.sim, 5);
    save(path, c.sim);
    chain_step(c.sim, 1);
    size_t size;
    unsigned char* bytes = load_bytes(path, &size);
    for (size_t i = 0; i < size; i++) {
        unsigned char bit = (unsigned char)(1 << i % 8);
        bytes[i] ^= bit;
        store_bytes(path, bytes, size);
        // 8..12 version, 12..16 byte order, 16..20 precision, 20..24 size of the header, 40..56
        // sizes
        const char* message = i < 8     ? "not a checkpoint"
                              : i < 12  ? "format version"
                              : i < 16  ? "damaged"
                              : i < 20  ? "precision"
                              : i < 24  ? "damaged"
                              : i < 40  ? "checksum"
                              : i >= 56 ? "checksum"
                                        : "it";
        expect_refused(path, c.sim, message, i);
        bytes[i] ^= bit;
    }
    free(bytes);
    chain_destroy(c);
    scratch_remove(path);
}

Test(checkpoint, other_lengths_are_reported) {
    char path[256];
    scratch_path(path, sizeof path, "a.ckpt");
    chain c = chain_create();
    save(path, c.sim);
    size_t size;
    unsigned char* bytes = load_bytes(path, &size);
    for (size_t i = 0; i < size; i += i < 80 ? 1 : 37) {
        store_bytes(path, bytes, i);
        expect_refused(path, c.sim, i < 8 ? "not a checkpoint" : "truncated", i);
    }
    bytes = realloc(bytes, size + 1);
    bytes[size] = 0;
    store_bytes(path, bytes, size + 1);
    expect_refused(path, c.sim, "too large", size + 1);
    // sizes that would overflow, or ask for more memory than there is
    memset(bytes + 40, 0xff, 16);
    store_bytes(path, bytes, size);
    expect_refused(path, c.sim, "sizes are damaged", 40);
    memset(bytes + 40, 0, 16);
    bytes[45] = 0x10;
    store_bytes(path, bytes, size);
    expect_refused(path, c.sim, "truncated", 45);
    free(bytes);
    chain_destroy(c);
    scratch_remove(path);
}

Test(checkpoint, other_machines_are_reported) {
    char path[256];
    scratch_path(path, sizeof path, "a.ckpt");
    chain c = chain_create();
    save(path, c.sim);
    size_t size;
    unsigned char* bytes = load_bytes(path, &size);
    for (int i = 0; i < 2; i++) {
        unsigned char swap = bytes[12 + i];
        bytes[12 + i] = bytes[15 - i];
        bytes[15 - i] = swap;
    }
    store_bytes(path, bytes, size);
    expect_refused(path, c.sim, "other byte order", 12);
    free(bytes);
    chain_destroy(c);
    scratch_remove(path);
}

Test(checkpoint, other_models_and_settings_are_refused) {
    char path[256];
    scratch_path(path, sizeof path, "a.ckpt");
    chain c = chain_create();
    save(path, c.sim);
    mabd_model* longer = chain_model(CHAIN_LINKS + 1, 0.5);
    mabd_model* larger = chain_model(CHAIN_LINKS, 0.6);
    mabd_sim *a = chain_sim(longer, NULL), *b = chain_sim(larger, NULL), *d = NULL;
    expect_refused(path, a, "another model", 0);
    expect_refused(path, b, "another model", 0);
    mabd_error error = {0};
    mabd_sim_def def = mabd_default_sim_def();
    def.h = 0.005;
    chain_check(mabd_sim_create(c.model, &def, &d, &error), &error, "sim");
    expect_refused(path, d, "", 0);
    mabd_sim_destroy(a), mabd_sim_destroy(b), mabd_sim_destroy(d);
    mabd_model_destroy(longer), mabd_model_destroy(larger);
    chain_destroy(c);
    scratch_remove(path);
}

// ---- failures ----------------------------------------------------------------------------------

Test(checkpoint, files_that_cannot_be_used_are_named) {
    char path[256], inside[300];
    scratch_path(path, sizeof path, "a.ckpt");
    snprintf(inside, sizeof inside, "%s/none/b", path);
    chain c = chain_create();
    mabd_error error = {0};
    cr_expect(eq(int, mabd_checkpoint_read(path, c.sim, NULL, 0, &error), MABD_ERR_IO));
    cr_expect(strstr(error.text, path) && strstr(error.text, strerror(ENOENT)), "%s", error.text);
    cr_expect(eq(int, mabd_checkpoint_write(inside, c.sim, NULL, 0, &error), MABD_ERR_IO));
    cr_expect(strstr(error.text, inside) && strstr(error.text, strerror(ENOENT)), "%s", error.text);
    cr_expect(eq(int, mabd_checkpoint_write("/dev/full", c.sim, NULL, 0, &error), MABD_ERR_IO));
    cr_expect(strstr(error.text, "/dev/full") != NULL, "%s", error.text);
    mkdir(path, 0777);
    cr_expect(eq(int, mabd_checkpoint_write(path, c.sim, NULL, 0, &error), MABD_ERR_IO));
    cr_expect(strstr(error.text, path) && strstr(error.text, strerror(EISDIR)), "%s", error.text);
    cr_expect(eq(int, mabd_checkpoint_read(path, c.sim, NULL, 0, &error), MABD_ERR_IO));
    cr_expect(strstr(error.text, strerror(EISDIR)) != NULL, "%s", error.text);
    if (geteuid() != 0) {
        chmod(path, 0555);
        snprintf(inside, sizeof inside, "%s/b", path);
        cr_expect(eq(int, mabd_checkpoint_write(inside, c.sim, NULL, 0, &error), MABD_ERR_IO));
        cr_expect(strstr(error.text, strerror(EACCES)) != NULL, "%s", error.text);
    }
    rmdir(path);
    chain_destroy(c);
    scratch_remove(path);
}

Test(checkpoint, a_link_is_followed) {
    char path[256], link[300];
    scratch_path(path, sizeof path, "a.ckpt");
    snprintf(link, sizeof link, "%s.link", path);
    chain c = chain_create();
    save(path, c.sim);
    cr_assert(eq(int, symlink(path, link), 0));
    chain_step(c.sim, 2);
    save(link, c.sim);
    struct stat info;
    cr_assert(eq(int, lstat(link, &info), 0));
    bool still = S_ISLNK(info.st_mode);
    cr_expect(still, "the link is still a link");
    chain other = chain_create();
    char extra[sizeof extra_text];
    cr_expect(eq(int, mabd_checkpoint_read(path, other.sim, extra, sizeof extra, NULL), MABD_OK));
    cr_expect(eq(i64, mabd_sim_step_count(other.sim), 2));
    unlink(link);
    chain_destroy(c), chain_destroy(other);
    scratch_remove(path);
}

// A limit of the file size simulates a full disk, in a child because it holds for the whole
// process.
Test(checkpoint, a_full_disk_keeps_the_old_one) {
    char path[256];
    scratch_path(path, sizeof path, "a.ckpt");
    chain c = chain_create();
    chain_step(c.sim, 4);
    save(path, c.sim);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = {100, 100};
        setrlimit(RLIMIT_FSIZE, &limit);
        chain_step(c.sim, 1);
        mabd_error error = {0};
        mabd_status status = mabd_checkpoint_write(path, c.sim, NULL, 0, &error);
        bool named = strstr(error.text, path) && strstr(error.text, strerror(EFBIG));
        _exit(status == MABD_ERR_IO && named ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    bool right = WIFEXITED(status) && WEXITSTATUS(status) == 0;
    cr_expect(right);
    char extra[sizeof extra_text];
    chain other = chain_create();
    cr_expect(eq(int, mabd_checkpoint_read(path, other.sim, extra, sizeof extra, NULL), MABD_OK));
    cr_expect(same_state(c.sim, other.sim));
    chain_destroy(c), chain_destroy(other);
    scratch_remove(path); // and no temporary file is left
}

typedef struct saver {
    const char* path;
    mabd_sim* sim;
} saver;

static void save_again(void* context) {
    const saver* s = context;
    if (mabd_checkpoint_write(s->path, s->sim, extra_text, sizeof extra_text, NULL) != MABD_OK) {
        _exit(2);
    }
}

Test(checkpoint, death_at_any_moment_leaves_the_old_or_the_new_one) {
    char path[256], command[300];
    scratch_path(path, sizeof path, "a.ckpt");
    snprintf(command, sizeof command, "rm -f %s.tmp.*", path);
    chain old = chain_create(), new = chain_create(), found = chain_create();
    chain_step(old.sim, 4);
    chain_step(new.sim, 5);
    int seen_old = 0, seen_new = 0;
    bool died = true;
    for (long at = 0; died; at++) {
        save(path, old.sim);
        saver s = {path, new.sim};
        died = die_in(save_again, &s, at / 2, at % 2 == 1);
        char extra[sizeof extra_text];
        mabd_error error = {0};
        mabd_status status = mabd_checkpoint_read(path, found.sim, extra, sizeof extra, &error);
        cr_assert(eq(int, status, MABD_OK), "moment %ld: %s", at, error.text);
        bool is_old = same_state(found.sim, old.sim), is_new = same_state(found.sim, new.sim);
        cr_expect(is_old != is_new, "moment %ld", at);
        seen_old += is_old;
        seen_new += is_new;
        cr_assert(eq(int, system(command), 0));
    }
    cr_expect(lt(int, 3, seen_old), "death before the rename leaves the old one");
    cr_expect(lt(int, 1, seen_new), "death behind it the new one");
    chain_destroy(old), chain_destroy(new), chain_destroy(found);
    scratch_remove(path);
}

Test(checkpoint, every_failing_allocation_keeps_the_old_one) {
    char path[256];
    scratch_path(path, sizeof path, "a.ckpt");
    mabd_model* model = chain_model(CHAIN_LINKS, 0.5);
    int failures = 0;
    for (int reading = 0; reading < 2; reading++) {
        bool done = false;
        for (int64_t n = 0; !done; n++) {
            counting_allocator counter = {.fail_at = -1};
            mabd_allocator allocator = counting_allocator_make(&counter);
            mabd_sim* sim = chain_sim(model, &allocator);
            save(path, sim);
            const int64_t blocks = counter.live_blocks;
            char extra[sizeof extra_text];
            counter.fail_at = counter.calls + n;
            mabd_status status =
                reading ? mabd_checkpoint_read(path, sim, extra, sizeof extra, NULL)
                        : mabd_checkpoint_write(path, sim, extra_text, sizeof extra_text, NULL);
            done = counter.calls <= counter.fail_at;
            failures += !done;
            cr_expect(eq(int, status, done ? MABD_OK : MABD_ERR_MEMORY));
            cr_expect(eq(i64, counter.live_blocks, blocks));
            cr_expect(eq(i64, counter.wrong_frees, 0));
            counter.fail_at = -1;
            cr_expect(eq(int, mabd_checkpoint_read(path, sim, extra, sizeof extra, NULL), MABD_OK));
            mabd_sim_destroy(sim);
        }
    }
    cr_expect(lt(int, 3, failures));
    mabd_model_destroy(model);
    scratch_remove(path);
}
