#include "tests/core/training/broken_run.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/checkpoint/safetensors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char config_text[] =
    "{\"name\":\"run\",\"kind\":\"gpn_m\",\"model\":{\"vocab_size\":50,\"d_state\":48,"
    "\"d_emb\":16,\"d_ffn\":64,\"n_heads\":2,\"d_key\":8,\"d_val\":8},"
    "\"training\":{\"batch_size\":4,\"seq_len\":32,\"grad_accum\":2,\"total_steps\":60,\"seed\":5},"
    "\"optimizer\":{\"learning_rate\":0.01,\"adam_beta1\":0.9,\"adam_beta2\":0.95,"
    "\"weight_decay\":0.1,\"warmup_steps\":5,\"min_lr_ratio\":0.1,\"grad_clip_norm\":0.3},"
    "\"logging\":{\"log_every\":2,\"save_every\":5},\"dirs\":{\"data\":\"broken.bin\"}}";

void broken_work_in_memory(void) {
    if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
}

const char *broken_config(void) {
    static char path[1024]; /* of its own: scratch paths do not live long */
    if (path[0]) return path;
    const size_t count = (size_t)(BROKEN_MOST_ACCUM + 2 * BROKEN_STEPS) * 4 * 32;
    uint32_t *tokens = malloc(count * sizeof *tokens);
    assert_non_null(tokens);
    for (size_t i = 0; i < count; i++) tokens[i] = (uint32_t)((i * i / 7 + i % 11) % 50);
    gs_scratch_file("broken.bin", tokens, count * sizeof *tokens);
    free(tokens);
    snprintf(path, sizeof path, "%s",
             gs_scratch_file("broken.json", config_text, sizeof config_text - 1));
    return path;
}

static void run_list(const char *folder, const struct child_limits *limits, struct child_end *end,
                     va_list more) {
    enum { MOST = 32 };
    const char *arguments[MOST] = {broken_config(), "-o", folder, "--quiet"};
    size_t count = 4;
    const char *next;
    while ((next = va_arg(more, const char *)) != NULL) {
        assert_true(count + 1 < MOST);
        arguments[count++] = next;
    }
    child_run(arguments, limits, end);
}

void broken_run(const char *folder, const struct child_limits *limits, struct child_end *end, ...) {
    va_list more;
    va_start(more, end);
    run_list(folder, limits, end, more);
    va_end(more);
}

void broken_run_ok(const char *folder, ...) {
    struct child_end end;
    va_list more;
    va_start(more, folder);
    run_list(folder, NULL, &end, more);
    va_end(more);
    if (end.exit_code != 0) print_message("%s\n", end.said);
    assert_int_equal(end.exit_code, 0);
}

static void assert_same_file(const char *folder, const char *other, const char *name) {
    struct gs_error error = {0};
    struct gs_mapped_file a = {0}, b = {0};
    char *first = gs_path_join(folder, name), *second = gs_path_join(other, name);
    gs_assert_ok(gs_file_map(first, &a, &error), &error);
    gs_assert_ok(gs_file_map(second, &b, &error), &error);
    bool same = a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
    if (!same) print_message("%s and %s differ\n", first, second);
    assert_true(same);
    gs_file_unmap(&a);
    gs_file_unmap(&b);
    gs_free(first);
    gs_free(second);
}

/* Steps of the rows below the header. */
static size_t read_steps(const char *folder, const char *name, long *steps, size_t most) {
    char *path = gs_path_join(folder, name), line[512];
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    gs_free(path);
    assert_non_null(fgets(line, sizeof line, stream));
    size_t count = 0;
    while (count < most && fgets(line, sizeof line, stream)) {
        assert_non_null(strchr(line, '\n'));
        steps[count++] = strtol(line, NULL, 10);
    }
    fclose(stream);
    return count;
}

void broken_assert_same(const char *folder, const char *other) {
    assert_same_file(folder, other, "run_final.safetensors");
    assert_same_file(folder, other, "run_final.resume.safetensors");
    assert_same_file(folder, other, "run_train_log.csv");
    long a[BROKEN_STEPS], b[BROKEN_STEPS];
    size_t rows = read_steps(folder, "run_train_log.csv", a, BROKEN_STEPS);
    assert_int_equal(rows, BROKEN_STEPS / 2);
    assert_int_equal(read_steps(folder, "run_train_speed.csv", b, BROKEN_STEPS), rows);
    for (size_t i = 0; i < rows; i++) assert_true(a[i] == 2 * (long)(i + 1) && b[i] == a[i]);
    struct gs_error error = {0};
    char **names;
    size_t count;
    gs_assert_ok(gs_folder_list(folder, &names, &count, &error), &error);
    for (size_t i = 0; i < count; i++) assert_true(names[i][0] != '.');
    gs_free_names(names, count);
}

void broken_assert_whole(const char *folder) {
    struct gs_error error = {0};
    char **names;
    size_t count;
    if (!gs_path_is_folder(folder)) return;
    gs_assert_ok(gs_folder_list(folder, &names, &count, &error), &error);
    for (size_t i = 0; i < count; i++) {
        if (names[i][0] == '.' || !strstr(names[i], ".safetensors")) continue;
        char *path = gs_path_join(folder, names[i]);
        struct gs_safetensors *file = NULL;
        gs_assert_ok(gs_safetensors_open(path, &file, &error), &error);
        gs_safetensors_close(file);
        gs_free(path);
    }
    gs_free_names(names, count);
}

void broken_await_lines(const char *path, size_t lines) {
    const struct timespec moment = {0, 2000000};
    for (int i = 0; i < 15000; i++) {
        FILE *stream = fopen(path, "rb");
        size_t found = 0;
        for (int c; stream && (c = fgetc(stream)) != EOF;) found += c == '\n';
        if (stream) fclose(stream);
        if (found >= lines) return;
        nanosleep(&moment, NULL);
    }
    print_message("%s: no %zu lines within half a minute\n", path, lines);
    fail();
}
