# shellcheck shell=sh disable=SC2034
# The plan of the study of structure, read by reports/study.sh and reports/studies/structure-run.sh:
# which models, seeds, text, steps.
#
# 15 heads as in the paper's model with one layer; widths halved along. Seed 1 is the pilot: the claims
# (fixtures/claims/structure.json) were written with it in view, and it is no part of the answer.

VOCAB=1024 BATCH=32 LENGTH=256 STEPS=1221  # 1221 * 32 * 256 = 10.0 million tokens
MIDDLE="1 4 8 16 32 64 128 256 512"        # traced beside the untrained and the final model
SEQUENCES=128                              # held-out windows of LENGTH that are traced
PILOTS="gpn_m_128-s1 gpn_m_256-s1"
RUNS="gpn_m_128-s11 gpn_m_128-s12 gpn_m_128-s13 gpn_m_128-s14 gpn_m_128-s15"
RUNS="$RUNS gpn_128-s11 gpn_128-s12 gpn_128-s13"
RUNS="$RUNS gpn_m_bias_128-s11 gpn_m_bias_128-s12 gpn_m_bias_128-s13"
RUNS="$RUNS gdn_128-s11 gdn_128-s12 gdn_128-s13"
RUNS="$RUNS gpn_m_256-s11 gpn_m_256-s12 gpn_m_256-s13 gpn_m_256-s14 gpn_m_256-s15"

kind_of() {
    case $1 in
    gpn_m_*) printf gpn_m ;;
    gpn_*) printf gpn ;;
    gdn_*) printf gdn ;;
    esac
}

stream_of() { # the states that the model predicts from
    case $1 in
    gdn_*) printf final ;;
    *) printf predicted ;;
    esac
}

sizes_of() { # the "model" object of a config
    case $1 in
    gpn_m_128) printf '"d_state": 128, "d_emb": 64, "d_ffn": 344, "n_heads": 15, "d_key": 8, "d_val": 16' ;;
    gpn_m_bias_128) printf '"d_state": 128, "d_emb": 64, "d_ffn": 344, "n_heads": 15, "d_key": 8, "d_val": 16, "use_decoder_bias": true' ;;
    gpn_128) printf '"d_state": 128, "d_emb": 64, "d_ffn": 344' ;;
    gdn_128) printf '"hidden_dim": 128, "n_layers": 1, "n_heads": 15, "head_dim": 8, "expand_v": 2.0, "ffn_dim": 344' ;;
    gpn_m_256) printf '"d_state": 256, "d_emb": 128, "d_ffn": 688, "n_heads": 15, "d_key": 16, "d_val": 32' ;;
    *)
        echo "reports/studies/structure-plan.sh: unknown model $1" >&2
        exit 2
        ;;
    esac
}

weight_of() { # of a run: how long a step takes, the narrow models' being 1
    case $1 in
    *_256-s*) echo 3.3 ;;
    *) echo 1 ;;
    esac
}

commas() { # words, with commas between them
    # shellcheck disable=SC2086 # one word after the other
    set -- $1
    first=$1
    shift
    printf '%s' "$first"
    [ $# -eq 0 ] || printf ', %s' "$@"
}
