#!/usr/bin/env bash
# What version the program gets from where its source lies: version.sh SOURCE_TREE.
set -euo pipefail
source_tree=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export GIT_CONFIG_GLOBAL=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b.invalid
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b.invalid

failed=0
expect() { # expect WHAT TREE PATTERN
  cmake -DSOURCE_DIR="$2" -DPROJECT_VERSION=1.2.3 -DOUTPUT="$work/version.cpp" \
    -P "$2/cmake/version.cmake"
  local got
  got=$(sed -nE 's/.*kThinwire = "(.*)";/\1/p' "$work/version.cpp")
  if ! [[ "$got" =~ ^$3$ ]]; then
    echo "$1: version '$got' is not '$3'"
    failed=1
  fi
}

tree=$work/tree
mkdir -p "$tree/sim/core/base" "$tree/docs"
cp -r "$source_tree/cmake" "$tree"
cp "$source_tree/sim/core/base/version.cpp.in" "$tree/sim/core/base"
cp "$source_tree/.gitattributes" "$tree"
printf '$%s$\n' 'Format:%H' > "$tree/cmake/archived_commit.txt" # also where this is a tarball
expect "a folder without git" "$tree" '1\.2\.3'

git -C "$tree" init -q
git -C "$tree" add .
git -C "$tree" commit -qm code
commit=$(git -C "$tree" log -1 --abbrev=9 --format=%h)
expect "a clone" "$tree" "1\.2\.3\+g$commit"
touch "$tree/docs/page.md"
git -C "$tree" add .
git -C "$tree" commit -qm docs
expect "a clone after a commit to its docs" "$tree" "1\.2\.3\+g$commit"
echo >> "$tree/sim/core/base/version.cpp.in"
expect "a clone with changes" "$tree" "1\.2\.3\+g$commit-dirty"

mkdir "$work/tarball"
git -C "$tree" archive HEAD | tar -x -C "$work/tarball"
head=$(git -C "$tree" log -1 --format=%H)
expect "a tarball" "$work/tarball" "1\.2\.3\+g${head:0:9}"

git -C "$work" init -q
git -C "$work" add tarball
git -C "$work" commit -qm "somebody else's"
expect "a tarball in somebody else's repository" "$work/tarball" "1\.2\.3\+g${head:0:9}"

# The version stands in four places, three of which only people read.
version=$(sed -nE 's/^project\(Thinwire VERSION ([0-9.]+) .*/\1/p' "$source_tree/CMakeLists.txt")
for place in "CITATION.cff:version: $version" "CHANGELOG.md:## $version " "cmake/debian_changelog:thinwire ($version) "; do
  if ! grep -qF -e "${place#*:}" "$source_tree/${place%%:*}"; then
    echo "${place%%:*} does not say '${place#*:}', the version of CMakeLists.txt"
    failed=1
  fi
done
exit $failed
