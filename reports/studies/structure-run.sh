#!/bin/sh
# One run of the study of structure: sh reports/studies/structure-run.sh FOLDER MODEL SEED
#
# Trains one model with one seed on the text in FOLDER (reports/english.sh made it), keeps the model at
# log-spaced steps, and traces each on the same held-out windows, into FOLDER/MODEL-sSEED. One thread:
# the study does several runs side by side, and the bits are the same on any number. Goes on where it
# was stopped. Called by reports/study.sh from the project's root.
set -eu
[ $# -eq 3 ] || {
    echo "usage: sh reports/studies/structure-run.sh FOLDER MODEL SEED" >&2
    exit 2
}
OUT=$1 MODEL=$2 SEED=$3
# shellcheck source=reports/studies/structure-plan.sh
. reports/studies/structure-plan.sh

run=$OUT/$MODEL-s$SEED
name=$MODEL
kind=$(kind_of "$MODEL")
gpnscope=build/bin/gpnscope
mkdir -p "$run"

cat >"$run/config.json.part" <<END
{
  "kind": "$kind", "name": "$name",
  "model": {"vocab_size": $VOCAB, $(sizes_of "$MODEL")},
  "training": {"batch_size": $BATCH, "seq_len": $LENGTH, "grad_accum": 1, "total_steps": $STEPS,
               "run_steps": $STEPS, "seed": $SEED, "checkpoint_every": 0, "bf16": false},
  "optimizer": {"learning_rate": 3e-3, "adam_beta1": 0.9, "adam_beta2": 0.95, "weight_decay": 0.1,
                "warmup_steps": 60, "min_lr_ratio": 0.1, "grad_clip_norm": 1.0},
  "logging": {"log_every": 10, "save_every": 100, "keep": 1, "save_at": [$(commas "$MIDDLE")]},
  "dirs": {"data": "../train", "checkpoint": ".", "log": "."}
}
END
mv "$run/config.json.part" "$run/config.json"

if [ ! -s "$run/${name}_final.safetensors" ]; then
    set -- train "$run/config.json" --threads 1 --quiet
    [ ! -s "$run/${name}_0.safetensors" ] || set -- "$@" --resume
    "$gpnscope" "$@"
fi

for step in 0 $MIDDLE final; do
    trace=$run/step-$step.h5
    [ ! -s "$trace" ] || continue
    "$gpnscope" trace "$run/${name}_$step.safetensors" "$OUT/held-out" -o "$trace.part" --force \
        --length $LENGTH --sequences $SEQUENCES --batch 32 --streams "$(stream_of "$MODEL")" --threads 1 \
        --tokenizer "$OUT/once/tokenizer.model" --quiet
    mv "$trace.part" "$trace"
done
