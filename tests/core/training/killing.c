/* The real program killed at random moments, again and again until it is done: the end is the same
 * bits as that of a run that nobody touched. GS_KILLS: how many kills, 100 unless given. */
#include "tests/core/training/broken_run.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/base/random.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void sleep_for(double seconds) {
    const struct timespec time = {(time_t)seconds,
                                  (long)((seconds - (double)(time_t)seconds) * 1e9)};
    nanosleep(&time, NULL);
}

/* Nothing of the run is there: killed before its first file, it is not to be resumed. */
static bool is_empty(const char *folder) {
    struct gs_error error = {0};
    char **names;
    size_t count;
    if (!gs_path_is_folder(folder)) return true;
    gs_assert_ok(gs_folder_list(folder, &names, &count, &error), &error);
    size_t visible = 0;
    for (size_t i = 0; i < count; i++) visible += names[i][0] != '.';
    gs_free_names(names, count);
    return visible == 0;
}

struct killer {
    struct gs_random random;
    double longest; /* seconds until a kill */
    size_t kills, starts;
    const char *sets[2];
};

/* Once more; true when it came to its end. */
static bool run_a_while(struct killer *killer, const char *folder) {
    const char *arguments[16] = {broken_config(), "-o", folder, "--quiet"};
    size_t count = 4;
    if (!is_empty(folder)) arguments[count++] = "--resume";
    for (size_t i = 0; i < 2 && killer->sets[i]; i++) {
        arguments[count++] = "--set";
        arguments[count++] = killer->sets[i];
    }
    pid_t child = child_start(arguments, NULL);
    sleep_for(killer->longest * gs_random_uniform(&killer->random));
    kill(child, SIGKILL);
    struct child_end end;
    child_wait(child, &end);
    killer->starts++;
    killer->kills += end.signal == SIGKILL;
    /* about ten kills to a run, however fast the machine is just now */
    killer->longest *= end.signal == SIGKILL ? 1.05 : 0.6;
    if (end.signal != SIGKILL && end.exit_code != 0) print_message("%s\n", end.said);
    assert_true(end.signal == SIGKILL || end.exit_code == 0);
    broken_assert_whole(folder);
    return end.signal != SIGKILL;
}

static size_t wanted_kills(void) {
    const char *text = getenv("GS_KILLS");
    return text ? strtoul(text, NULL, 10) : 100;
}

static void kill_until_done(const char *name, const char *const *sets) {
    char whole[1024], folder[1024];
    snprintf(whole, sizeof whole, "%s", gs_scratch_path("whole_%s", name));
    const uint64_t seed = (uint64_t)time(NULL);
    struct killer killer = {.sets = {sets[0], sets[0] ? sets[1] : NULL}};
    gs_random_seed(&killer.random, seed, name);
    double start = now();
    broken_run_ok(whole, "--set", sets[0], "--set", sets[1], NULL);
    killer.longest = 0.5 * (now() - start);
    size_t runs = 0;
    for (; killer.kills < wanted_kills() / 2; runs++) {
        snprintf(folder, sizeof folder, "%s", gs_scratch_path("%s_%zu", name, runs));
        while (!run_a_while(&killer, folder))
            if (killer.starts > 100 * wanted_kills()) fail();
        broken_assert_same(folder, whole);
    }
    print_message("%s, seed %llu: %zu kills in %zu runs, at last within %.0f ms\n", name,
                  (unsigned long long)seed, killer.kills, runs, 1e3 * killer.longest);
}

/* Most of the time goes into saving: so do most kills. */
static void test_killed_while_saving(void **state) {
    (void)state;
    if (!child_program()) skip();
    const char *const sets[] = {"logging.save_every=1", "logging.keep=2"};
    kill_until_done("saving", sets);
}

static void test_killed_while_training(void **state) {
    (void)state;
    if (!child_program()) skip();
    const char *const sets[] = {"logging.save_every=7", "training.truncate_bptt=20"};
    kill_until_done("training", sets);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_killed_while_saving),
        cmocka_unit_test(test_killed_while_training),
    };
    broken_work_in_memory();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
