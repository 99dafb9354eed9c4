#!/bin/sh
# Makes a machine ready for gpnscope: sh core/setup.sh [build] [test] [lint] [fuzz] [demo]
#
#   build   compiler, cmake, ninja, libraries (this alone when nothing is named)
#   test    what the tests need besides: cmocka, HDF5's tools, gnuplot
#   lint    for tests that are skipped without it: valgrind, clang-format 14, shellcheck
#   fuzz    clang and its OpenMP, for fuzzing with coverage (tests/fuzz)
#   demo    what reports/demo.sh needs besides: gnuplot, and English text, without which it still runs
#
# On Debian and Ubuntu, as root or with sudo that asks for no password, what is missing is installed
# with apt. Otherwise it is named, with the command that installs it, and the exit code is 1 (0 when
# nothing that is really needed is missing). When everything is there only the checks below run.
# shellcheck disable=SC2317 # the checks are called by name, from the table
set -u

say() { printf '%s\n' "$*" >&2; }

# ---- what is needed: one function a need that succeeds where it is there ----------------------

have() { command -v "$1" >/dev/null 2>&1; }
module() { have pkg-config && pkg-config --exists "$1"; }
# header NAME FOLDER…: a file of that name stands in one of the folders of an include path
header() {
    name=$1
    for root in /usr/include /usr/include/*-linux-* /usr/local/include /opt/homebrew/include \
        /opt/homebrew/opt/openblas/include /usr/local/opt/openblas/include; do
        for below in "" openblas-openmp/ openblas/; do
            [ ! -f "$root/$below$name" ] || return 0
        done
    done
    return 1
}
has_compiler() { have cc || have gcc || have clang; }
has_cxx() { have c++ || have g++ || have clang++; }
has_cmake() {
    version=$(cmake --version 2>/dev/null | sed -n 's/^cmake version \([0-9]*\)\.\([0-9]*\).*/\1 \2/p')
    [ -n "$version" ] || return 1
    # shellcheck disable=SC2086 # two numbers, wanted as two
    set -- $version
    [ "$1" -gt 3 ] || { [ "$1" -eq 3 ] && [ "$2" -ge 25 ]; }
}
has_openblas() { # its OpenMP build, which Debian and Fedora ship beside others
    if [ "$(uname -s)" = Darwin ]; then header cblas.h; return; fi
    for library in /usr/lib/*/openblas-openmp/libopenblas.so /usr/lib64/libopenblaso.so /usr/lib/libopenblaso.so; do
        [ ! -e "$library" ] || return 0
    done
    return 1
}
has_hdf5() { module hdf5 || have h5cc; }
has_openmp() { [ "$(uname -s)" != Darwin ] || [ -d /opt/homebrew/opt/libomp ] || [ -d /usr/local/opt/libomp ]; }
has_text() { have diatheke && ls /usr/share/sword/mods.d/engWEB*.conf >/dev/null 2>&1; }
has_format() { have clang-format-14 || { have clang-format && clang-format --version | grep -q 'version 14\.'; }; }

has_clang_openmp() { # ask it: it keeps its header beside itself
    printf '#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n' |
        clang -x c -fopenmp -o /dev/null - 2>/dev/null
}

# profile | check | Debian | Fedora | Homebrew; "-" where that system has no such package, or needs none
needs() {
    cat <<'END'
build|has_compiler|gcc|gcc|gcc
build|has_cxx|g++|gcc-c++|gcc
build|has_cmake|cmake|cmake|cmake
build|have ninja|ninja-build|ninja-build|ninja
build|have pkg-config|pkg-config|pkgconf-pkg-config|pkgconf
build|has_openmp|-|-|libomp
build|has_openblas|libopenblas-openmp-dev|openblas-devel openblas-openmp|openblas
build|header lapacke.h|liblapacke-dev|openblas-devel|openblas
build|has_hdf5|libhdf5-dev|hdf5-devel|hdf5
build|module jansson|libjansson-dev|jansson-devel|jansson
build|module libzip|libzip-dev|libzip-devel|libzip
build|module popt|libpopt-dev|popt-devel|popt
build|module sentencepiece|libsentencepiece-dev|sentencepiece-devel|sentencepiece
build|module libcrypto|libssl-dev|openssl-devel|openssl@3
test|module cmocka|libcmocka-dev|libcmocka-devel|cmocka
test|have h5dump|hdf5-tools|hdf5|hdf5
test|have gnuplot|gnuplot-nox|gnuplot-minimal|gnuplot
lint|have valgrind|valgrind|valgrind|-
lint|has_format|clang-format-14|-|-
lint|have shellcheck|shellcheck|ShellCheck|shellcheck
fuzz|have clang|clang|clang|llvm
fuzz|has_clang_openmp|libomp-dev|libomp-devel|libomp
demo|have gnuplot|gnuplot-nox|gnuplot-minimal|gnuplot
text|has_text|diatheke sword-text-web|-|-
END
}

# missing COLUMN PROFILE…: the packages of that column that are not there, each once
missing() {
    column=$1
    shift
    needs | while IFS='|' read -r profile check debian fedora brew; do
        case " $* " in *" $profile "*) ;; *) continue ;; esac
        ! $check || continue
        case $column in debian) name=$debian ;; fedora) name=$fedora ;; *) name=$brew ;; esac
        [ "$name" = - ] || printf '%s\n' "$name"
    done | tr ' ' '\n' | awk 'NF && !seen[$0]++' | tr '\n' ' ' | sed 's/ $//'
}
# all_there PROFILE…: every check succeeds
all_there() {
    needs | while IFS='|' read -r profile check _; do
        case " $* " in *" $profile "*) $check || exit 1 ;; esac
    done
}

# ---- installing --------------------------------------------------------------------------------

as_root() { # the prefix under which apt may be called; fails where there is none
    have apt-get || return 1
    [ "$(id -u)" -ne 0 ] || return 0
    have sudo && sudo -n true 2>/dev/null || return 1
    echo "sudo -n"
}
# apt ARGUMENT…: quiet, never asking, patient with a slow network and with another apt's lock
apt() {
    # shellcheck disable=SC2086 # empty or two words
    $root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o Acquire::Retries=3 \
        -o DPkg::Lock::Timeout=300 "$@" </dev/null >&2
}
install() { # install PACKAGE…
    for attempt in 1 2 3; do
        if apt update && apt install --no-install-recommends "$@"; then return 0; fi
        [ "$attempt" -eq 3 ] || { say "setup: apt failed, trying again"; sleep 5; }
    done
    return 1
}
explain() { # explain PROFILE…: what is missing, for each system
    say "setup: something is missing that this script may not install here. It is, on"
    debian=$(missing debian "$@") fedora=$(missing fedora "$@") brew=$(missing brew "$@")
    [ -z "$debian" ] || say "  Debian, Ubuntu:  sudo apt-get update && sudo apt-get install --no-install-recommends $debian"
    [ -z "$fedora" ] || say "  Fedora:          sudo dnf install $fedora"
    [ -z "$brew" ] || say "  Homebrew:        brew install $brew"
    has_cmake || ! have cmake || say "  cmake must be 3.25 or newer (pip install cmake has one for older systems)."
}

[ $# -gt 0 ] || set -- build
required="" wanted=""
for profile; do
    case $profile in
    build | test) required="$required $profile" ;;
    demo) required="$required demo" wanted="$wanted text" ;;
    lint | fuzz) wanted="$wanted $profile" ;;
    *)
        say "usage: sh core/setup.sh [build] [test] [lint] [fuzz] [demo]"
        exit 2
        ;;
    esac
done

# shellcheck disable=SC2086 # profiles and packages are words
{
    all_there $required $wanted && exit 0
    if root=$(as_root); then
        for group in "$required" "$wanted"; do
            packages=$(missing debian $group)
            [ -n "$packages" ] || continue
            say "setup: installing $packages"
            install $packages || say "setup: apt could not install all of it"
        done
    fi
    if ! all_there $required; then
        explain $required
        exit 1
    fi
    left=$(missing debian $wanted)
    [ -z "$left" ] || say "setup: works without, but is missing (names of Debian's packages): $left"
}
