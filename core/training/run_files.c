#include "core/training/run_files.h"

#include "core/base/file.h"
#include "core/base/memory.h"
#include "core/training/resume.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const suffixes[] = {
    [GS_RUN_MODEL] = ".safetensors", [GS_RUN_RESUME] = ".resume.safetensors"};

static char *path_of(const char *folder, const char *name, const char *label, const char *suffix) {
    size_t size = strlen(name) + strlen(label) + strlen(suffix) + 2;
    char *file = gs_calloc(size, 1);
    if (!file) return NULL;
    snprintf(file, size, "%s_%s%s", name, label, suffix);
    char *path = gs_path_join(folder, file);
    gs_free(file);
    return path;
}

char *gs_run_file_path(const struct gs_run_files *files, enum gs_run_file what, long long step) {
    char label[32] = "final";
    if (step != GS_RUN_FINAL) snprintf(label, sizeof label, "%lld", step);
    return path_of(files->checkpoint, files->name, label, suffixes[what]);
}

char *gs_run_log_path(const struct gs_run_files *files) {
    return path_of(files->log, files->name, "train_log", ".csv");
}

char *gs_run_speed_path(const struct gs_run_files *files) {
    return path_of(files->log, files->name, "train_speed", ".csv");
}

enum gs_status gs_run_files_prepare(const struct gs_run_files *files, struct gs_error *error) {
    enum gs_status status = gs_folder_create(files->checkpoint, error);
    if (status == GS_OK) status = gs_folder_create(files->log, error);
    return status;
}

/* ---- what lies there ------------------------------------------------------------------------- */

/* Is `file` a checkpoint file of this run? Then its kind and step. */
static bool recognise(const struct gs_run_files *files, const char *file, enum gs_run_file *what,
                      long long *step) {
    size_t length = strlen(files->name);
    if (strncmp(file, files->name, length) != 0 || file[length] != '_') return false;
    const char *label = file + length + 1;
    size_t digits = strspn(label, "0123456789");
    bool final = strncmp(label, "final", 5) == 0;
    if (!final && (digits == 0 || digits > 18)) return false;
    *step = final ? GS_RUN_FINAL : strtoll(label, NULL, 10);
    const char *suffix = label + (final ? 5 : digits);
    for (int i = GS_RUN_MODEL; i <= GS_RUN_RESUME; i++) {
        if (strcmp(suffix, suffixes[i]) != 0) continue;
        *what = (enum gs_run_file)i;
        return true;
    }
    return false;
}

bool gs_run_files_own(const struct gs_run_files *files, const char *path) {
    enum gs_run_file what;
    long long step;
    const char *slash = strrchr(path, '/');
    if (!recognise(files, slash ? slash + 1 : path, &what, &step)) return false;
    char *folder = gs_path_folder(path);
    bool own = folder && gs_path_same(folder, files->checkpoint);
    gs_free(folder);
    return own;
}

/* The step a file stands for: of a final one, what its resume file says; unknown: the latest. */
static long long true_step(const struct gs_run_files *files, long long step) {
    if (step != GS_RUN_FINAL) return step;
    long long found = 0;
    char *path = gs_run_file_path(files, GS_RUN_RESUME, GS_RUN_FINAL);
    if (!path || gs_resume_step(path, &found, NULL) != GS_OK) found = INT64_MAX;
    gs_free(path);
    return found;
}

/* Calls `act` for each file of the run from step `first` on, with `first` 0 also for the tables,
 * until one fails. */
typedef enum gs_status act_on_file(const char *path, const void *context, struct gs_error *error);

static enum gs_status each_table(const struct gs_run_files *files, act_on_file *act,
                                 const void *context, struct gs_error *error) {
    char *paths[] = {gs_run_log_path(files), gs_run_speed_path(files)};
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < 2 && status == GS_OK; i++) {
        if (!paths[i])
            status = gs_fail_memory(error, strlen(files->name), "a path");
        else if (gs_path_exists(paths[i]))
            status = act(paths[i], context, error);
    }
    for (size_t i = 0; i < 2; i++) gs_free(paths[i]);
    return status;
}

static enum gs_status each_file(const struct gs_run_files *files, long long first, act_on_file *act,
                                const void *context, struct gs_error *error) {
    char **names = NULL;
    size_t count = 0;
    enum gs_status status = GS_OK;
    if (first == 0) status = each_table(files, act, context, error);
    if (status == GS_OK && gs_path_is_folder(files->checkpoint))
        status = gs_folder_list(files->checkpoint, &names, &count, error);
    for (size_t i = 0; i < count && status == GS_OK; i++) {
        enum gs_run_file what;
        long long step;
        if (!recognise(files, names[i], &what, &step) || true_step(files, step) < first) continue;
        char *path = gs_path_join(files->checkpoint, names[i]);
        status =
            path ? act(path, context, error) : gs_fail_memory(error, strlen(names[i]), "a path");
        gs_free(path);
    }
    gs_free_names(names, count);
    return status;
}

static enum gs_status refuse(const char *path, const void *context, struct gs_error *error) {
    (void)context;
    gs_fail(error, GS_EXISTS, "an earlier run of this name has left its files");
    gs_error_found(error, "%s", path);
    gs_error_next(error, "go on from it with --resume, give another folder with -o, or remove "
                         "that run's files with --force");
    return GS_EXISTS;
}

enum gs_status gs_run_files_check(const struct gs_run_files *files, long long first, bool force,
                                  struct gs_error *error) {
    return force ? GS_OK : each_file(files, first, refuse, NULL, error);
}

struct kept_files {
    const char *const *paths;
    size_t count;
};

static enum gs_status remove_unless_kept(const char *path, const void *context,
                                         struct gs_error *error) {
    const struct kept_files *kept = context;
    for (size_t i = 0; i < kept->count; i++)
        if (strcmp(path, kept->paths[i]) == 0) return GS_OK;
    if (remove(path) == 0 || errno == ENOENT) return GS_OK;
    return gs_fail_errno(error, errno, "removing a file of the earlier run", path);
}

enum gs_status gs_run_files_remove(const struct gs_run_files *files, long long first,
                                   const char *const *keep, size_t keep_count,
                                   struct gs_error *error) {
    const struct kept_files kept = {keep, keep_count};
    return each_file(files, first, remove_unless_kept, &kept, error);
}

enum gs_status gs_run_files_latest(const struct gs_run_files *files, char **path,
                                   struct gs_error *error) {
    char **names = NULL;
    size_t count = 0;
    long long best_label = 0, best = -1;
    enum gs_status status = GS_OK;
    if (gs_path_is_folder(files->checkpoint))
        status = gs_folder_list(files->checkpoint, &names, &count, error);
    for (size_t i = 0; i < count && status == GS_OK; i++) {
        enum gs_run_file what;
        long long label;
        if (!recognise(files, names[i], &what, &label) || what != GS_RUN_RESUME) continue;
        long long step = true_step(files, label);
        if (step <= best) continue;
        best = step;
        best_label = label;
    }
    gs_free_names(names, count);
    if (status != GS_OK) return status;
    if (best < 0) {
        gs_fail(error, GS_MISSING, "there is nothing to go on from");
        gs_error_expected(error, "%s_<step>%s of an earlier run", files->name,
                          suffixes[GS_RUN_RESUME]);
        gs_error_where(error, "%s", files->checkpoint);
        gs_error_next(error, "begin the run without --resume");
        return GS_MISSING;
    }
    *path = gs_run_file_path(files, GS_RUN_RESUME, best_label);
    return *path ? GS_OK : gs_fail_memory(error, strlen(files->name), "a path");
}

/* ---- housekeeping: what cannot be removed is left alone -------------------------------------- */

static void remove_in(const char *folder, const char *name) {
    char *path = gs_path_join(folder, name);
    if (path) remove(path);
    gs_free(path);
}

static int compare_steps(const void *a, const void *b) {
    long long x = *(const long long *)a, y = *(const long long *)b;
    return (x < y) - (x > y); /* latest first */
}

/* Steps of all checkpoints in the middle, latest first, each once. */
static size_t list_steps(const struct gs_run_files *files, char **names, size_t count,
                         long long *steps) {
    size_t found = 0, distinct = 0;
    for (size_t i = 0; i < count; i++) {
        enum gs_run_file what;
        if (recognise(files, names[i], &what, &steps[found]) && steps[found] > 0) found++;
    }
    if (found) qsort(steps, found, sizeof *steps, compare_steps);
    for (size_t i = 0; i < found; i++)
        if (i == 0 || steps[i] != steps[i - 1]) steps[distinct++] = steps[i];
    return distinct;
}

static bool is_among(long long step, const size_t *steps, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (steps[i] == (size_t)step) return true;
    return false;
}

void gs_run_files_prune(const struct gs_run_files *files, size_t keep, const size_t *stay,
                        size_t stay_count) {
    char **names;
    size_t count;
    if (gs_folder_list(files->checkpoint, &names, &count, NULL) != GS_OK) return;
    long long *steps = gs_calloc(count + 1, sizeof *steps);
    size_t distinct = steps ? list_steps(files, names, count, steps) : 0;
    for (size_t i = 0; i < count && distinct > keep; i++) {
        enum gs_run_file what;
        long long step;
        if (!recognise(files, names[i], &what, &step)) continue;
        if (step <= 0 || step >= steps[keep - 1]) continue;
        if (what == GS_RUN_MODEL && is_among(step, stay, stay_count)) continue;
        remove_in(files->checkpoint, names[i]);
    }
    gs_free(steps);
    gs_free_names(names, count);
}

/* ".<name>_<step>.safetensors.gpnscope-<process>-<number>" and so on (core/base/output.c), or the
 * same of such a name (staged.c). */
static bool is_temporary(const struct gs_run_files *files, const char *name) {
    char of[256];
    const char *tail = strstr(name, ".gpnscope-");
    const char *begin = name + strspn(name, ".");
    if (begin == name || !tail || tail <= begin || (size_t)(tail - begin) >= sizeof of)
        return false;
    memcpy(of, begin, (size_t)(tail - begin));
    of[tail - begin] = '\0';
    enum gs_run_file what;
    long long step;
    if (recognise(files, of, &what, &step)) return true;
    size_t length = strlen(files->name);
    if (strncmp(of, files->name, length) != 0) return false;
    return strcmp(of + length, "_train_log.csv") == 0 ||
           strcmp(of + length, "_train_speed.csv") == 0;
}

void gs_run_files_sweep(const struct gs_run_files *files) {
    const char *const folders[] = {files->checkpoint, files->log};
    for (size_t k = 0; k < 2; k++) {
        char **names;
        size_t count;
        if (gs_folder_list(folders[k], &names, &count, NULL) != GS_OK) continue;
        for (size_t i = 0; i < count; i++)
            if (is_temporary(files, names[i])) remove_in(folders[k], names[i]);
        gs_free_names(names, count);
    }
}
