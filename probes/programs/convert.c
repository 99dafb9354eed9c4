/* gpnscope convert - files of others as files of ours. */
#include "core/programs/command.h"
#include "probes/inspect/file_kind.h"
#include "probes/programs/convert_checkpoint.h"
#include "probes/programs/convert_trace.h"
#include "probes/programs/version.h"

static struct gs_convert_checkpoint_options checkpoint;
static struct gs_convert_trace_options trace;

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
    {"with", GS_OPTION_LIST, &trace.with, "NAME=FILE",
     "A further array (.npy) for the trace, and what it is: token, nll, start (where each sequence "
     "begins, and the end), name, state/NAME, log_decay, write_strength, norm, "
     "memory/NAME/log_decay, …, read/NAME/share. Repeatable.",
     NULL},
    {"length", GS_OPTION_SIZE, &trace.length, "N",
     "Rows of a sequence, where no array says it. Default: all rows are one sequence.", NULL},
    {"rule", GS_OPTION_TEXT, &trace.rule, "gpn|gated_delta",
     "How the memory whose gates are brought in forgets. Default: not said.", NULL},
    {"deflate", GS_OPTION_SIZE, &trace.deflate, "N",
     "Compress a trace at level 1 to 9. Default: 0, not at all.", NULL},
    {"stream", GS_OPTION_LIST, &trace.streams, "NAME",
     "What to take out of a trace; repeatable for an .npz. Default: all for an .npz, else the one "
     "that is measured without a name. Of a .npy that is brought in: what to call its states "
     "(default: state).",
     NULL},
    {"rows", GS_OPTION_TEXT, &trace.rows, "A:B",
     "Take out rows A to B - 1, counted from 0 through the file. Default: all.", NULL},
    {"to", GS_OPTION_TEXT, &trace.to, "npy|npz|csv|h5",
     "What a trace becomes. Default: told by the ending of OUT.", NULL},
    {NULL, GS_OPTION_FLAG, NULL, NULL, NULL, NULL}};

static enum gs_status fail_kind(const char *path, enum gs_file_kind kind, struct gs_error *error) {
    gs_fail(error, GS_UNSUPPORTED, "there is nothing to convert");
    gs_error_expected(error, "a checkpoint (.safetensors, .pkl, .pt), numpy's arrays (.npy, .npz), "
                             "a trace, or results");
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
    case GS_KIND_ARRAYS:
        trace.bfloat16 = checkpoint.void_is_bfloat16;
        return gs_convert_arrays(call, &trace, error);
    case GS_KIND_TRACE:
    case GS_KIND_HDF5:
        return gs_convert_trace(call, &trace, error);
    case GS_KIND_RESULTS:
        return gs_convert_results(call, error);
    default:
        return fail_kind(call->files[0], kind, error);
    }
}

int main(int argc, char **argv) {
    static const struct gs_command command = {
        .name = "convert",
        .summary = "bring in checkpoints and arrays of others, and take traces out",
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
            "  .npy    states of shape (rows, d) or (sequences, time, d)     become a trace\n"
            "  .npz    such arrays by name, with tokens, losses, gates       become a trace\n"
            "\n"
            "Any float width and byte order is read. In an .npz, float arrays of two or three axes "
            "are state streams by their names; token, nll, start, log_decay, write_strength, norm "
            "and a trace's own paths (memory/NAME/norm) are what they say. gpnscope info shows "
            "what "
            "each becomes; what has no place is passed over and said.\n"
            "\n"
            "  a trace of anybody's    becomes .npy, .npz or .csv, or a trace as we write it "
            "(.h5)\n"
            "  results                 become CSV files in the folder OUT\n"
            "\n"
            "  gpnscope convert states.npz -o run.h5\n"
            "  gpnscope convert states.npy --with token=ids.npy --length 1024 -o run.h5\n"
            "  gpnscope convert run.h5 --stream predicted --rows 0:1024 -o states.npy\n"
            "  gpnscope convert checkpoint.pkl -o model.safetensors\n"
            "  gpnscope convert checkpoint.pkl --run config.json -o run\n"
            "  gpnscope train config.json -o run --resume",
        .options = options,
        .common = GS_TAKES_INPUT_PLACE | GS_TAKES_OUTPUT,
        .min_files = 1,
        .max_files = 1,
        .run = run,
        .version = gs_probes_version,
    };
    return gs_command_main(&command, argc, argv);
}
