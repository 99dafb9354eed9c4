/* torch_file.h - a file of torch.save: a zip archive with NAME/data.pkl and NAME/data/<key>, one
 * entry a storage. One that unpacks to more than 64 times its size and a megabyte is refused, which
 * bounds memory. The formats from before PyTorch 1.6 are recognised and refused by name. */
#ifndef GS_CORE_CHECKPOINT_TORCH_FILE_H
#define GS_CORE_CHECKPOINT_TORCH_FILE_H

#include "core/checkpoint/pickle.h"
#include "core/checkpoint/stored_tensor.h"

struct gs_torch_file;

/* Are the bytes an archive with a data.pkl in it? (Other archives are those of numpy's savez.) */
bool gs_torch_file_recognise(const unsigned char *bytes, size_t size);

/* The bytes are borrowed until it is closed; `path` names them in errors. */
enum gs_status gs_torch_file_open(const unsigned char *bytes, size_t size, const char *path,
                                  struct gs_torch_file **file, struct gs_error *error);
void gs_torch_file_close(struct gs_torch_file *file); /* NULL is fine */

/* What was saved; borrowed. */
const struct gs_pickle *gs_torch_file_pickle(const struct gs_torch_file *file);
/* Bytes of all entries when they are unpacked. */
size_t gs_torch_file_size(const struct gs_torch_file *file);

/* A tensor of the pickle (gs_torch_recognise), its bytes not loaded. tensor->name is kept. */
enum gs_status gs_torch_file_tensor(const struct gs_torch_file *file,
                                    const struct gs_pickle_value *value,
                                    struct gs_stored_tensor *tensor, struct gs_error *error);
/* Its bytes. A storage is unpacked once and stays until the file is closed. */
enum gs_status gs_torch_file_load(struct gs_torch_file *file, struct gs_stored_tensor *tensor,
                                  struct gs_error *error);

/* GS_UNSUPPORTED with what to do when the bytes are one of the old formats, else GS_OK. */
enum gs_status gs_torch_refuse_old(const unsigned char *bytes, size_t size, const char *path,
                                   struct gs_error *error);

#endif
