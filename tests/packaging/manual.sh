#!/usr/bin/env bash
# The man page tells of all subcommands, and man has nothing against it: manual.sh PROGRAM.
set -euo pipefail
command -v man > /dev/null || { echo "skipped: there is no man (package man-db)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" manual > "$work/thinwire.1"

warnings=$(MANROFFSEQ='' MANWIDTH=80 LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l -Tutf8 -Z \
  "$work/thinwire.1" 2>&1 > /dev/null)
if [[ -n "$warnings" ]]; then
  echo "$warnings"
  exit 1
fi
page=$(MANWIDTH=100 LC_ALL=C.UTF-8 man -l "$work/thinwire.1" | col -b 2> /dev/null || true)
for text in 'topo make dragonfly' '--scheme NAME' 'THINWIRE_SHARE' '--density' 'Exit codes'; do
  grep -qF -e "$text" <<< "$page" || { echo "the man page does not tell of '$text'"; exit 1; }
done
