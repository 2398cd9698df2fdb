# Completion of rankgauge for bash: source <(rankgauge completion bash)
_rankgauge_complete() {
    local line="${COMP_LINE:0:COMP_POINT}" words=() current start word
    read -ra words <<< "$line"
    [[ "$line" == *[[:space:]] ]] && words+=("")
    current="${words[${#words[@]} - 1]}"
    # bash replaces only what follows the last break character, such as = or @.
    start=${#current}
    while (( start > 0 )) && [[ "$COMP_WORDBREAKS" != *"${current:start-1:1}"* ]]; do (( start-- )); done
    COMPREPLY=()
    while IFS= read -r word; do
        word="${word%%$'\t'*}"
        case "$word" in
            :files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- "${current:start}") ;;
            :folders) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- "${current:start}") ;;
            *) COMPREPLY+=("${word:start}"); [[ "$word" == *[@=] ]] && compopt -o nospace ;;
        esac
    done < <("${words[0]}" completion candidates -- "${words[@]:1}" 2> /dev/null)
}
complete -F _rankgauge_complete rankgauge
