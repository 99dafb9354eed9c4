/* file_kind.h - what a file is, told from its content, never from its name. */
#ifndef GS_PROBES_INSPECT_FILE_KIND_H
#define GS_PROBES_INSPECT_FILE_KIND_H

#include "core/base/status.h"

enum gs_file_kind {
    GS_KIND_SAFETENSORS, /* a checkpoint, or tensors of something else; also a folder of one */
    GS_KIND_PICKLED,     /* a checkpoint as a pickle, or as a file of PyTorch */
    GS_KIND_TRACE,       /* HDF5 with format = "gpn-trace" */
    GS_KIND_HDF5,        /* another HDF5 file */
    GS_KIND_ARRAYS,      /* numpy's: .npy, .npz */
    GS_KIND_SHARDS,      /* a folder of token shards */
    GS_KIND_IDS,         /* one file of token ids: no signature, told by its bytes */
    GS_KIND_CONFIG,      /* JSON of a training run */
    GS_KIND_RESULTS,     /* JSON of a measurement */
    GS_KIND_CLAIMS,      /* JSON of what gpnscope verify judges */
    GS_KIND_JSON,        /* other JSON, or JSON that cannot be parsed */
    GS_KIND_TOKENIZER    /* a SentencePiece model */
};

/* Static: "a trace". */
const char *gs_file_kind_name(enum gs_file_kind kind);

/* GS_MISSING, GS_IO when it cannot be read, GS_UNSUPPORTED naming the kinds that are known when it
 * is none of them. A broken file of a kind is recognised where its beginning is whole. */
enum gs_status gs_file_recognise(const char *path, enum gs_file_kind *kind, struct gs_error *error);

#endif
