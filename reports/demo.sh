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
stamp=$(cat reports/demo.sh reports/demo-text.awk build/bin/gpnscope-tokenize \
    build/bin/gpnscope-train build/bin/gpnscope-trace | cksum)
[ "$stamp" = "$(cat "$OUT/stamp" 2>/dev/null || :)" ] || rm -rf "$OUT"
mkdir -p "$OUT"
printf '%s\n' "$stamp" >"$OUT/stamp"

# ---- text: one document a line, every tenth held out ------------------------------------------

bible() { # to $OUT/train.part and $OUT/held-out.part; fails where there is none
    command -v diatheke >/dev/null 2>&1 || return 1
    module=$(diatheke -b system -k modulelist 2>/dev/null |
        sed -n 's/^\(engWEB[A-Za-z0-9]*\) :.*/\1/p' | sed 1q)
    [ -n "$module" ] || return 1
    diatheke -b "$module" -f internal -k Gen-Rev |
        awk -v train="$OUT/train.part" -v held_out="$OUT/held-out.part" -f reports/demo-text.awk
    [ -s "$OUT/train.part" ] && [ -s "$OUT/held-out.part" ]
}
documentation() { # the project's own headers and pages, comment marks and line breaks removed
    find ./*.md core probes analyses reports \( -name '*.h' -o -name '*.md' \) -type f |
        LC_ALL=C sort | while IFS= read -r file; do
        sed 's,^ *[/ ]\*[*/]*,,; s,\*/$,,' "$file" | tr '\n\t' '  ' | tr -s ' '
        echo
    done | awk -v train="$OUT/train.part" -v held_out="$OUT/held-out.part" \
        '{ print > (NR % 10 == 0 ? held_out : train) }'
}

if [ ! -s "$OUT/held-out.txt" ]; then
    say "Exporting the text"
    if bible; then
        echo "The World English Bible, $(wc -c <"$OUT/train.part") bytes; every tenth chapter is held out." >&2
    else
        echo "No text: Debian's packages diatheke and sword-text-web are not there, or hold no English text." >&2
        echo "The project's own documentation is used: little text, which the model will learn by heart." >&2
        documentation
    fi
    mv "$OUT/train.part" "$OUT/train.txt"
    mv "$OUT/held-out.part" "$OUT/held-out.txt"
fi

# ---- tokens -----------------------------------------------------------------------------------

if [ ! -d "$OUT/held-out" ]; then
    say "Training a tokenizer of $VOCAB pieces, and encoding"
    rm -rf "$OUT/once" "$OUT/train"
    "$gpnscope" tokenize "$OUT/train.txt" --docs lines --train $VOCAB -o "$OUT/once" >/dev/null
    # The text as often as the training steps need it, since each token of the data is used once.
    tokens=$(sed -n 's/.*"total_tokens": *\([0-9]*\).*/\1/p' "$OUT/once/meta.json")
    needed=$((STEPS * BATCH * LENGTH))
    set --
    while [ $((tokens * $#)) -lt $needed ]; do set -- "$@" "$OUT/train.txt"; done
    echo "The text has $tokens tokens; training reads it $# times, as far as it needs." >&2
    "$gpnscope" tokenize "$@" --docs lines --tokenizer "$OUT/once/tokenizer.model" \
        -o "$OUT/train" >/dev/null
    "$gpnscope" tokenize "$OUT/held-out.txt" --docs lines \
        --tokenizer "$OUT/once/tokenizer.model" -o "$OUT/held-out" >/dev/null
fi
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
