/* checkpoint.h - a model in a file. A checkpoint is a safetensors file with the parameter names of
 * ../shared/spec/model.md and baselines.md, all behind one prefix where a wrapper has put one
 * there; its config is metadata "gpnscope.config", or config.json beside it (the authors' or
 * HuggingFace's), or follows from names and shapes. The same tensors in a pickle of numpy's or
 * jax's arrays, such as the authors' checkpoint.pkl, or in a file of torch.save are one, too; what
 * a file is is told from its content (tensor_file.h). A folder with a model.safetensors,
 * checkpoint.pkl, checkpoint.pt or pytorch_model.bin stands for that file.
 */
#ifndef GS_CORE_CHECKPOINT_CHECKPOINT_H
#define GS_CORE_CHECKPOINT_CHECKPOINT_H

#include "core/base/hash.h"
#include "core/base/status.h"
#include "core/models/model.h"

struct gs_checkpoint_info {
    char sha256[GS_SHA256_TEXT]; /* of the file's bytes */
    int64_t step;                /* metadata "gpnscope.step"; -1 when not said */
    int64_t seed;                /* metadata "gpnscope.seed"; -1 when not said */
    const char *config_source;   /* "metadata", "config.json", "shapes" …; static */
    const char *format;          /* "safetensors", "pickle", "PyTorch archive"; static */
    size_t left_out;             /* tensors that a name map did not name */
};

/* Load into a new model (gs_model_destroy). Every parameter must be there with its shape and be
 * finite; unknown tensors are refused by name. info may be NULL. The step of a pickled run is that
 * behind its key "step". */
enum gs_status gs_checkpoint_load(const char *path, struct gs_model **model,
                                  struct gs_checkpoint_info *info, struct gs_error *error);

/* What helps with a checkpoint of another origin. */
struct gs_checkpoint_options {
    const struct gs_json *config; /* instead of any that the file has or lies beside it; the tensors
                                     must fit it; NULL: none */
    const char *config_name;      /* names it in errors */
    const struct gs_json *map; /* names and transposes (tensor_file.h); NULL: names as they are */
    bool void_is_bfloat16;     /* two-byte elements without a type's name are bfloat16 */
};
enum gs_status gs_checkpoint_load_with(const char *path,
                                       const struct gs_checkpoint_options *options,
                                       struct gs_model **model, struct gs_checkpoint_info *info,
                                       struct gs_error *error);

/* Is `name` that of a checkpoint in a folder of one? */
bool gs_checkpoint_in_folder(const char *name);

/* The file that `path` stands for (gs_free): itself, or the one in a folder. GS_MISSING and
 * GS_UNSUPPORTED when a folder holds none, or one in several files. */
enum gs_status gs_checkpoint_file(const char *path, char **file, struct gs_error *error);

/* Write the model with its config in the metadata. step or seed < 0: not said. */
enum gs_status gs_checkpoint_save(const char *path, bool force, const struct gs_model *model,
                                  int64_t step, int64_t seed, struct gs_error *error);

#endif
