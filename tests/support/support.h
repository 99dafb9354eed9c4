/* support.h - what the tests share: where things are, scratch folders, closeness that NaN fails. */
#ifndef GS_TESTS_SUPPORT_SUPPORT_H
#define GS_TESTS_SUPPORT_SUPPORT_H

#include "core/base/status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Fail the test, printing the error, unless status is GS_OK. */
void gs_assert_ok_at(enum gs_status status, const struct gs_error *error, const char *file,
                     int line);
#define gs_assert_ok(call, error) gs_assert_ok_at((call), (error), __FILE__, __LINE__)

/* Fail unless `status` is `expected` and the error's text contains every one of the words (NULL
 * ends them). */
void gs_assert_error_at(enum gs_status status, enum gs_status expected,
                        const struct gs_error *error, const char *file, int line, ...);
#define gs_assert_error(call, expected, error, ...)                                                \
    gs_assert_error_at((call), (expected), (error), __FILE__, __LINE__, __VA_ARGS__, NULL)

/* |a - b| <= relative * (largest |b|) for all; prints index, both values, tolerance. Passes no NaN
 * unless both are, and no infinity unless both are the same. */
void gs_assert_close_at(const char *name, const float *a, const float *b, size_t count,
                        double relative, const char *file, int line);
#define gs_assert_close(name, a, b, count, relative)                                               \
    gs_assert_close_at((name), (a), (b), (count), (relative), __FILE__, __LINE__)
/* For scalars: |a - b| <= absolute + relative * |b|. NaN never passes. */
void gs_assert_near_at(const char *name, double a, double b, double absolute, double relative,
                       const char *file, int line);
#define gs_assert_near(name, a, b, absolute, relative)                                             \
    gs_assert_near_at((name), (a), (b), (absolute), (relative), __FILE__, __LINE__)

/* A fresh empty folder for this test, removed at exit. Borrowed. */
const char *gs_scratch_folder(void);
/* A path inside it; borrowed, lives until exit. */
const char *gs_scratch_path(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A path below ../shared ($GS_SHARED), borrowed; NULL (say so and skip()) when it is absent. */
const char *gs_shared_path(const char *relative);
/* A path below the source tree ($GS_SOURCE), e.g. "fixtures/…". Borrowed. */
const char *gs_source_path(const char *relative);
/* Write bytes to a file of the scratch folder and give its path. */
const char *gs_scratch_file(const char *name, const void *bytes, size_t size);

#endif
