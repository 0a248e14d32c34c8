#!/usr/bin/env bash
# Follows the tutorial of an example: installs a build into a prefix, and runs the page's commands
# there, which build the example against it: own_code.sh SOURCE_TREE BUILD_FOLDER own_scheme.
set -euo pipefail
source_tree=$1
build=$2
example=$3
page=$source_tree/docs/tutorials/${example//_/-}.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/installed" > "$work/install.log"
# Elsewhere than it was installed to: all that it needs has to come along.
mv "$work/installed" "$work/prefix"
export CMAKE_PREFIX_PATH=$work/prefix PATH=$work/prefix/bin:$PATH THINWIRE=$source_tree
export CCACHE_DISABLE=1
! grep -rlF -e "$source_tree" "$work/prefix/lib/cmake" "$work/prefix/share/man" ||
  { echo "these name the source tree"; exit 1; }
# What the page quotes is what the example says.
python3 - "$page" "$source_tree/examples/$example" << 'END'
import pathlib
import re
import sys

page = pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")
files = [file.read_text(encoding="utf-8") for file in pathlib.Path(sys.argv[2]).iterdir()]
quoted = re.findall(r"```(?:c\+\+|cmake)\n(.*?)```", page, re.DOTALL)
if len(quoted) < 3 or not all(any(text in file for file in files) for text in quoted):
    sys.exit(f"{sys.argv[1]} quotes what {sys.argv[2]} does not hold")
END
mkdir "$work/scratch"
cd "$work/scratch"
python3 "$source_tree/tests/docs/run_examples.py" --in "$work/scratch" "$work/prefix/bin/thinwire" \
  "$source_tree" "$page"

"build/$example" list platforms | grep -F "$work/prefix/share/thinwire/platforms/fat_tree.xml" > /dev/null ||
  { echo "a program of one's own takes its platforms from elsewhere"; exit 1; }
