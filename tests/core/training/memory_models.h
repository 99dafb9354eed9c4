/* memory_models.h - models whose memory is looked at: the members of a "model" object, the first
 * four of a GPN+M. */
#ifndef GS_TESTS_CORE_TRAINING_MEMORY_MODELS_H
#define GS_TESTS_CORE_TRAINING_MEMORY_MODELS_H

#define SMALL_MODEL                                                                                \
    "\"vocab_size\":300,\"d_state\":96,\"d_emb\":48,\"d_ffn\":200,\"n_heads\":4,\"d_key\":16,"     \
    "\"d_val\":32"
#define MIDDLE_MODEL                                                                               \
    "\"vocab_size\":1000,\"d_state\":256,\"d_emb\":128,\"d_ffn\":688,\"n_heads\":8,\"d_key\":32,"  \
    "\"d_val\":64"
#define LARGE_MODEL                                                                                \
    "\"vocab_size\":4000,\"d_state\":768,\"d_emb\":256,\"d_ffn\":2048,\"n_heads\":8,\"d_key\":64," \
    "\"d_val\":128,\"n_layers\":2"
#define PAPER_MODEL                                                                                \
    "\"vocab_size\":32000,\"d_state\":2496,\"d_emb\":768,\"d_ffn\":6656,\"n_heads\":15,"           \
    "\"d_key\":128,\"d_val\":256"
#define TRANSFORMER_MODEL                                                                          \
    "\"vocab_size\":1000,\"hidden_dim\":192,\"n_layers\":4,\"n_heads\":4,\"ffn_dim\":512"
#define GDN_MODEL                                                                                  \
    "\"vocab_size\":1000,\"hidden_dim\":192,\"n_layers\":3,\"n_heads\":3,\"head_dim\":48,"         \
    "\"expand_v\":2.0,\"ffn_dim\":512"

enum { MB = 1000000 };

#endif
