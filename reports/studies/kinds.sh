#!/bin/sh
# Three kinds of model, as many parameters, the same text: sh reports/studies/kinds.sh [MODEL...]
#
# GPN+M against one and six layers of Transformer++ and Gated DeltaNet, about 1.39 million parameters
# each, 10 million tokens of the World English Bible (vocabulary 1,024) in windows of 256. Each is
# trained with the published recipe of its kind, traced on held-out text before and after training,
# and measured in every layer. Everything goes to build/studies/kinds; what is small, to
# fixtures/studies/kinds. About an hour on two cores.
#
# Goes on where it was stopped. With names, only these models: gpn_m transformer_1 transformer_6
# gdn_1 gdn_6. The comparison and the page are made when all are there.
set -eu
cd "$(dirname "$0")/../.."

VOCAB=1024 BATCH=32 LENGTH=256 STEPS=1221 # 1221 * 32 * 256 = 10.0 million tokens
SEQUENCES=256                             # held-out windows that are traced
ALL="gpn_m transformer_1 transformer_6 gdn_1 gdn_6"
OUT=build/studies/kinds
KEPT=fixtures/studies/kinds
gpnscope=build/bin/gpnscope

case ${1-} in
-h | --help)
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
[ $# -gt 0 ] || {
    # shellcheck disable=SC2086 # names without spaces
    set -- $ALL
}

say() { printf '\n== %s\n' "$*" >&2; }

say "Setting up and building"
sh core/setup.sh build demo
cmake --preset release >/dev/null
cmake --build --preset release --target programs

say "Text, a tokenizer of $VOCAB pieces, and tokens"
# A window of the baselines has one token more: it predicts from the second one on.
sh reports/english.sh "$OUT" $VOCAB $((STEPS * BATCH * (LENGTH + 1)))
tokenizer=$OUT/once/tokenizer.model

kind_of() { printf '%s' "${1%_[0-9]}"; }
sizes_of() { # the "model" object of a config
    case $1 in
    gpn_m) printf '"d_state": 256, "d_emb": 128, "d_ffn": 688, "n_heads": 8, "d_key": 32, "d_val": 64' ;;
    transformer_1) printf '"hidden_dim": 256, "n_layers": 1, "n_heads": 4, "ffn_dim": 1126' ;;
    transformer_6) printf '"hidden_dim": 128, "n_layers": 6, "n_heads": 4, "ffn_dim": 376' ;;
    gdn_1) printf '"hidden_dim": 256, "n_layers": 1, "n_heads": 8, "head_dim": 32, "expand_v": 2.0, "ffn_dim": 432' ;;
    gdn_6) printf '"hidden_dim": 128, "n_layers": 6, "n_heads": 4, "head_dim": 16, "expand_v": 2.0, "ffn_dim": 320' ;;
    *)
        echo "reports/studies/kinds.sh: unknown model $1; there are $ALL" >&2
        exit 2
        ;;
    esac
}

config_of() {
    cat <<END
{
  "kind": "$(kind_of "$1")", "name": "$1",
  "model": {"vocab_size": $VOCAB, $(sizes_of "$1")},
  "training": {"batch_size": $BATCH, "seq_len": $LENGTH, "grad_accum": 1, "total_steps": $STEPS,
               "run_steps": $STEPS, "seed": 1, "checkpoint_every": 0, "bf16": false},
  "optimizer": {"learning_rate": 3e-3, "adam_beta1": 0.9, "adam_beta2": 0.95, "weight_decay": 0.1,
                "warmup_steps": 60, "min_lr_ratio": 0.1, "grad_clip_norm": 1.0},
  "logging": {"log_every": 10, "save_every": 200, "keep": 1},
  "dirs": {"data": "train", "checkpoint": "$1", "log": "$1"}
}
END
}

train() { # a run that was stopped goes on
    [ ! -s "$OUT/$1/$1_final.safetensors" ] || return 0
    say "Training $1: $STEPS steps of $((BATCH * LENGTH)) tokens"
    config_of "$1" >"$OUT/$1.json"
    if [ -d "$OUT/$1" ]; then
        "$gpnscope" train "$OUT/$1.json" --resume
    else
        "$gpnscope" train "$OUT/$1.json"
    fi
}

trace() { # trace MODEL CHECKPOINT NAME
    [ ! -s "$OUT/$3.h5" ] || return 0
    "$gpnscope" trace "$OUT/$1/$1_$2.safetensors" "$OUT/held-out" -o "$OUT/$3.h5" --force \
        --length $LENGTH --sequences $SEQUENCES --batch 32 --tokenizer "$tokenizer" >/dev/null
}

measure() { # each stream and memory, trained and untrained, as CSV tables of their own
    results=$OUT/results/$1
    [ ! -d "$results" ] || return 0
    say "Measuring $1"
    rm -rf "$results.part"
    for state in trained untrained; do
        [ $state = trained ] && step=final || step=0
        trace "$1" "$step" "$1-$state"
        "$gpnscope" geometry "$OUT/$1-$state.h5" --stream all --csv "$results.part/$state/geometry" \
            --quiet
        "$gpnscope" default "$OUT/$1-$state.h5" "$OUT/$1/$1_$step.safetensors" --stream all \
            --tokenizer "$tokenizer" --counts "$OUT/once" --csv "$results.part/$state/default" --quiet
    done
    if [ "$(kind_of "$1")" != transformer ]; then
        "$gpnscope" retention "$OUT/$1-trained.h5" --null "$OUT/$1-untrained.h5" --memory all \
            --csv "$results.part/retention" --quiet
    fi
    mv "$results.part" "$results"
}

keep() { # keep MODEL: what is small
    mkdir -p "$KEPT/$1"
    cp "$OUT/$1.json" "$KEPT/$1/config.json"
    cp "$OUT/$1/$1_train_log.csv" "$KEPT/$1/train_log.csv"
    for state in trained untrained; do
        cp "$OUT/results/$1/$state/geometry/geometry_by_stream_interval.csv" \
            "$KEPT/$1/geometry_$state.csv"
        cp "$OUT/results/$1/$state/default/default_by_stream_interval.csv" \
            "$KEPT/$1/default_$state.csv"
        cp "$OUT/results/$1/$state/default/default_token_by_stream.csv" \
            "$KEPT/$1/default_token_$state.csv"
    done
    [ ! -d "$OUT/results/$1/retention" ] ||
        cp "$OUT/results/$1/retention/retention_by_head.csv" "$KEPT/$1/"
}

for model; do
    train "$model"
    measure "$model"
    keep "$model"
done

# ---- all together -----------------------------------------------------------------------------

set --
for model in $ALL; do
    [ -d "$OUT/results/$model" ] || {
        say "$model is still missing; the comparison is made when all are there"
        exit 0
    }
    set -- "$@" "$OUT/$model/${model}_final.safetensors"
done
say "Comparing them on the held-out text"
"$gpnscope" eval "$@" "$OUT/held-out" --length $LENGTH --tokenizer "$tokenizer" --batch 32 \
    --csv "$OUT/results/eval" --force >&2
cp "$OUT/results/eval/models.csv" "$OUT/results/eval/differences.csv" \
    "$OUT/results/eval/loss_by_position.csv" "$KEPT"
sh reports/studies/kinds-tables.sh $KEPT "$ALL" >$KEPT/tables.md
say "The tables:"
printf '%s\n' "$PWD/$KEPT/tables.md"
