#!/usr/bin/env bash
# Makes the Debian packages of a build, looks into them, and installs, runs and removes the program
# where that may be done: deb.sh BUILD_FOLDER [--lintian]. Leaves the machine as it was. Lintian takes
# half a minute, so tools/check goes without.
set -euo pipefail
build=$1
tests=$(cd "$(dirname "$0")/.." && pwd)
for tool in cpack dpkg-deb dpkg-shlibdeps; do
  command -v "$tool" > /dev/null || { echo "skipped: there is no $tool (package dpkg-dev)"; exit 77; }
done
work=$(mktemp -d)
installed=
cleanup() {
  [[ -z "$installed" ]] || dpkg --purge python3-thinwire thinwire-doc thinwire > /dev/null 2>&1 || true
  rm -rf "$work"
}
trap cleanup EXIT
fail() { echo "$*"; exit 1; }

cpack --config "$build/CPackConfig.cmake" -B "$work" > "$work/cpack.log" 2>&1 || fail "$(cat "$work/cpack.log")"
program=$(ls "$work"/thinwire_*.deb)
development=$(ls "$work"/thinwire-dev_*.deb)
documentation=$(ls "$work"/thinwire-doc_*_all.deb)
python=$(ls "$work"/python3-thinwire_*.deb 2> /dev/null || true)

# Every library that the program loads comes from a package that it depends on.
dpkg-deb -x "$program" "$work/unpacked"
depends=$(dpkg-deb -f "$program" Depends)
modules=("$work"/unpacked/usr/lib/thinwire/{drawing,hdf5,simgrid}.so)
for code in "$work/unpacked/usr/bin/thinwire" "${modules[@]}"; do
  readelf -d "$code" | sed -nE 's/.*NEEDED.*\[(.*)\]/\1/p' > "$work/needed"
  [[ -s "$work/needed" ]] || fail "$code needs no library at all"
  while read -r library; do
    path=$(ldd "$code" | awk -v name="$library" '$1 == name {print $3}')
    [[ -n "$path" ]] || continue # the loader itself
    package=$(dpkg-query -S "$(realpath "$path")" 2> /dev/null || dpkg-query -S "$path")
    package=${package%%:*}
    [[ ", $depends" == *", $package "* || ", $depends," == *", $package,"* ]] ||
      fail "$library is of $package, which is not among: $depends"
  done < "$work/needed"
done
for package in $(dpkg-deb -f "$development" Depends | sed 's/([^)]*)//g; s/,/ /g'); do
  [[ $package == thinwire ]] || dpkg-query -W "$package" > /dev/null || fail "thinwire-dev: no $package"
done

# It runs where it is unpacked, by what it brings.
expected=$("$build/thinwire" --version)
run_it() { # run_it PROGRAM SHARE
  [[ "$("$1" --version)" == "$expected" ]] || fail "$1 is of another version than the build's"
  local kind
  for kind in platforms traces profiles models devices claims sweeps schemas; do
    [[ -n "$(ls "$2/$kind")" ]] || fail "no $kind in $2"
  done
  "$1" list platforms | grep -F "$2/platforms/fat_tree.xml" > /dev/null || fail "$1 takes its platforms from elsewhere"
  "$1" run --scheme topka -P 4 -n 1000 --network smpi --platform fat_tree > "$work/out" || fail "run"
  "$1" trace show lstm_all > "$work/out" || fail "trace show"
  "$1" run --scheme dense_ring,topka -P 2,4 -n 1000 --format jsonl > "$work/rows.jsonl" || fail "run without a platform"
  "$1" report "$work/rows.jsonl" --figure time -o "$work/time.png" > "$work/out" || fail "report"
  # The scripts for PyTorch come along. What they write, the program reads.
  /usr/bin/python3 "$2/pytorch/write_trace.py" "$work/trace.h5" || fail "write_trace.py"
  "$1" trace check "$work/trace.h5" > "$work/out" || fail "the trace of write_trace.py"
  /usr/bin/python3 "$2/pytorch/kineto_model.py" --help > "$work/out" || fail "kineto_model.py"
  PYTHONPATH=$tests/pytorch/stand_in:$2/pytorch /usr/bin/python3 -c 'import thinwire_ddp' || fail "thinwire_ddp.py"
  "$1" recommend --model bert --device p100 -P 2 --fast --schemes topka > "$work/out" || fail "recommend"
}
(cd "$work" && run_it "$work/unpacked/usr/bin/thinwire" "$work/unpacked/usr/share/thinwire")
for file in man/man1/thinwire.1.gz bash-completion/completions/thinwire doc/thinwire/copyright; do
  [[ -s "$work/unpacked/usr/share/$file" ]] || fail "no $file"
done
dpkg-deb -c "$documentation" | grep 'usr/share/doc/thinwire/docs/reference/commands.md' > /dev/null || fail "no user guide"
dpkg-deb -c "$development" | grep 'include/thinwire/algorithms/scheme.hpp' > /dev/null || fail "no headers"
# The Python package runs where it is unpacked beside the program, by what that brings.
run_python() { # run_python PATH FOLDER: for PYTHONPATH, and where the package is to come from
  PYTHONPATH=$1 /usr/bin/python3 - "$2" << 'PYTHON'
import sys
import thinwire
frame = thinwire.run(scheme="dense_ring", ranks=4, components=1000, network="links", platform="fat_tree")
assert frame.ranks_agree[0] and frame.platform[0] == "fat_tree", frame
try:
    thinwire.run(network="links", platform="nothing")
except thinwire.InputError as error:
    assert "unknown platform" in str(error), error
assert sys.argv[1] in thinwire.__file__, thinwire.__file__
PYTHON
}
if [[ -n "$python" ]]; then
  for package in $(dpkg-deb -f "$python" Depends | sed 's/([^)]*)//g; s/,/ /g'); do
    [[ $package == thinwire ]] || dpkg-query -W "$package" > /dev/null || fail "python3-thinwire: no $package"
  done
  dpkg-deb -x "$python" "$work/unpacked"
  (cd "$work" && run_python "$work/unpacked/usr/lib/python3/dist-packages" "$work/unpacked") || fail "python"
fi
! dpkg-deb -c "$development" | grep 'usr/bin/' > /dev/null || fail "thinwire-dev has programs"

if [[ "${2:-}" == --lintian ]]; then
  # shellcheck disable=SC2086 # there may be no Python package
  lintian --allow-root --fail-on error,warning "$program" "$development" "$documentation" $python ||
    fail "lintian has something against it"
fi

# The real thing.
if [[ $(id -u) -ne 0 ]] || dpkg-query -W thinwire > /dev/null 2>&1; then
  echo "not installed: that takes root, and no thinwire that is there already"
  exit 0
fi
dpkg-query -L thinwire > /dev/null 2>&1 && fail "thinwire is known to dpkg"
installed=yes
# shellcheck disable=SC2086 # there may be no Python package
dpkg -i "$program" "$documentation" $python > "$work/dpkg.log" 2>&1 || fail "$(cat "$work/dpkg.log")"
(cd / && run_it /usr/bin/thinwire /usr/share/thinwire)
[[ -s /usr/share/doc/thinwire/docs/reference/commands.md ]] || fail "no user guide in /usr/share/doc/thinwire"
if [[ -n "$python" ]]; then
  (cd / && run_python '' /usr/lib/python3/dist-packages) || fail "installed python"
  dpkg --purge python3-thinwire > "$work/dpkg.log" 2>&1 || fail "$(cat "$work/dpkg.log")"
fi
dpkg --purge thinwire-doc thinwire > "$work/dpkg.log" 2>&1 || fail "$(cat "$work/dpkg.log")"
installed=
[[ ! -e /usr/bin/thinwire && ! -e /usr/share/thinwire ]] || fail "removed, and something is left"
echo "built, unpacked, installed, run and removed: $(cd "$work" && echo ./*.deb)"
