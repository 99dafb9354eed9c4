/* tensor_file.h - the named tensors of a checkpoint in any format, told from its content:
 * safetensors, a pickle with numpy's or jax's arrays, a file of torch.save.
 *
 * A pickle's parameters are those of gs_tensor_tree_parameters. Nothing in a file is executed, and
 * nothing outside it is opened. What is read takes at most 128 bytes for each byte of a pickle's
 * opcodes, the unpacked storages of an archive (64 times its size at the most), and 100,000
 * tensors; their elements are at most 4 for each byte.
 */
#ifndef GS_CORE_CHECKPOINT_TENSOR_FILE_H
#define GS_CORE_CHECKPOINT_TENSOR_FILE_H

#include "core/base/json.h"
#include "core/base/status.h"
#include "core/checkpoint/stored_tensor.h"
#include "core/checkpoint/tensor_tree.h"

struct gs_tensor_file;

struct gs_tensor_file_options {
    bool void_is_bfloat16;     /* two-byte elements without a type's name are bfloat16 */
    const struct gs_json *map; /* {our name: their name, or {"name": theirs, "transpose": true}};
                                  what it does not name is left out; NULL: names as they are */
};

/* Are the bytes a checkpoint of another format than safetensors: a pickle, an archive of PyTorch,
 * or one of its old formats, which opening refuses by name? */
bool gs_tensor_file_recognise(const unsigned char *bytes, size_t size);

/* options may be NULL. */
enum gs_status gs_tensor_file_open(const char *path, const struct gs_tensor_file_options *options,
                                   struct gs_tensor_file **file, struct gs_error *error);
/* The same of bytes in memory, borrowed until it is closed; `path` names them in errors. */
enum gs_status gs_tensor_file_open_bytes(const unsigned char *bytes, size_t size, const char *path,
                                         const struct gs_tensor_file_options *options,
                                         struct gs_tensor_file **file, struct gs_error *error);
void gs_tensor_file_close(struct gs_tensor_file *file); /* NULL is fine */

/* "safetensors", "pickle" or "PyTorch archive"; static. */
const char *gs_tensor_file_format(const struct gs_tensor_file *file);
/* In the file's order. Borrowed. With objects that are no tensors (is_tensor says it). */
size_t gs_tensor_file_count(const struct gs_tensor_file *file);
const struct gs_stored_tensor *gs_tensor_file_at(const struct gs_tensor_file *file, size_t index);
/* All of them. */
const struct gs_tensor_list *gs_tensor_file_list(const struct gs_tensor_file *file);
/* Tensors that a map has left out. */
size_t gs_tensor_file_left_out(const struct gs_tensor_file *file);
/* All elements as float32, see gs_stored_tensor_read. */
enum gs_status gs_tensor_file_read(struct gs_tensor_file *file,
                                   const struct gs_stored_tensor *tensor, float *values,
                                   struct gs_error *error);

/* A text of safetensors' metadata; NULL when absent or in other formats. Borrowed. */
const char *gs_tensor_file_metadata(const struct gs_tensor_file *file, const char *key);
/* A whole number behind a key of the pickled dict; false when there is none. */
bool gs_tensor_file_number(struct gs_tensor_file *file, const char *key, int64_t *number);
/* What was pickled, and how its values are read; NULL: it is no pickle. Borrowed. */
struct gs_tensor_source *gs_tensor_file_source(struct gs_tensor_file *file);

#endif
