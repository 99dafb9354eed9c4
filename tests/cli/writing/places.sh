#!/bin/sh
# sh places.sh BIN FIXTURE SOURCE [COMMAND…]: every command that writes, where it cannot: a limit of
# the file size, a full disk, a read-only folder, a folder that is missing or is a file, a device,
# a closed pipe, and an output that is an input, by its path, a symbolic and a hard link. Exit 3,
# errno's text where there is one, the path, and every byte that was there as it was. The disk and
# the read-only folder are small file systems in memory; where none can be mounted they are left
# out, and the last line says so.
set -u
here=$(cd "$(dirname "$0")" && pwd)
if [ -z "${GS_PLACES_MOUNTS:-}" ]; then
    GS_PLACES_MOUNTS=no
    unshare -m sh -c 'mount -t tmpfs -o size=4k none /mnt' 2>/dev/null && GS_PLACES_MOUNTS=yes
    export GS_PLACES_MOUNTS
    [ $GS_PLACES_MOUNTS = no ] || exec unshare -m sh "$0" "$@"
fi
bin=$(cd "$1" && pwd) fixture=$(cd "$2" && pwd) source=$(cd "$3" && pwd)
shift 3
chosen=
# shellcheck disable=SC2034 # read in commands.sh
[ $# -eq 0 ] || chosen=" $* "
PATH=$bin:$PATH OMP_NUM_THREADS=1 LC_ALL=C
export PATH OMP_NUM_THREADS LC_ALL
# shellcheck source=/dev/null
. "$here/commands.sh"
work=$(mktemp -d "${TMPDIR:-/tmp}/gpnscope-places-XXXXXX") || exit 2
clear_work() {
    umount "$work/disk" 2>/dev/null
    rm -rf "$work"
}
trap clear_work EXIT
trap 'exit 130' INT TERM

bad=0 tried=0
complain() { # complain TEXT
    bad=$((bad + 1))
    printf 'FAILED %s, %s: %s\n' "$name" "$how" "$1"
    sed 's/^/  | /' said | tail -n 4
}

# What is said goes through a pipe: a limit of the file size holds for files.
run() { { "$@" 2>&1 </dev/null; echo $? >code; } | cat >said; }

refused() { # refused TEXT PATH: exit 3, and what the message holds
    tried=$((tried + 1))
    [ "$(cat code)" = 3 ] || complain "exit $(cat code)"
    grep -qE -- "$1" said || complain "the message is without \"$1\""
    grep -qF -- "$2" said || complain "the message does not name $2"
}

untouched() { # untouched BEFORE AFTER: the same names, the same bytes
    diff -r "$1" "$2" >differs 2>&1 || complain "changed: $(head -n 2 differs | tr '\n' ' ')"
}

# ---- places where nothing can be written, with old outputs in them ----

limited() { (ulimit -f 0 && "$@"); }

on_disk() { # on_disk full|ro TEXT COMMAND…
    kind=$1 text=$2
    shift 2
    mount -t tmpfs -o size=4m none disk || { complain "no mount" && return; }
    cp -r before/. disk
    if [ "$kind" = full ]; then
        head -c 8000000 /dev/zero >disk/filler 2>/dev/null
    else
        mount -o remount,ro disk
    fi
    run "$@"
    refused "$text" disk/
    [ "$kind" = ro ] || rm disk/filler
    untouched before disk
    umount disk
}

in_bad_places() { # NAME OUTPUT COMMAND…
    name=$1
    shift 2
    how=good
    rm -rf before disk
    mkdir disk
    run "$@"
    [ "$(cat code)" -le 1 ] || complain "fails already where all is well"
    cp -r disk before
    find before -type f >olds
    while read -r file; do echo "old $file" >"$file"; done <olds
    rm -rf disk
    cp -r before disk
    how="a limit of the file size"
    run limited "$@"
    refused "File too large" disk/
    untouched before disk
    rm -rf disk
    mkdir disk
    [ "$GS_PLACES_MOUNTS" = yes ] || return
    how="a full disk"
    on_disk full "No space left on device|not enough disk space" "$@"
    how="a read-only folder"
    on_disk ro "Read-only file system" "$@"
}

in_missing_folder() { # NAME OUTPUT COMMAND…: made for a folder, refused for a file
    name=$1 output=$2 how="a missing folder"
    shift 2
    rm -rf nowhere
    run "$@"
    case $output in
    *.*)
        refused "No such file or directory" nowhere/
        [ ! -e nowhere ] || complain "the folder was made"
        ;;
    *)
        tried=$((tried + 1))
        [ "$(cat code)" -le 1 ] || complain "exit $(cat code)"
        [ -d "$output" ] || complain "no folder"
        ;;
    esac
}

in_a_file() { # NAME OUTPUT COMMAND…
    name=$1 how="a file for a folder"
    shift 2
    echo "a file" >file
    run "$@"
    refused "Not a directory" file
    [ "$(cat file)" = "a file" ] || complain "the file is changed"
}

# ---- other outputs ----

# The command with the argument WORD replaced.
with() { # with WORD OTHER COMMAND…
    word=$1 other=$2 left=$(($# - 2))
    shift 2
    while [ $left -gt 0 ]; do
        if [ "$1" = "$word" ]; then set -- "$@" "$other"; else set -- "$@" "$1"; fi
        shift
        left=$((left - 1))
    done
    "$@"
}

to_device() { # NAME OUTPUT COMMAND…
    name=$1 output=$2 how="a device"
    shift 2
    rm -rf out
    mkdir out
    ln -s /dev/full "$output"
    run "$@"
    refused "" "$output"
    [ -c "$output" ] || complain "the device is gone"
}

to_nobody() { # to_nobody COMMAND…: the pipe's reader is gone before the command starts
    { { sleep 0.1; "$@" 2>said </dev/null; echo $? >code; } | :; }
}

to_stdout() { # NAME OUTPUT COMMAND…, those with JSON
    name=$1 output=$2
    shift 2
    case $output in *.json) ;; *) return ;; esac
    how="a full standard output"
    with "$output" - "$@" >/dev/full 2>said </dev/null
    echo $? >code
    refused "No space left on device" "standard output"
    how="a closed pipe"
    to_nobody with "$output" - "$@"
    refused "Broken pipe" "standard output"
}

onto_input() { # onto_input INPUT NAME OUTPUT COMMAND…
    input=$1 name=$2 output=$3
    shift 3
    for link in path symbolic hard; do
        rm -rf in
        mkdir in
        cp "$input" "in/$input"
        case $link in
        path) target=in/../in/$input ;;
        symbolic) target=in/link && ln -s "$input" in/link ;;
        hard) target=in/link && ln "in/$input" in/link ;;
        esac
        how="$input is the output ($link)"
        run with "$input" "in/$input" with "$output" "$target" "$@"
        refused "would replace what is read" "$target"
        cmp -s "$input" "in/$input" || complain "the input is changed"
    done
}

# convert may take the place of what it reads, when that is whole.
in_place() { # in_place NAME OUTPUT COMMAND…
    name=$1 output=$2 how="in place"
    shift 2
    rm -rf in
    mkdir in
    cp "$3" in/same.h5
    run limited with "$3" in/same.h5 with "$output" in/same.h5 "$@"
    refused "" in/same.h5
    cmp -s "$3" in/same.h5 || complain "the input is changed"
}

onto_inputs() { # NAME OUTPUT COMMAND…: every file among the arguments
    case $1 in convert_*) in_place "$@"; return ;; esac
    for argument in "$@"; do
        case $argument in */*) ;; *) [ -f "$argument" ] && onto_input "$argument" "$@" ;; esac
    done
}

inside_output() { # a folder that is replaced must not hold an input
    name=report how="an input in the output folder"
    case ${chosen:-all} in all | *" report "*) ;; *) return ;; esac
    rm -rf page
    run gpnscope report trace.h5 --quiet -o page
    cp trace.h5 page/mine.h5
    run gpnscope report page/mine.h5 --quiet --force -o page
    refused "would replace what is read" page/mine.h5
    cmp -s trace.h5 page/mine.h5 || complain "the input is changed"
}

cd "$work" || exit 2
take_inputs "$fixture" "$source"
rm disk 2>/dev/null
place=disk
each_command in_bad_places
rmdir disk
place=nowhere/there
each_command in_missing_folder
place="file"
each_command in_a_file
# shellcheck disable=SC2034 # read in commands.sh
place=out
each_command to_device
each_command to_stdout
each_command onto_inputs
inside_output
mounts=
[ "$GS_PLACES_MOUNTS" = yes ] ||
    mounts="; nothing can be mounted here: full disk and read-only folder left out"
echo "$tried failures, $bad held wrongly$mounts"
[ $bad -eq 0 ]
