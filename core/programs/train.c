/* gpnscope train - a model from a config: checkpoints and a log. */
#include "core/base/memory_room.h"
#include "core/programs/command.h"
#include "core/results/results.h"
#include "core/training/loop.h"

#include <inttypes.h>
#include <math.h>

static struct gs_list set_option;
static size_t steps_option;
static bool steps_given, ignore_memory_option;

static const struct gs_option options[] = {
    {"set", GS_OPTION_LIST, &set_option, "KEY=VALUE",
     "Another value for a key of the config, dotted: training.batch_size=8. The value is JSON, or "
     "text when it is none. Repeatable; the last one counts.",
     NULL},
    {"steps", GS_OPTION_SIZE, &steps_option, "N",
     "Stop after N steps of this run; the schedule stays that of training.total_steps. Default: "
     "training.run_steps of the config, or all.",
     &steps_given},
    {"ignore-memory", GS_OPTION_FLAG, &ignore_memory_option, NULL,
     "Train also where the predicted memory is more than there is room for. Default: such a run is "
     "refused, with the setting that would fit.",
     NULL},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

/* A number of the command line that the config could not hold either. */
static enum gs_status check_number(const char *option, uint64_t least, uint64_t most,
                                   uint64_t number, struct gs_error *error) {
    if (number >= least && number <= most) return GS_OK;
    gs_fail(error, GS_USAGE, "%s is out of range", option);
    gs_error_expected(error, "%" PRIu64 " to %" PRIu64, least, most);
    gs_error_found(error, "%" PRIu64, number);
    return GS_USAGE;
}

static enum gs_status read_config(const struct gs_call *call, struct gs_training_config **config,
                                  struct gs_error *error) {
    const uint64_t most_steps = 1000000000000000, most_seed = INT64_MAX; /* config_fields.c */
    enum gs_status status = GS_OK;
    if (steps_given) status = check_number("--steps", 1, most_steps, steps_option, error);
    if (status == GS_OK && call->seed_given)
        status = check_number("--seed", 0, most_seed, call->seed, error);
    if (status != GS_OK) return status;
    const struct gs_training_overrides overrides = {.sets = set_option.items,
                                                    .set_count = set_option.count,
                                                    .output = call->output,
                                                    .seed = call->seed_given ? &call->seed : NULL,
                                                    .ignore_memory = ignore_memory_option,
                                                    .steps = steps_option};
    return gs_training_config_read(call->files[0], &overrides, config, error);
}

/* ---- what is said before and after ---------------------------------------------------------- */

static void say_plan(const struct gs_call *call, const struct gs_training_plan *plan) {
    gs_call_message(call, "%s with %zu parameters; training takes %.0f MB of memory", plan->kind,
                    plan->parameters, ceil((double)plan->memory / 1e6));
    if (plan->restarted)
        gs_call_message(call, "the earlier run was stopped before its first checkpoint: it begins "
                              "anew");
    if (plan->from) gs_call_message(call, "starting from %s", plan->from);
    if (*plan->changed)
        gs_call_warning(call, "settings differ from the earlier run's: %s", plan->changed);
    gs_call_message(call, "steps %zu to %zu of %llu tokens each; the data hold %llu tokens",
                    plan->first_step, plan->last_step, (unsigned long long)plan->tokens_a_step,
                    (unsigned long long)plan->tokens);
    if (plan->last_step < plan->wanted_step)
        gs_call_message(call, "the data will end after step %zu; %zu were asked for",
                        plan->last_step, plan->wanted_step);
}

static void say_report(const struct gs_call *call, const struct gs_training_report *report,
                       const struct gs_training_plan *plan) {
    if (report->exhausted)
        gs_call_warning(call,
                        "the data were used up at step %zu, before step %zu: %llu tokens used, "
                        "%llu at the end dropped, too few for a step",
                        report->step, plan->wanted_step, (unsigned long long)report->tokens_used,
                        (unsigned long long)report->tokens_dropped);
    if (report->skipped > 0)
        gs_call_warning(call, "%zu of %zu steps had no finite gradient and changed nothing",
                        report->skipped, report->step);
}

/* How it went, as its values. */
static enum gs_status add_values(struct gs_results *results,
                                 const struct gs_training_report *report,
                                 const struct gs_training_plan *plan, struct gs_error *error) {
    const struct {
        const char *name, *unit;
        double value;
    } values[] = {
        {"train.steps", "step", (double)report->step},
        {"train.steps.skipped", "step", (double)report->skipped},
        {"train.tokens", "token", (double)report->tokens_used},
        {"train.tokens.dropped", "token", (double)report->tokens_dropped},
        {"train.memory.predicted", "byte", (double)plan->memory},
        {"train.memory.peak", "byte", (double)gs_memory_peak()},
    };
    enum gs_status status = GS_OK;
    for (size_t i = 0; i < sizeof values / sizeof *values && status == GS_OK; i++)
        status = gs_results_number(results, values[i].name, values[i].value, values[i].unit,
                                   report->step, error);
    bool ran = report->seconds > 0;
    const char *reason = ran ? NULL : "no step was left to do";
    const struct gs_value loss = {.value = ran ? report->loss : NAN,
                                  .unit = "nat/token",
                                  .n = report->step,
                                  .status = ran && isfinite(report->loss) ? "ok" : "undefined",
                                  .reason = reason};
    const struct gs_value rate = {.value = ran ? report->tokens_a_second : NAN,
                                  .unit = "token/s",
                                  .n = report->step,
                                  .status = ran ? "ok" : "undefined",
                                  .reason = reason};
    if (status == GS_OK) status = gs_results_add(results, "train.loss.last_step", &loss, error);
    if (status == GS_OK) status = gs_results_add(results, "train.tokens_per_second", &rate, error);
    return status;
}

/* The seed that counts is the config's: --seed only stands for it. */
static enum gs_status finish(const struct gs_call *call, const struct gs_training_config *config,
                             const struct gs_training *training,
                             const struct gs_training_report *report, struct gs_error *error) {
    const struct gs_training_plan *plan = gs_training_get_plan(training);
    struct gs_results *results = gs_results_create("train");
    if (!results) return gs_fail_memory(error, 1024, "results");
    enum gs_status status = add_values(results, report, plan, error);
    if (status == GS_OK)
        status = gs_results_setting_integer(results, "seed", (int64_t)config->seed, error);
    if (status == GS_OK) status = gs_results_source(results, call->files[0], NULL, error);
    if (status == GS_OK) status = gs_results_source(results, plan->final, NULL, error);
    if (status == GS_OK) status = gs_call_finish(call, results, error);
    gs_results_destroy(results);
    return status;
}

/* ---- the command ---------------------------------------------------------------------------- */

static enum gs_status train(const struct gs_call *call, const struct gs_training_config *config,
                            struct gs_error *error) {
    struct gs_training *training = NULL;
    struct gs_training_report report;
    enum gs_status status = gs_training_open(config, call->force, call->resume, &training, error);
    if (status != GS_OK) return status;
    const struct gs_training_plan *plan = gs_training_get_plan(training);
    say_plan(call, plan);
    status = gs_training_run(training, call->progress, &report, error);
    say_report(call, &report, plan);
    if (status == GS_OK) {
        gs_call_message(call, "the log is %s", plan->log);
        gs_call_message(call, "the model is %s", plan->final);
        status = finish(call, config, training, &report, error);
    }
    gs_training_close(training);
    return status;
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    struct gs_training_config *config = NULL;
    enum gs_status status = read_config(call, &config, error);
    if (status == GS_OK) status = gs_call_check_outputs(call, error);
    if (status == GS_OK) status = train(call, config, error);
    gs_training_config_destroy(config);
    return status;
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "train",
        .summary = "train a model from a config, with checkpoints and a log",
        .synopsis = "CONFIG [-o DIR]",
        .description =
            "Reads the authors' JSON config (model, training, optimizer, logging, dirs, name) "
            "with\n"
            "the model's kind and, optionally, init, a checkpoint to start from. Relative paths "
            "in\n"
            "it are relative to its own folder. Writes into dirs.checkpoint and dirs.log, or DIR:\n"
            "\n"
            "  NAME_0.safetensors           the untrained model, a null for the analyses\n"
            "  NAME_<step>.safetensors      every logging.save_every steps\n"
            "  NAME_final.safetensors       where the run ended\n"
            "  NAME_<step>.resume.safetensors, NAME_final.resume.safetensors\n"
            "                               what --resume needs to go on, bit for bit\n"
            "  NAME_train_log.csv           step, loss, lr, grad_norm, then the model's metrics\n"
            "  NAME_train_speed.csv         what the progress line says: loss, tokens a second,\n"
            "                               time left\n"
            "\n"
            "optimizer.schedule is cosine_after_warmup, where the cosine begins when the warm-up\n"
            "ends, or cosine_from_start, where it is counted from step 0 and the rate drops "
            "there;\n"
            "optimizer.clip_epsilon is added to the norm that clipping divides by. Each kind has\n"
            "its authors' as default.\n"
            "\n"
            "logging.keep N leaves only the newest N of the checkpoints in the middle, and what\n"
            "resuming from them needs; older ones go when a new one is safely on disk. 0, the\n"
            "default, keeps all. logging.save_at lists steps whose models are saved, too, and "
            "stay:\n"
            "[1, 10, 100, 1000] shows how a model becomes what it is.\n"
            "\n"
            "Interrupted (Ctrl-C), it finishes the step and saves; a second Ctrl-C ends it at "
            "once,\n"
            "and what was saved last is whole. --resume goes on from the latest step, also after "
            "a\n"
            "kill; --force removes an earlier run's files of the same name; --seed stands for\n"
            "training.seed.\n"
            "\n"
            "  gpnscope train config.json -o run --set training.total_steps=2000",
        .options = options,
        .common = GS_TAKES_OUTPUT | GS_TAKES_JSON | GS_TAKES_SEED | GS_TAKES_RESUME,
        .min_files = 1,
        .max_files = 1,
        .run = run};
    return gs_command_main(&command, argc, argv);
}
