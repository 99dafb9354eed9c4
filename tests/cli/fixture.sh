#!/bin/sh
# sh tests/cli/fixture.sh BIN FOLDER: fills FOLDER with what the cases share, by the programs
# themselves. From text to a trace in a few seconds; the same bytes every time.
#
#   text.txt, held_out.txt   plain sentences, documents parted by blank lines (text.awk)
#   tokenizer.model          300 pieces
#   shards, held_out         their tokens
#   config.json              of the run below
#   tiny.safetensors         a trained GPN+M, and untrained.safetensors, the same before training
#   gpn.safetensors          a trained GPN without memory
#   layers.safetensors       a trained transformer of three layers
#   gdn.safetensors          a trained Gated DeltaNet of two layers
#   trace.h5, untrained.h5   states and gates on the held-out text; gpn.h5 of the GPN; layers.h5 and
#                            gdn.h5 of those, layers_untrained.h5 and gdn_untrained.h5
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$1 folder=$2
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
export OMP_NUM_THREADS
gpnscope() { "$bin/gpnscope" "$@" --quiet; }

awk -v documents=200 -v seed=1 -f "$here/text.awk" >text.txt
awk -v documents=40 -v seed=99 -f "$here/text.awk" >held_out.txt
gpnscope tokenize text.txt --train 300 --docs blank -o shards
cp shards/tokenizer.model .
gpnscope tokenize held_out.txt --tokenizer tokenizer.model --docs blank -o held_out

config() { # config NAME KIND SIZES: a config of a run that takes a second
    cat <<END
{
  "name": "$1",
  "kind": "$2",
  "model": {"vocab_size": 300, $3},
  "training": {"batch_size": 4, "seq_len": 32, "grad_accum": 1, "total_steps": 60, "seed": 1},
  "optimizer": {"learning_rate": 0.01, "adam_beta1": 0.9, "adam_beta2": 0.95, "weight_decay": 0.1,
                "warmup_steps": 5, "min_lr_ratio": 0.1, "grad_clip_norm": 1.0},
  "logging": {"log_every": 10, "save_every": 30},
  "dirs": {"data": "shards", "checkpoint": "runs", "log": "runs"}
}
END
}
gpn='"d_state": 24, "d_emb": 16, "d_ffn": 32'
config tiny gpn_m "$gpn, \"n_heads\": 3, \"d_key\": 8, \"d_val\": 8" >config.json
config gpn gpn "$gpn" >gpn.json
config layers transformer '"hidden_dim": 24, "n_layers": 3, "n_heads": 2, "ffn_dim": 32' >layers.json
config gdn gdn '"hidden_dim": 24, "n_layers": 2, "n_heads": 3, "head_dim": 4, "expand_v": 2,
            "ffn_dim": 32' >gdn.json
gpnscope train config.json
gpnscope train gpn.json
gpnscope train layers.json
gpnscope train gdn.json
cp runs/tiny_final.safetensors tiny.safetensors
cp runs/tiny_0.safetensors untrained.safetensors
cp runs/gpn_final.safetensors gpn.safetensors
cp runs/layers_final.safetensors layers.safetensors
cp runs/gdn_final.safetensors gdn.safetensors

trace() { gpnscope trace "$1" held_out --tokenizer tokenizer.model --length 64 --sequences 40 -o "$2"; }
trace tiny.safetensors trace.h5
trace untrained.safetensors untrained.h5
trace gpn.safetensors gpn.h5
trace layers.safetensors layers.h5
trace runs/layers_0.safetensors layers_untrained.h5
trace gdn.safetensors gdn.h5
trace runs/gdn_0.safetensors gdn_untrained.h5
