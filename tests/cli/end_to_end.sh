#!/bin/sh
# sh tests/cli/end_to_end.sh BIN [WRAPPER…]: from text to a report, each program started by WRAPPER
# (such as valgrind with its options), everything as small as it can be. Exit 77 where WRAPPER is
# absent. What comes out is looked at only so far as nothing may be missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
bin=$1
shift
if [ $# -gt 0 ] && ! command -v "$1" >/dev/null; then
    echo "skipped: $1 is absent (sh core/setup.sh lint installs it)"
    exit 77
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/gpnscope-end-to-end-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
OMP_WAIT_POLICY=passive
export OMP_WAIT_POLICY

wrapper=$*
run() {
    command=$1
    shift
    echo "gpnscope $command $*"
    # shellcheck disable=SC2086 # the wrapper is words
    $wrapper "$bin/gpnscope-$command" "$@" --threads 2 --quiet || {
        code=$?
        echo "exit code $code"
        exit 1
    }
}

awk -v documents=12 -v seed=1 -f "$here/text.awk" >text.txt
cat >config.json <<'END'
{
  "name": "run",
  "kind": "gpn_m",
  "model": {"vocab_size": 290, "d_state": 12, "d_emb": 8, "d_ffn": 16, "n_heads": 2, "d_key": 4,
            "d_val": 6, "n_layers": 2, "use_decoder_bias": true},
  "training": {"batch_size": 2, "seq_len": 12, "grad_accum": 2, "total_steps": 4, "seed": 1,
               "checkpoint_every": 5, "bf16": true},
  "optimizer": {"learning_rate": 0.01, "adam_beta1": 0.9, "adam_beta2": 0.95, "weight_decay": 0.1,
                "warmup_steps": 1, "min_lr_ratio": 0.1, "grad_clip_norm": 1.0},
  "logging": {"log_every": 1, "save_every": 2},
  "dirs": {"data": "tokens", "checkpoint": "runs", "log": "runs"}
}
END
run tokenize text.txt --train 290 --docs blank -o tokens
run train config.json --steps 3
run train config.json --resume
run eval runs/run_final.safetensors tokens --length 16 --sequences 3
run trace runs/run_final.safetensors tokens -o run.h5 --length 24 --sequences 5 --batch 2
run trace runs/run_0.safetensors tokens -o null.h5 --length 24 --sequences 5 --dtype bf16
run trace runs/run_0.safetensors text.txt --tokenizer tokens/tokenizer.model -o half.h5 \
    --length 24 --sequences 2 --dtype f16 --deflate 2
run check run.h5
run info runs/run_final.safetensors
run geometry run.h5 --bootstrap 20 --json geometry.json --csv csv
run default run.h5 runs/run_final.safetensors --tokenizer tokens/tokenizer.model --counts tokens \
    --bootstrap 20 --draws 20 --json default.json
run horizon run.h5 --bootstrap 20 --json horizon.json
run retention run.h5 --null null.h5 --bootstrap 20 --json retention.json
if command -v gnuplot >/dev/null; then
    run report run.h5 --null null.h5 --checkpoint runs/run_final.safetensors \
        --tokenizer tokens/tokenizer.model --counts tokens -o page
    [ -s page/index.html ]
fi
for file in runs/run_train_log.csv geometry.json default.json horizon.json retention.json csv/values.csv; do
    [ -s $file ] || { echo "no $file"; exit 1; }
done
echo "1 passed, 0 failed"
