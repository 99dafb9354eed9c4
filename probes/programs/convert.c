/* gpnscope convert - files of others as files of ours. */
#include "core/programs/command.h"
#include "probes/inspect/file_kind.h"
#include "probes/programs/convert_checkpoint.h"
#include "probes/programs/version.h"

static struct gs_convert_checkpoint_options checkpoint;

static const struct gs_option options[] = {
    {"config", GS_OPTION_TEXT, &checkpoint.config, "FILE",
     "What model a checkpoint is: {\"kind\": …, \"model\": {…}}, a training config, or a "
     "HuggingFace config.json; the tensors are checked against it. Default: what the file or a "
     "config.json beside it says, or else what names and shapes say.",
     NULL},
    {"map", GS_OPTION_TEXT, &checkpoint.map, "FILE",
     "Other names in a checkpoint: a JSON object {OURS: THEIRS, …} or {OURS: {\"name\": THEIRS, "
     "\"transpose\": true}, …}. What it does not name is left out.",
     NULL},
    {"run", GS_OPTION_TEXT, &checkpoint.run, "CONFIG",
     "A checkpoint becomes a run of this training config that gpnscope train --resume goes on "
     "with: Adam's moments, step and position in the data come along. -o is the run's folder; "
     "default: the config's own.",
     NULL},
    {"bfloat16", GS_OPTION_FLAG, &checkpoint.void_is_bfloat16, NULL,
     "Two-byte numbers whose type has lost its name (numpy's V2) are bfloat16. Default: they are "
     "refused.",
     NULL},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

static enum gs_status fail_kind(const char *path, enum gs_file_kind kind, struct gs_error *error) {
    gs_fail(error, GS_UNSUPPORTED, "there is nothing to convert");
    gs_error_expected(error, "a checkpoint (.safetensors, .pkl, .pt)");
    gs_error_found(error, "%s", gs_file_kind_name(kind));
    gs_error_where(error, "%s", path);
    return GS_UNSUPPORTED;
}

static enum gs_status run(const struct gs_call *call, struct gs_error *error) {
    enum gs_file_kind kind;
    enum gs_status status = gs_file_recognise(call->files[0], &kind, error);
    if (status != GS_OK) return status;
    switch (kind) {
    case GS_KIND_SAFETENSORS:
    case GS_KIND_PICKLED:
        return gs_convert_checkpoint(call, &checkpoint, error);
    default:
        return fail_kind(call->files[0], kind, error);
    }
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "convert",
        .summary = "bring in checkpoints of other programs",
        .synopsis = "FILE -o OUT",
        .description =
            "Tells what FILE is from its content and writes it as one of ours:\n"
            "\n"
            "  a pickle of numpy's or jax's arrays    such as the authors' checkpoint.pkl\n"
            "  a file of torch.save                   of tensors, or of a state_dict\n"
            "  safetensors                            of any origin, float16 to float64\n"
            "\n"
            "OUT is a .safetensors file with float32 parameters and the model's config. Commands "
            "that take a checkpoint read all of these as they are, too; converting is for other "
            "names (--map) and for going on with training (--run).\n"
            "\n"
            "A pickle is read as data: nothing in it is imported or executed.\n"
            "\n"
            "  gpnscope convert checkpoint.pkl -o model.safetensors\n"
            "  gpnscope convert checkpoint.pkl --run config.json -o run\n"
            "  gpnscope train config.json -o run --resume",
        .options = options,
        .common = GS_TAKES_OUTPUT,
        .min_files = 1,
        .max_files = 1,
        .run = run,
        .version = gs_probes_version,
    };
    return gs_command_main(&command, argc, argv);
}
