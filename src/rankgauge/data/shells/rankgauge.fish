# Completion of rankgauge for fish: rankgauge completion fish > ~/.config/fish/completions/rankgauge.fish
function __rankgauge_complete
    set -l words (commandline --cut-at-cursor --tokenize)
    set -l current (commandline --cut-at-cursor --current-token)
    for line in (command $words[1] completion candidates -- $words[2..-1] "$current" 2> /dev/null)
        switch $line
            case ':files'
                __fish_complete_path (string replace --regex '^.*=' '' -- $current)
            case ':folders'
                __fish_complete_directories (string replace --regex '^.*=' '' -- $current)
            case '*'
                echo $line
        end
    end
end
complete --command rankgauge --no-files --arguments '(__rankgauge_complete)'
