/* runner.c - a fuzz target without libFuzzer: every input of a corpus, then seeded changes of them.
 *
 *     fuzz_NAME [--runs N] [--seconds N] [--seed N] [--most BYTES] [--faults FOLDER] FILE|FOLDER…
 *
 * The target runs in a child. Whatever way that dies, the input it was at is in memory of both, and
 * is written to FOLDER/NAME-SEED-RUN; running that file alone shows the fault again. The same seed
 * and corpus make the same inputs. Exit 0: no fault, 1: a fault, 2: usage or a file that cannot be
 * read.
 */
#include "core/base/file.h"
#include "core/base/numbers.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/target.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

struct options {
    uint64_t runs, seconds, seed, most;
    const char *faults, *name;
};

/* Of parent and child. */
struct shared {
    uint64_t executions;
    bool finished;
    double seconds;
    char from[512]; /* the corpus input, or the one that was changed */
    size_t size;
    unsigned char bytes[];
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/* ---- the child ---- */

/* In an allocation of its own size, so that a read past its end is seen. */
static void execute(struct shared *shared) {
    const struct itimerval time = {{0, 0}, {GS_FUZZ_SECONDS, 0}};
    uint8_t *bytes = malloc(shared->size ? shared->size : 1);
    if (!bytes) gs_fuzz_fault("no memory for an input");
    if (shared->size) memcpy(bytes, shared->bytes, shared->size);
    setitimer(ITIMER_PROF, &time, NULL); /* CPU time of all threads; SIGPROF ends the child */
    LLVMFuzzerTestOneInput(bytes, shared->size);
    free(bytes);
    shared->executions++;
}

static void look_for_leaks(void) {
#if SANITIZED
    if (__lsan_do_recoverable_leak_check()) gs_fuzz_fault("a leak");
#endif
}

static void limit_memory(void) {
#if !SANITIZED
    struct rlimit limit = {(rlim_t)4 << 30, (rlim_t)4 << 30};
    setrlimit(RLIMIT_AS, &limit);
#endif
}

static void child(struct shared *shared, const struct options *options,
                  const struct gs_corpus *corpus) {
    struct gs_random random;
    double start = now();
    limit_memory();
    for (size_t i = 0; i < corpus->count; i++) {
        if (corpus->inputs[i].size > options->most) continue;
        snprintf(shared->from, sizeof shared->from, "%s", corpus->names[i]);
        shared->size = corpus->inputs[i].size;
        if (shared->size) memcpy(shared->bytes, corpus->inputs[i].bytes, shared->size);
        execute(shared);
        look_for_leaks();
    }
    gs_random_seed(&random, options->seed, "fuzz");
    for (uint64_t run = 1; run <= options->runs; run++) {
        if (options->seconds && now() - start >= (double)options->seconds) break;
        size_t from = (size_t)gs_random_below(&random, corpus->count);
        size_t other = (size_t)gs_random_below(&random, corpus->count);
        snprintf(shared->from, sizeof shared->from, "%s", corpus->names[from]);
        shared->size = gs_mutate(&corpus->inputs[from], &corpus->inputs[other], shared->bytes,
                                 (size_t)options->most, &random);
        execute(shared);
        if (run % 1000 == 0) look_for_leaks();
        shared->seconds = now() - start;
    }
    look_for_leaks();
    shared->seconds = now() - start;
}

/* ---- the parent ---- */

static int report_fault(const struct shared *shared, const struct options *options, int how) {
    char path[512], text[1024];
    struct gs_error error;
    snprintf(path, sizeof path, "%s/%s-%llu-%llu", options->faults, options->name,
             (unsigned long long)options->seed, (unsigned long long)shared->executions);
    if (WIFSIGNALED(how) && WTERMSIG(how) == SIGPROF)
        fprintf(stderr, "fault: an input took more than %d seconds\n", GS_FUZZ_SECONDS);
    else if (WIFSIGNALED(how))
        fprintf(stderr, "fault: %s\n", strsignal(WTERMSIG(how)));
    else
        fprintf(stderr, "fault: ended with exit code %d\n", WEXITSTATUS(how));
    if (gs_folder_create(options->faults, &error) != GS_OK ||
        gs_file_write(path, true, shared->bytes, shared->size, &error) != GS_OK)
        fprintf(stderr, "%s\n", gs_error_text(&error, text, sizeof text));
    fprintf(stderr, "%s: after %llu executions, on %zu bytes made from %s: %s\n", options->name,
            (unsigned long long)shared->executions, shared->size, shared->from, path);
    return 1;
}

static int run(const struct options *options, const struct gs_corpus *corpus) {
    size_t room = sizeof(struct shared) + options->most;
    struct shared *shared =
        mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    char folder[] = "/tmp/gpnscope-fuzz-XXXXXX", remove[64];
    if (shared == MAP_FAILED || !mkdtemp(folder)) return 2;
    setenv("GS_FUZZ_FOLDER", folder, 1);
    int how = 0;
    pid_t process = fork(); /* nothing is open, no thread runs yet */
    if (process == 0) {
        child(shared, options, corpus);
        shared->finished = true; /* a reader that calls exit() does not come here */
        _exit(0);
    }
    if (process < 0 || waitpid(process, &how, 0) != process) return 2;
    char **names;
    size_t count;
    if (gs_folder_list(folder, &names, &count, NULL) == GS_OK) {
        for (size_t i = 0; i < count; i++) {
            snprintf(remove, sizeof remove, "%s/%.30s", folder, names[i]);
            unlink(remove);
        }
        gs_free_names(names, count);
    }
    rmdir(folder);
    if (how != 0 || !shared->finished) return report_fault(shared, options, how);
    printf("%s: %llu executions in %.1f s, %.0f a second, %zu inputs in the corpus, no fault\n",
           options->name, (unsigned long long)shared->executions, shared->seconds,
           (double)shared->executions / (shared->seconds > 0 ? shared->seconds : 1), corpus->count);
    return 0;
}

static int usage(const char *why) {
    fprintf(stderr,
            "%s\nusage: [--runs N] [--seconds N] [--seed N] [--most BYTES] [--faults FOLDER] "
            "FILE|FOLDER...\n",
            why);
    return 2;
}

int main(int count, char **words) {
    struct options options = {0, 0, 1, 64 * 1024, ".", strrchr(words[0], '/')};
    struct gs_corpus corpus = {0};
    struct gs_error error;
    char text[2048];
    bool runs = false;
    options.name = options.name ? options.name + 1 : words[0];
    for (int i = 1; i < count; i++) {
        const char *word = words[i];
        uint64_t *number = strcmp(word, "--runs") == 0      ? &options.runs
                           : strcmp(word, "--seconds") == 0 ? &options.seconds
                           : strcmp(word, "--seed") == 0    ? &options.seed
                           : strcmp(word, "--most") == 0    ? &options.most
                                                            : NULL;
        runs = runs || number == &options.runs;
        if (number || strcmp(word, "--faults") == 0) {
            if (++i == count) return usage("a value is missing");
            if (!number)
                options.faults = words[i];
            else if (sscanf(words[i], "%lu", number) != 1)
                return usage("no number");
        } else if (gs_corpus_add(&corpus, word, &error) != GS_OK)
            return usage(gs_error_text(&error, text, sizeof text));
    }
    if (!corpus.count) return usage("there is no input");
    if (options.seconds && !runs) options.runs = UINT64_MAX;
    int code = run(&options, &corpus);
    gs_corpus_clear(&corpus);
    return code;
}
