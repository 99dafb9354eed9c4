#!/bin/sh
# Real text for the demo and the studies: sh reports/english.sh FOLDER VOCAB TOKENS
#
# The World English Bible (Debian packages diatheke and sword-text-web), one chapter a document,
# every tenth held out, and a tokenizer of VOCAB pieces trained on the others. Leaves in FOLDER
#   train.txt held-out.txt   the text
#   once/                    the training text's tokens, once, and tokenizer.model
#   train/                   the same as often as it takes to have TOKENS tokens
#   held-out/                the held-out text's tokens
# What is there already is kept. Needs build/bin/gpnscope; called from the project's root.
set -eu
[ $# -eq 3 ] || {
    echo "usage: sh reports/english.sh FOLDER VOCAB TOKENS" >&2
    exit 2
}
OUT=$1 VOCAB=$2 TOKENS=$3
gpnscope=build/bin/gpnscope
mkdir -p "$OUT"

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

if [ ! -d "$OUT/held-out" ]; then
    rm -rf "$OUT/once" "$OUT/train"
    "$gpnscope" tokenize "$OUT/train.txt" --docs lines --train "$VOCAB" -o "$OUT/once" >/dev/null
    # The text as often as the training steps need it, since each token of the data is used once.
    tokens=$(sed -n 's/.*"total_tokens": *\([0-9]*\).*/\1/p' "$OUT/once/meta.json")
    set --
    while [ $((tokens * $#)) -lt "$TOKENS" ]; do set -- "$@" "$OUT/train.txt"; done
    echo "The text has $tokens tokens; training reads it $# times, as far as it needs." >&2
    "$gpnscope" tokenize "$@" --docs lines --tokenizer "$OUT/once/tokenizer.model" \
        -o "$OUT/train" >/dev/null
    "$gpnscope" tokenize "$OUT/held-out.txt" --docs lines \
        --tokenizer "$OUT/once/tokenizer.model" -o "$OUT/held-out" >/dev/null
fi
