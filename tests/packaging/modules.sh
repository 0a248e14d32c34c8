#!/usr/bin/env bash
# Commands load SimGrid, HDF5, librsvg and MPI when they need them, and say what is wrong with a module
# that does not load: modules.sh PROGRAM FOLDER_OF_LIBRARIES.
set -euo pipefail
program=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }

# expect LIBRARIES ARGUMENTS...: these of the large libraries are what the command loads.
expect() {
  local wanted=$1
  shift
  rm -f "$work"/loaded.*
  LD_DEBUG=files LD_DEBUG_OUTPUT=$work/loaded "$program" "$@" > "$work/out"
  local got
  got=$({ grep -ohE 'lib(simgrid|hdf5|rsvg|mpi)' "$work"/loaded.* || true; } | sort -u | tr '\n' ' ')
  [[ "$got" == "$wanted" ]] || fail "'thinwire $*' loads '$got' of the large libraries, not '$wanted'"
}
expect '' --version
expect '' run -P 4 -n 1000
expect '' measure --help
expect 'libsimgrid ' run -P 4 -n 1000 --network links --platform fat_tree
expect 'libsimgrid ' run -P 4 -n 1000 --network smpi --platform fat_tree
expect 'libhdf5 ' trace show lstm_oktopk
"$program" run -P 4,8 -n 1000 --format jsonl > "$work/rows.jsonl"
expect 'librsvg ' report "$work/rows.jsonl" --figure time -o "$work/rows.png"

# Beside a program that was installed elsewhere.
mkdir -p "$work/bin" "$work/$2/thinwire"
cp "$program" "$work/bin/thinwire"
echo "no library" > "$work/$2/thinwire/simgrid.so"
status=0
"$work/bin/thinwire" run -P 4 -n 1000 --network links --platform fat_tree > "$work/out" 2> "$work/err" || status=$?
[[ $status -eq 1 ]] || fail "a broken module ends with $status"
grep -F "the module 'simgrid' (SimGrid, which loads platforms) cannot be used: $work/$2/thinwire/simgrid.so" \
  "$work/err" > "$work/out" || fail "$(cat "$work/err")"
"$work/bin/thinwire" run -P 4 -n 1000 > "$work/out" || fail "what needs no platform needs no module"
