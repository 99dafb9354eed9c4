/* How much memory there is room for, read from systems that are made up here. */
#include "tests/support/support.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/memory_room.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static const size_t MB = 1000000;

/* A file of a made-up system, with the folders above it. */
static void put(const char *system, const char *path, const char *text) {
    struct gs_error error = {0};
    char relative[512];
    snprintf(relative, sizeof relative, "%s%s", system, path);
    char *folder = gs_path_folder(gs_scratch_path("%s", relative));
    gs_assert_ok(gs_folder_create(folder, &error), &error);
    gs_free(folder);
    gs_scratch_file(relative, text, strlen(text));
}

static void expect(const char *system, size_t bytes, const char *limit) {
    struct gs_memory_room room;
    gs_memory_room(gs_scratch_path("%s", system), 1, &room);
    print_message("%s: %zu, %s\n", system, room.bytes, room.limit);
    assert_int_equal(room.bytes, bytes);
    assert_non_null(strstr(room.limit, limit));
}

static void test_machine(void **state) {
    (void)state;
    put("plain", "/proc/meminfo", "MemTotal:  9000 kB\nMemFree: 10 kB\nMemAvailable:   2000 kB\n");
    expect("plain", (size_t)2000 * 1024, "machine");
    /* without MemAvailable, what is built in */
    put("old", "/proc/meminfo", "MemTotal:  9000 kB\n");
    struct gs_memory_room room;
    gs_memory_room(gs_scratch_path("old"), 1, &room);
    assert_int_equal(room.bytes, (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE));
    assert_non_null(strstr(room.limit, "physical"));
}

/* Version 2: the group itself and those above it; file cache counts as free. */
static void test_groups_2(void **state) {
    (void)state;
    put("two", "/proc/meminfo", "MemAvailable: 900000000 kB\n");
    put("two", "/proc/self/cgroup", "0::/a/b\n");
    put("two", "/sys/fs/cgroup/a/b/memory.max", "max\n");
    put("two", "/sys/fs/cgroup/a/b/memory.current", "5000000\n");
    expect("two", (size_t)900000000 * 1024, "machine");
    put("two", "/sys/fs/cgroup/a/b/memory.max", "80000000\n");
    expect("two", 75 * MB, "control group");
    put("two", "/sys/fs/cgroup/a/b/memory.stat",
        "anon 1000000\ninactive_anon 7\nactive_file 1000000\ninactive_file 3000000\n");
    expect("two", 79 * MB, "control group");
    put("two", "/sys/fs/cgroup/a/memory.max", "60000000\n");
    put("two", "/sys/fs/cgroup/a/memory.current", "50000000\n");
    expect("two", 10 * MB, "control group");
    put("two", "/sys/fs/cgroup/a/memory.current", "70000000\n");
    expect("two", 0, "control group");
    /* in a container only the top of the tree can be seen */
    put("inside", "/proc/meminfo", "MemAvailable: 900000000 kB\n");
    put("inside", "/proc/self/cgroup", "0::/docker/0123456789\n");
    put("inside", "/sys/fs/cgroup/memory.max", "40000000\n");
    put("inside", "/sys/fs/cgroup/memory.current", "1000000\n");
    expect("inside", 39 * MB, "control group");
}

static void test_groups_1(void **state) {
    (void)state;
    put("one", "/proc/meminfo", "MemAvailable: 900000000 kB\n");
    put("one", "/proc/self/cgroup", "12:cpu,cpuacct:/x\n4:memory:/user/me\n0::/x\n");
    put("one", "/sys/fs/cgroup/memory/user/me/memory.limit_in_bytes", "9223372036854771712\n");
    put("one", "/sys/fs/cgroup/memory/user/me/memory.usage_in_bytes", "1000000\n");
    expect("one", (size_t)900000000 * 1024, "machine");
    put("one", "/sys/fs/cgroup/memory/user/memory.limit_in_bytes", "50000000\n");
    put("one", "/sys/fs/cgroup/memory/user/memory.usage_in_bytes", "20000000\n");
    put("one", "/sys/fs/cgroup/memory/user/memory.stat",
        "cache 1\ntotal_inactive_file 4000000\ntotal_active_file 1000000\n");
    expect("one", 35 * MB, "control group");
}

/* Files that hold something else limit nothing. */
static void test_nonsense(void **state) {
    (void)state;
    put("odd", "/proc/meminfo", "MemAvailable: 2000 kB\n");
    put("odd", "/proc/self/cgroup", "\n:\n0:\nmemory\n0::\n9:memory:\n0::no/slash\n");
    put("odd", "/sys/fs/cgroup/memory.max", "many\n");
    put("odd", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "");
    expect("odd", (size_t)2000 * 1024, "machine");
}

#ifndef __SANITIZE_ADDRESS__ /* whose shadow takes more address space than any limit */
static void test_process(void **state) {
    (void)state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    const rlim_t limit = (rlim_t)8000 * MB;
    const struct rlimit narrow = {limit, before.rlim_max};
    struct gs_memory_room one, four;
    assert_int_equal(setrlimit(RLIMIT_AS, &narrow), 0);
    put("wide", "/proc/meminfo", "MemAvailable: 900000000 kB\n");
    put("wide", "/proc/self/statm", "1000 500 0 0 0 0 0\n");
    gs_memory_room(gs_scratch_path("wide"), 1, &one);
    gs_memory_room(gs_scratch_path("wide"), 4, &four);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_non_null(strstr(one.limit, "ulimit -v"));
    size_t used = 1000 * (size_t)sysconf(_SC_PAGESIZE);
    assert_true(one.bytes < limit - used && one.bytes > limit - used - 200 * MB);
    assert_true(four.bytes < one.bytes); /* stacks */
}

/* The real system: what is taken shows, and what is given back, which the sanitizer keeps. */
static void test_resident(void **state) {
    (void)state;
    size_t before = gs_memory_resident(), peak = gs_memory_peak();
    if (before == 0) skip();
    struct gs_memory_room room;
    gs_memory_room("", 1, &room);
    assert_true(room.bytes > MB);
    char *block = gs_calloc(64 * MB, 1);
    assert_non_null(block);
    memset(block, 1, 64 * MB);
    size_t after = gs_memory_resident();
    assert_true(after >= before + 60 * MB && after <= before + 80 * MB);
    assert_true(gs_memory_peak() >= after - MB && gs_memory_peak() >= peak);
    gs_free(block);
    assert_true(gs_memory_resident() < after - 50 * MB);
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machine),  cmocka_unit_test(test_groups_2),
        cmocka_unit_test(test_groups_1), cmocka_unit_test(test_nonsense),
#ifndef __SANITIZE_ADDRESS__
        cmocka_unit_test(test_process),  cmocka_unit_test(test_resident),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
