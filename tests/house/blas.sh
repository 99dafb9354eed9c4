#!/bin/sh
# sh tests/house/blas.sh BIN: every program loads one OpenBLAS and one OpenMP runtime, whatever the
# system's alternatives for libblas.so.3 and liblapack.so.3 are: one pool of threads.
set -u
bin=$1
command -v ldd >/dev/null || { echo "skipped: ldd is absent"; exit 77; }
bad=0 programs=0
for program in "$bin"/gpnscope*; do
    [ -x "$program" ] || continue
    programs=$((programs + 1))
    loaded=$(ldd "$program" | awk '/=>/ { print $3 }' | xargs -r readlink -f | sort -u)
    for library in openblas gomp; do
        count=$(printf '%s\n' "$loaded" | grep -c "/lib$library")
        if [ "$count" -ne 1 ]; then
            echo "$program loads $count of lib$library:"
            printf '%s\n' "$loaded" | grep "/lib$library"
            bad=1
        fi
    done
done
[ $programs -gt 0 ] || { echo "no programs in $bin"; exit 1; }
[ $bad -ne 0 ] || echo "$programs programs, one OpenBLAS and one OpenMP runtime each"
exit $bad
