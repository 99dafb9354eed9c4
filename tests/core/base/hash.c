/* SHA-256 against the vectors of FIPS 180-4 and NIST's examples; files and folders. */
#include "tests/support/support.h"

#include "core/base/hash.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void hash_of(const void *bytes, size_t size, size_t step, char text[GS_SHA256_TEXT]) {
    struct gs_sha256 *hash = gs_sha256_create();
    assert_non_null(hash);
    for (size_t at = 0; at < size; at += step)
        gs_sha256_update(hash, (const char *)bytes + at, size - at < step ? size - at : step);
    gs_sha256_finish(hash, text);
    gs_sha256_destroy(hash);
}

static const char of_nothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
static const char of_abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
static const char of_two_blocks[] =
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1";
static const char of_million_a[] =
    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0";

static void test_vectors(void **state) {
    (void)state;
    char text[GS_SHA256_TEXT];
    const char *two_blocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    hash_of("", 0, 1, text);
    assert_string_equal(text, of_nothing);
    hash_of("abc", 3, 3, text);
    assert_string_equal(text, of_abc);
    for (size_t step = 1; step <= 56; step += 5) {
        hash_of(two_blocks, 56, step, text);
        assert_string_equal(text, of_two_blocks);
    }
    static char many[1000000];
    memset(many, 'a', sizeof many);
    hash_of(many, sizeof many, 4097, text);
    assert_string_equal(text, of_million_a);
    gs_sha256_destroy(NULL);
}

static void test_files(void **state) {
    (void)state;
    struct gs_error error;
    char text[GS_SHA256_TEXT];
    static char many[1000000];
    memset(many, 'a', sizeof many);
    gs_assert_ok(gs_sha256_path(gs_scratch_file("a", many, sizeof many), text, &error), &error);
    assert_string_equal(text, of_million_a);
    gs_assert_ok(gs_sha256_path(gs_scratch_file("empty", "", 0), text, &error), &error);
    assert_string_equal(text, of_nothing);
    gs_assert_error(gs_sha256_path(gs_scratch_path("absent"), text, &error), GS_MISSING, &error,
                    "absent", "cannot open");
    gs_assert_error(gs_sha256_path("/dev/zero", text, &error), GS_IO, &error, "/dev/zero");
    const char *pipe_path = gs_scratch_path("pipe");
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    gs_assert_error(gs_sha256_path(pipe_path, text, &error), GS_IO, &error, "pipe");
}

/* A folder's digest is of names and contents: it moves with each, and not with the time, the order
 * of making, hidden files or folders inside. */
static void test_folders(void **state) {
    (void)state;
    struct gs_error error;
    char first[GS_SHA256_TEXT], second[GS_SHA256_TEXT], own[GS_SHA256_TEXT];
    const char *one = gs_scratch_path("one"), *two = gs_scratch_path("two");
    assert_int_equal(mkdir(one, 0700), 0);
    assert_int_equal(mkdir(two, 0700), 0);
    gs_scratch_file("one/a", "abc", 3);
    gs_scratch_file("one/b", "", 0);
    gs_scratch_file("two/b", "", 0);
    gs_scratch_file("two/a", "abc", 3);
    gs_scratch_file("two/.hidden", "x", 1);
    assert_int_equal(mkdir(gs_scratch_path("two/inside"), 0700), 0);
    gs_assert_ok(gs_sha256_path(one, first, &error), &error);
    gs_assert_ok(gs_sha256_path(two, second, &error), &error);
    assert_string_equal(first, second);

    char listing[256]; /* the definition, a second way */
    int length = snprintf(listing, sizeof listing, "a%c%s\nb%c%s\n", 0, of_abc, 0, of_nothing);
    hash_of(listing, (size_t)length, 7, own);
    assert_string_equal(first, own);

    gs_scratch_file("two/a", "abd", 3);
    gs_assert_ok(gs_sha256_path(two, second, &error), &error);
    assert_string_not_equal(first, second);
    assert_int_equal(rename(gs_scratch_path("one/b"), gs_scratch_path("one/c")), 0);
    gs_assert_ok(gs_sha256_path(one, second, &error), &error);
    assert_string_not_equal(first, second);
}

static void a_file_is_hashed_meanwhile(void **state) {
    (void)state;
    struct gs_error error;
    struct gs_sha256_job *jobs[3];
    char text[GS_SHA256_TEXT];
    static char many[1000000];
    memset(many, 'a', sizeof many);
    const char *path = gs_scratch_file("meanwhile", many, sizeof many);
    for (size_t i = 0; i < 3; i++) gs_assert_ok(gs_sha256_start(path, &jobs[i], &error), &error);
    gs_sha256_cancel(jobs[1]);
    gs_sha256_cancel(NULL);
    for (size_t i = 0; i < 3; i += 2) {
        gs_assert_ok(gs_sha256_join(jobs[i], text, &error), &error);
        assert_string_equal(text, of_million_a);
    }
    gs_assert_ok(gs_sha256_start(gs_scratch_path("absent"), jobs, &error), &error);
    gs_assert_error(gs_sha256_join(jobs[0], text, &error), GS_MISSING, &error, "absent");
}

/* A sparse file of a terabyte, which takes minutes. */
static void a_long_hash_is_given_up(void **state) {
    (void)state;
    struct gs_sha256_job *job;
    const char *path = gs_scratch_file("sparse", "", 0);
    assert_int_equal(truncate(path, (off_t)1 << 40), 0);
    gs_assert_ok(gs_sha256_start(path, &job, NULL), NULL);
    gs_sha256_cancel(job);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_folders),
        cmocka_unit_test(a_file_is_hashed_meanwhile),
        cmocka_unit_test(a_long_hash_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
