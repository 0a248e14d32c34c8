#!/usr/bin/env bash
# Installs the development files of a build into a prefix, builds examples/mpi_training against them,
# and trains on two processes: mpi_training.sh SOURCE_TREE BUILD_FOLDER MPIEXEC.
set -euo pipefail
source_tree=$1
build=$2
mpiexec=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --component development --prefix "$work/installed" > "$work/install.log"
mv "$work/installed" "$work/prefix" # elsewhere than it was installed to
export CMAKE_PREFIX_PATH=$work/prefix CCACHE_DISABLE=1
cp -r "$source_tree/examples/mpi_training" "$work/training"
cmake -S "$work/training" -B "$work/build" > "$work/configure.log" 2>&1 || { cat "$work/configure.log"; exit 1; }
cmake --build "$work/build" > "$work/build.log" 2>&1 || { cat "$work/build.log"; exit 1; }
! readelf -d "$work/build/mpi_training" | grep -E 'simgrid|hdf5|rsvg' ||
  { echo "an MPI program loads libraries that it does not use"; exit 1; }

"$mpiexec" -n 2 "$work/build/mpi_training" 200 0.02 > "$work/losses"
cat "$work/losses"
# Both losses fall below half of what they were in the first lines.
awk 'NR == 2 { dense = $2; sparse = $4 } END { exit !(NR == 21 && $2 < dense / 2 && $4 < sparse / 2) }' \
  "$work/losses" || { echo "a loss has not fallen"; exit 1; }
