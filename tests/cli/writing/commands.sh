# shellcheck shell=sh
# Every command that writes, for the scripts of this folder: `each_command DO` calls
#     DO NAME OUTPUT gpnscope ARGUMENTS…
# where OUTPUT is the path among the arguments that the command is to write, below $place. $chosen
# holds the names wanted, with a space around each; empty: all. Run in a folder with the fixture.
place=out

each_command() {
    do_one=$1
    measured() { # NAME ARGUMENTS…: JSON and tables
        name=$1
        shift
        case ${chosen:-all} in all | *" $name "*) ;; *) return ;; esac
        "$do_one" "$name" "$place/a.json" gpnscope "$@" --quiet --force --csv "$place/csv" \
            --json "$place/a.json"
    }
    written() { # NAME OUTPUT ARGUMENTS…
        name=$1 output=$2
        shift 2
        case ${chosen:-all} in all | *" $name "*) ;; *) return ;; esac
        "$do_one" "$name" "$place/$output" gpnscope "$@" --quiet --force -o "$place/$output"
    }
    measured geometry geometry trace.h5 --bootstrap 0
    measured horizon horizon trace.h5 --max-lag 4
    measured retention retention trace.h5 --max-lag 4
    measured default default trace.h5 tiny.safetensors
    measured eval eval tiny.safetensors held_out --length 64 --sequences 2
    measured info info trace.h5
    measured diff diff trace.h5 trace.h5
    case ${chosen:-all} in all | *" check "*)
        "$do_one" check "$place/a.json" gpnscope check trace.h5 --quiet --force --json "$place/a.json" ;;
    esac
    written trace t.h5 trace tiny.safetensors held_out --length 64 --sequences 2
    written curve c.svg curve runs/tiny_train_log.csv
    written convert_npy x.npy convert trace.h5
    written convert_npz x.npz convert trace.h5
    written convert_csv x.csv convert trace.h5
    written convert_trace x.h5 convert trace.h5
    written convert_checkpoint x.safetensors convert tiny.safetensors
    written convert_run run convert checkpoint.pkl --run run.json
    written tokenize d tokenize held_out.txt --tokenizer tokenizer.model --docs blank
    written tokenize_train d tokenize held_out.txt --train 300 --docs blank
    written train run train config.json --steps 2
    written report page report trace.h5
    written verify page verify trace.h5 --null untrained.h5
}

# What they read, into this folder.
take_inputs() { # take_inputs FIXTURE SOURCE
    for file in "$1"/*; do ln -s "$file" .; done
    ln -s "$2/fixtures/checkpoints/optax.pkl" checkpoint.pkl
    awk 'BEGIN { for (i = 0; i < 200; i++) printf "%c%c%c%c", i * i % 7, 0, 0, 0 }' >ids.bin
    cat >run.json <<'END'
{"name": "theirs", "kind": "gpn_m",
 "model": {"vocab_size": 7, "d_state": 4, "d_emb": 3, "d_ffn": 5, "n_heads": 2, "d_key": 3,
           "d_val": 2},
 "training": {"batch_size": 2, "seq_len": 5, "grad_accum": 2, "total_steps": 5, "seed": 1},
 "optimizer": {"learning_rate": 0.01, "adam_beta1": 0.9, "adam_beta2": 0.999, "weight_decay": 0.1,
               "warmup_steps": 1, "min_lr_ratio": 0.1, "grad_clip_norm": 1.0},
 "logging": {"log_every": 1, "save_every": 10},
 "dirs": {"data": "ids.bin", "checkpoint": "elsewhere", "log": "elsewhere"}}
END
}
