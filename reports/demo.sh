#!/bin/sh
# The whole chain with one command: sh reports/demo.sh [--clean]
#
# From English text to a page with figures: a tokenizer and a GPN+M are trained on the World English
# Bible (Debian packages diatheke and sword-text-web), held-out chapters are traced with the trained
# and the untrained model, and the report is made. About four minutes on two cores; the path of the
# page is the last line. Everything goes to build/demo.
#
# Called again, it uses what the same programs have made already, and makes the report again.
#   --clean   start from nothing
set -eu
cd "$(dirname "$0")/.."

# The sizes, chosen so that all of it ends within five minutes on two cores. Everything follows from
# these and the text: the same numbers on every machine of one kind.
VOCAB=2048 D_STATE=192 D_EMB=96 D_FFN=512 HEADS=12 D_KEY=16 D_VAL=32
BATCH=32 LENGTH=256 STEPS=250 # 250 · 32 · 256 = 2 million tokens
SEQUENCES=64                  # held-out windows of LENGTH tokens that are traced
OUT=build/demo

say() { printf '\n\033[1m%s\033[0m\n' "$*" >&2; }
[ -t 2 ] || say() { printf '\n== %s\n' "$*" >&2; }

case ${1-} in
"") ;;
--clean) rm -rf "$OUT" ;;
-h | --help)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
*)
    echo "usage: sh reports/demo.sh [--clean]" >&2
    exit 2
    ;;
esac

say "Setting up and building"
sh core/setup.sh build demo
cmake --preset release >/dev/null || {
    echo "reports/demo.sh: configuring failed; if build/ is from another machine or generator, remove it" >&2
    exit 3
}
cmake --build --preset release --target programs
gpnscope=build/bin/gpnscope
"$gpnscope" --version >&2

# What other programs or another script made is not used again.
stamp=$(cat reports/demo.sh reports/english.sh reports/demo-text.awk build/bin/gpnscope-tokenize \
    build/bin/gpnscope-train build/bin/gpnscope-trace | cksum)
[ "$stamp" = "$(cat "$OUT/stamp" 2>/dev/null || :)" ] || rm -rf "$OUT"
mkdir -p "$OUT"
printf '%s\n' "$stamp" >"$OUT/stamp"

# ---- text and tokens: one chapter a document, every tenth held out ----------------------------

say "Text, a tokenizer of $VOCAB pieces, and tokens"
sh reports/english.sh "$OUT" $VOCAB $((STEPS * BATCH * LENGTH))
tokenizer=$OUT/once/tokenizer.model

# ---- model ------------------------------------------------------------------------------------

if [ ! -s "$OUT/model/demo_final.safetensors" ]; then
    say "Training a GPN+M: $STEPS steps of $((BATCH * LENGTH)) tokens"
    cat >"$OUT/config.json" <<END
{
  "kind": "gpn_m", "name": "demo",
  "model": {"vocab_size": $VOCAB, "d_state": $D_STATE, "d_emb": $D_EMB, "d_ffn": $D_FFN,
            "n_heads": $HEADS, "d_key": $D_KEY, "d_val": $D_VAL},
  "training": {"batch_size": $BATCH, "seq_len": $LENGTH, "grad_accum": 1, "total_steps": $STEPS,
               "run_steps": $STEPS, "seed": 1, "checkpoint_every": 0, "bf16": false},
  "optimizer": {"learning_rate": 3e-3, "adam_beta1": 0.9, "adam_beta2": 0.95, "weight_decay": 0.1,
                "warmup_steps": 20, "min_lr_ratio": 0.1, "grad_clip_norm": 1.0},
  "logging": {"log_every": 10, "save_every": $STEPS},
  "dirs": {"data": "train", "checkpoint": "model", "log": "model"}
}
END
    "$gpnscope" train "$OUT/config.json" --force
fi

# ---- traces of held-out text, and the report --------------------------------------------------

trace() { # trace CHECKPOINT NAME
    [ ! -s "$OUT/$2.h5" ] || return 0
    "$gpnscope" trace "$OUT/model/$1.safetensors" "$OUT/held-out" -o "$OUT/$2.h5" --force \
        --length $LENGTH --sequences "$sequences" --batch 32 --streams predicted \
        --tokenizer "$tokenizer" >/dev/null
}
held_out=$(sed -n 's/.*"total_tokens": *\([0-9]*\).*/\1/p' "$OUT/held-out/meta.json")
sequences=$((held_out / LENGTH))
[ "$sequences" -le $SEQUENCES ] || sequences=$SEQUENCES
say "Tracing $sequences held-out windows of $LENGTH tokens with the trained and the untrained model"
trace demo_final trained
trace demo_0 untrained

say "Measuring and drawing"
"$gpnscope" report "$OUT/trained.h5" --null "$OUT/untrained.h5" \
    --checkpoint "$OUT/model/demo_final.safetensors" --tokenizer "$tokenizer" \
    --counts "$OUT/once" -o "$OUT/report" --force

say "The page, to be opened in a browser:"
printf '%s\n' "$PWD/$OUT/report/index.html"
