/* The shard writer: what it writes, how it takes its place, and what it refuses. */
#include "core/text/shards.h"
#include "core/base/file.h"
#include "core/base/json.h"
#include "core/base/memory.h"
#include "core/text/tokens.h"
#include "tests/support/support.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Documents of the lengths, with ids counted up from 0. */
static void write_documents(const char *path, size_t shard_tokens, bool force,
                            const size_t *lengths, size_t count) {
    struct gs_error error;
    struct gs_shards *shards;
    gs_assert_ok(gs_shards_create(path, shard_tokens, force, &shards, &error), &error);
    uint32_t next = 0, ids[64];
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < lengths[i]; j++) ids[j] = next++;
        gs_assert_ok(gs_shards_add(shards, ids, lengths[i], &error), &error);
    }
    assert_int_equal(gs_shards_tokens(shards), next);
    assert_int_equal(gs_shards_documents(shards), count);
    gs_assert_ok(gs_shards_finish(shards, "test", NULL, 1000, &error), &error);
    gs_shards_destroy(shards);
}

static size_t names_in(const char *path) {
    struct gs_error error;
    char **names;
    size_t count;
    gs_assert_ok(gs_folder_list(path, &names, &count, &error), &error);
    gs_free_names(names, count);
    return count;
}

static size_t file_size(const char *folder, const char *name) {
    struct stat info;
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return stat(path, &info) == 0 ? (size_t)info.st_size : SIZE_MAX;
}

static void test_whole_documents_in_shards(void **state) {
    (void)state;
    struct gs_error error;
    const char *path = gs_scratch_path("deep/er/shards");
    static const size_t lengths[] = {3, 5, 4, 20, 1, 1};
    write_documents(path, 8, false, lengths, 6);
    /* 3+5, just full | 4 | 20, alone and too long | 1+1 */
    assert_int_equal(file_size(path, "data_0000.bin"), 8 * 4);
    assert_int_equal(file_size(path, "data_0001.bin"), 4 * 4);
    assert_int_equal(file_size(path, "data_0002.bin"), 20 * 4);
    assert_int_equal(file_size(path, "data_0003.bin"), 2 * 4);
    assert_int_equal(names_in(path), 9);
    struct gs_tokens *tokens;
    gs_assert_ok(gs_tokens_open(path, NULL, &tokens, &error), &error);
    assert_int_equal(gs_tokens_count(tokens), 34);
    assert_int_equal(gs_tokens_vocab(tokens), 1000);
    uint32_t ids[34];
    gs_assert_ok(gs_tokens_read(tokens, 0, 34, ids, &error), &error);
    for (uint32_t i = 0; i < 34; i++) assert_int_equal(ids[i], i);
    size_t count;
    const uint64_t *starts = gs_tokens_documents(tokens, &count);
    static const uint64_t expected[] = {0, 3, 8, 12, 32, 33};
    assert_int_equal(count, 6);
    assert_memory_equal(starts, expected, sizeof expected);
    gs_tokens_close(tokens);
}

static void test_bytes_are_little_endian(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_shards *shards;
    const char *path = gs_scratch_path("endian");
    gs_assert_ok(gs_shards_create(path, 0, false, &shards, &error), &error);
    uint32_t id = 0x01020304;
    gs_assert_ok(gs_shards_add(shards, &id, 1, &error), &error);
    gs_assert_ok(gs_shards_finish(shards, "t", "abc", 7, &error), &error);
    gs_shards_destroy(shards);
    struct gs_mapped_file file;
    gs_assert_ok(gs_file_map(gs_scratch_path("endian/data_0000.bin"), &file, &error), &error);
    assert_int_equal(file.size, 4);
    assert_memory_equal(file.bytes, "\x04\x03\x02\x01", 4);
    gs_file_unmap(&file);
    struct gs_json *meta;
    gs_assert_ok(gs_json_read_file(gs_scratch_path("endian/meta.json"), &meta, &error), &error);
    assert_string_equal(gs_json_string(gs_json_get(meta, "tokenizer")), "t");
    assert_string_equal(gs_json_string(gs_json_get(meta, "tokenizer_sha256")), "abc");
    gs_json_destroy(meta);
}

static void test_existing_output(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_shards *shards;
    static const size_t first[] = {5, 5}, second[] = {2};
    const char *path = gs_scratch_path("existing");
    write_documents(path, 5, false, first, 2);
    gs_assert_error(gs_shards_create(path, 5, false, &shards, &error), GS_EXISTS, &error,
                    "existing", "--force");
    assert_null(shards);
    char slashed[1024];
    snprintf(slashed, sizeof slashed, "%s//", path);
    size_t before = names_in(gs_scratch_folder());
    write_documents(slashed, 5, true, second, 1);
    assert_int_equal(file_size(path, "data_0000.bin"), 8);
    assert_int_equal(names_in(path), 3); /* nothing of the old one is left */
    assert_int_equal(names_in(gs_scratch_folder()), before);
    /* What is not a shard folder is never replaced. */
    gs_scratch_file("existing/thesis.txt", "years of work", 13);
    gs_assert_error(gs_shards_create(path, 5, true, &shards, &error), GS_EXISTS, &error,
                    "thesis.txt", "existing");
    gs_scratch_file("plain", "", 0);
    gs_assert_error(gs_shards_create(gs_scratch_path("plain"), 5, true, &shards, &error), GS_EXISTS,
                    &error, "plain", "a file");
    gs_assert_error(gs_shards_create(gs_scratch_path("plain/in"), 5, true, &shards, &error), GS_IO,
                    &error, "plain");
}

static void test_nothing_left_behind(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_shards *shards;
    size_t before = names_in(gs_scratch_folder());
    const char *path = gs_scratch_path("left");
    gs_assert_ok(gs_shards_create(path, 5, false, &shards, &error), &error);
    gs_assert_error(gs_shards_finish(shards, "t", NULL, 7, &error), GS_RANGE, &error,
                    "no document");
    gs_shards_destroy(shards);
    uint32_t id = 0;
    gs_assert_ok(gs_shards_create(path, 5, false, &shards, &error), &error);
    gs_assert_ok(gs_shards_add(shards, &id, 1, &error), &error);
    assert_false(gs_path_exists(path));
    gs_shards_destroy(shards);
    gs_shards_destroy(NULL);
    assert_int_equal(names_in(gs_scratch_folder()), before);
}

/* A writer killed in the middle leaves its folder; the next one sweeps it when it is old and
 * nobody holds it, and not before. */
static void test_sweeping(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_shards *shards;
    const char *path = gs_scratch_path("swept/target");
    char left[1024];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        uint32_t id = 3;
        if (gs_shards_create(path, 5, false, &shards, NULL) != GS_OK ||
            gs_shards_add(shards, &id, 1, NULL) != GS_OK)
            _exit(1);
        const char *folder = gs_shards_folder(shards);
        ssize_t written = write(ends[1], folder, strlen(folder) + 1);
        _exit(written > 0 ? 0 : 1); /* as a kill would: no clean-up */
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    assert_true(read(ends[0], left, sizeof left) > 0);
    close(ends[0]);
    close(ends[1]);
    assert_false(gs_path_exists(path));
    assert_true(gs_path_exists(left));
    static const size_t lengths[] = {2};
    write_documents(path, 5, false, lengths, 1);
    assert_true(gs_path_exists(left)); /* young: perhaps between its making and its lock */
    struct timespec old[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    assert_int_equal(utimensat(AT_FDCWD, left, old, 0), 0);
    gs_assert_ok(gs_shards_create(path, 5, true, &shards, &error), &error);
    assert_false(gs_path_exists(left));
    /* One that is old and held is another writer at work. */
    assert_int_equal(utimensat(AT_FDCWD, gs_shards_folder(shards), old, 0), 0);
    struct gs_shards *other;
    gs_assert_ok(gs_shards_create(path, 5, true, &other, &error), &error);
    assert_true(gs_path_exists(gs_shards_folder(shards)));
    assert_string_not_equal(gs_shards_folder(shards), gs_shards_folder(other));
    gs_shards_destroy(other);
    gs_shards_destroy(shards);
    assert_int_equal(names_in(gs_scratch_path("swept")), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_documents_in_shards),
        cmocka_unit_test(test_bytes_are_little_endian),
        cmocka_unit_test(test_existing_output),
        cmocka_unit_test(test_nothing_left_behind),
        cmocka_unit_test(test_sweeping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
