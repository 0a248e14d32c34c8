# shellcheck shell=bash
# Bash completion of thinwire, which knows its own commands, options and names. For a program of your
# own that is built on Thinwire: complete -o default -F _thinwire PROGRAM.
_thinwire() {
  mapfile -t COMPREPLY < <("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  # The value follows a key at once.
  if [[ ${#COMPREPLY[@]} -gt 0 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _thinwire thinwire
