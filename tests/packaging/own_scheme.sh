#!/usr/bin/env bash
# Follows docs/tutorial-own-scheme.md: installs a build into a prefix, and runs the page's commands
# there, which build examples/own_scheme against it: own_scheme.sh SOURCE_TREE BUILD_FOLDER.
set -euo pipefail
source_tree=$1
build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/installed" > "$work/install.log"
# Elsewhere than it was installed to: all that it needs has to come along.
mv "$work/installed" "$work/prefix"
export CMAKE_PREFIX_PATH=$work/prefix PATH=$work/prefix/bin:$PATH THINWIRE=$source_tree
export CCACHE_DISABLE=1
! grep -rlF -e "$source_tree" "$work/prefix/lib/cmake" "$work/prefix/share/man" ||
  { echo "these name the source tree"; exit 1; }
mkdir "$work/scratch"
cd "$work/scratch"
python3 "$source_tree/tests/packaging/console_examples.py" "$source_tree/docs/tutorial-own-scheme.md"
