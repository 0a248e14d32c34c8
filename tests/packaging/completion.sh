#!/usr/bin/env bash
# Drives bash's completion of the program as readline would: completion.sh PROGRAM SOURCE_TREE.
set -euo pipefail
program=$1
# shellcheck source=tools/completion/thinwire.bash
source "$2/tools/completion/thinwire.bash"

failed=0
# Readline's own, which works only while it completes.
compopt() { options+=("$*"); }
# completes WORDS... ::, and sets names to what stands after.
completes() {
  COMP_WORDS=("$program")
  while [[ $1 != "::" ]]; do COMP_WORDS+=("$1"); shift; done
  shift
  names=("$@")
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
  COMPREPLY=()
  options=()
  _thinwire
}

offered() { printf '%s\n' "${COMPREPLY[@]}" | grep -xF -e "$1" >/dev/null; }

# offers WORDS... :: NAMES...: completing the last word offers these names, maybe among others.
offers() {
  completes "$@"
  local name
  for name in "${names[@]}"; do
    if ! offered "$name"; then
      echo "completing '${COMP_WORDS[*]:1}' does not offer '$name' but: ${COMPREPLY[*]}"
      failed=1
    fi
  done
  if [[ ${#names[@]} -eq 0 && ${#COMPREPLY[@]} -gt 0 ]]; then
    echo "completing '${COMP_WORDS[*]:1}' offers: ${COMPREPLY[*]}"
    failed=1
  fi
}

# lacks WORDS... :: NAME: completing the last word does not offer this name.
lacks() {
  completes "$@"
  if offered "${names[0]}"; then
    echo "completing '${COMP_WORDS[*]:1}' offers '${names[0]}'"
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
# A key has no blank after it, other words have one.
offers run --set options.ta :: options.tau=
[[ "${options[*]}" == "-o nospace" ]] || { echo "a blank follows --set KEY="; failed=1; }
offers run --scheme okt :: oktopk
[[ -z "${options[*]}" ]] || { echo "no blank follows --scheme NAME"; failed=1; }
# The options belong to the schemes that are given.
offers run --scheme qsgd --set options. :: options.bits=
offers run --scheme topka,qsgd --set options. :: options.bits=
offers run --scheme = qsgd --set options. :: options.bits=
lacks run --scheme qsgd --set options. :: options.tau=
lacks run --set options. :: options.bits=
offers run --config point.json --set options. :: options.bits= options.tau=
offers run --set input.family = '' :: copula beta
offers run --set options.bits = :: 2 4 8
offers run --set network = li :: links
offers run --set seed = 3 --sch :: --scheme
offers run --scheme topka,okt :: topka,oktopk
offers run --scheme topka,oktopk+d :: topka,oktopk+dgc
offers help '' :: run topo
offers help topo '' :: show make
offers he :: help
offers compare results.jsonl --sort-by time :: time_s time_mean_s
offers compare results.jsonl --group-by scheme,ra :: scheme,ranks
offers compare results.jsonl --where netw :: network=
offers compare results.jsonl --group-by scheme --sort-by c :: count
offers validate --machine l :: leonardo lumi
offers nonsense '' ::
offers run --nonsense '' ::
exit $failed
