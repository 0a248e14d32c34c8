#!/usr/bin/env bash
# Drives bash's completion of the program as readline would: completion.sh PROGRAM SOURCE_TREE.
set -euo pipefail
program=$1
# shellcheck source=tools/completion/thinwire.bash
source "$2/tools/completion/thinwire.bash"

failed=0
# offers WORDS... -- NAMES...: completing the last word offers these names, maybe among others.
offers() {
  COMP_WORDS=("$program")
  while [[ $1 != "::" ]]; do COMP_WORDS+=("$1"); shift; done
  shift
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  _thinwire
  local name
  for name in "$@"; do
    if ! printf '%s\n' "${COMPREPLY[@]}" | grep -qxF -e "$name"; then
      echo "completing '${COMP_WORDS[*]:1}' does not offer '$name' but: ${COMPREPLY[*]}"
      failed=1
    fi
  done
  if [[ $# -eq 0 && ${#COMPREPLY[@]} -gt 0 ]]; then
    echo "completing '${COMP_WORDS[*]:1}' offers: ${COMPREPLY[*]}"
    failed=1
  fi
}

offers '' :: run sweep compare recommend claims list topo trace
offers 're' :: recommend
offers 'complete' ::                  # the hidden ones are not offered
offers run --sch :: --scheme
offers run --scheme '' :: oktopk dense_ring topka
offers run --scheme okt :: oktopk
offers run --scheme = okt :: oktopk   # --scheme=okt, as bash splits it
offers run --scheme = :: oktopk
offers run --scheme 'topka+' :: topka+dgc topka+gaussian
offers run --scheme 'dense_ring+' ::  # takes no sparsifier
offers run --network '' :: alphabeta links smpi counting
offers run --platform a :: alphabeta aries_8192 aries_daint
offers run --model be :: bert
offers run --device '' :: p100 v100 h100
offers run --format '' :: table csv json jsonl
offers run --scheme oktopk --phases --plat :: --platform
offers run -P 64 --trace '' :: lstm_all
offers run --conf :: --config
offers run --config '' ::             # no names: bash offers files
offers recommend --schemes oktopk,top :: oktopk,topka
offers list '' :: schemes devices all
offers list schemes --form :: --format
offers sweep '' :: table1
offers topo '' :: make show check
offers topo show fat :: fat_tree fat_tree_4to1 fat_tree_8192
offers topo make '' :: dragonfly
offers trace show lstm_ :: lstm_all lstm_oktopk
offers claims oktopk.b :: oktopk.bert.256.speedup
offers validate --machine l :: leonardo lumi
offers nonsense '' ::
offers run --nonsense '' ::
exit $failed
