#compdef rankgauge
# Completion of rankgauge for zsh: rankgauge completion zsh > a folder of $fpath/_rankgauge, or source it.
_rankgauge() {
    local line word text
    local -a found texts
    for line in "${(@f)$("${words[1]}" completion candidates -- "${(@)words[2,CURRENT]}" 2> /dev/null)}"; do
        word="${line%%$'\t'*}"
        text="${line#*$'\t'}"
        case "$word" in
            "") ;;
            :files) compset -P '*='; _files; return ;;
            :folders) compset -P '*='; _files -/; return ;;
            *)
                found+=("$word")
                [[ "$line" == *$'\t'* ]] && texts+=("$word  -- $text") || texts+=("$word")
                ;;
        esac
    done
    # A name that ends in @ or = goes on: no blank after it.
    if (( ${#found} )) && [[ "${found[1]}" == *[@=] ]]; then
        compadd -S '' -d texts -l -a found
    elif (( ${#found} )); then
        compadd -d texts -l -a found
    fi
}
if [[ "$funcstack[1]" == _rankgauge ]]; then
    _rankgauge "$@"
else
    compdef _rankgauge rankgauge
fi
