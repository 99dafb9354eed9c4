#!/bin/sh
# sh tests/cli/strange_pieces.sh PIECES TEXTS: a SentencePiece model on standard output whose every
# piece, but for <unk>, <s> and </s>, is one that has hurt programs like this one, with its id behind
# it. The pieces alone go to the file TEXTS, each followed by a NUL byte.
# A model is a protocol buffer: pieces of (1 text, 2 score, 3 kind), trainer, normalizer.
set -eu
LC_ALL=C # ${#text} counts bytes
export LC_ALL
count=$1 texts=$2

byte() { # byte N: that byte
    # shellcheck disable=SC2059 # the format is the byte
    printf "\\$(printf %03o "$1")"
}
piece() { # piece TEXT KIND
    byte 10 && byte $((${#1} + 9)) && byte 10 && byte ${#1} && printf %s "$1"
    byte 21 && printf '\000\000\000\000' && byte 24 && byte "$2"
    printf '%s\000' "$1" >&3
}
strange() { # strange N: the N-th kind, 25 of them
    # shellcheck disable=SC2016,SC1003 # none of it is ever to be run
    case $1 in
    0) printf '"' ;;
    1) printf "'" ;;
    2) printf '`touch pwned`' ;;
    3) printf '$(touch pwned)' ;;
    4) printf 'two\nlines' ;;
    5) printf '</script><b>' ;;
    6) printf ']]>' ;;
    7) printf '&amp;' ;;
    8) printf ',;' ;;
    9) printf '\033[31mred\007' ;;
    10) printf '\302\23331m' ;;             # CSI as one character, U+009B
    11) printf '\233\360\237' ;;            # no UTF-8
    12) printf '\342\200\256\342\201\246' ;; # U+202E, U+2066: what follows runs to the left
    13) printf '\342\200\250' ;;            # U+2028 ends a line in JavaScript
    14) printf '|*_[x](y)' ;;
    15) printf '{^@}_' ;;
    16) printf '%%s%%n\\' ;;
    17) printf '\r' ;;
    18) printf '\t' ;;
    19) printf -- '--' ;;
    20) printf '=1+1' ;;
    21) printf '<!--' ;;
    22) printf '\327\251\342\200\217' ;; # a Hebrew letter and U+200F
    23) printf '\177\357\277\276' ;;     # DEL, U+FFFE
    24) printf '\360\235\204\236' ;;     # outside the basic plane
    esac
}

exec 3>"$texts"
piece '<unk>' 2
piece '<s>' 3
piece '</s>' 3
id=3
while [ $id -lt "$count" ]; do
    piece "$(strange $((id % 25)))$id" 1
    id=$((id + 1))
done
printf '\022\002\030\002\032\000'
