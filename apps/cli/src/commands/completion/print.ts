/**
 * `berth completion`: prints the script that makes a shell complete berth. The script only asks `berth __complete` for the next words.
 */
import { Effect } from "effect"
import { command } from "../command.ts"
import { shells } from "../../commandLine/globalFlags.ts"
import { argument, oneOf } from "../../commandLine/Parameter.ts"
import { Output } from "../../output/Output.ts"

const bash = `# Completion of berth for bash: eval "$(berth completion bash)" in ~/.bashrc
_berth() {
  local line value
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default
      return
    fi
    printf -v value '%q' "\${line%%$'\\t'*}"
    # A list stays as it was typed.
    COMPREPLY+=("\${value//\\\\,/,}")
  done < <(berth __complete bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _berth berth
`

const zsh = `#compdef berth
# Completion of berth for zsh: eval "$(berth completion zsh)" in ~/.zshrc, or a file _berth on $fpath
_berth() {
  local line value
  local -a described
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      _files
      return
    fi
    value=\${line%%$'\\t'*}
    described+=("\${value//:/\\\\:}:\${line#*$'\\t'}")
  done < <(berth __complete zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe -t berth 'berth' described
}
if [[ \${funcstack[1]} == _berth ]]; then
  _berth "$@"
elif (( $+functions[compdef] )); then
  compdef _berth berth
else
  # compinit comes later in ~/.zshrc.
  _berth_when_ready() {
    add-zsh-hook -d precmd _berth_when_ready
    if (( $+functions[compdef] )); then compdef _berth berth; fi
  }
  autoload -Uz add-zsh-hook
  add-zsh-hook precmd _berth_when_ready
fi
`

const fish = `# Completion of berth for fish: berth completion fish | source, or a file ~/.config/fish/completions/berth.fish
function __berth_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    for line in (berth __complete fish -- $words "$current" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path "$current"
        else
            echo $line
        end
    end
end
complete -c berth -f -a '(__berth_complete)'
`

const powershell = `# Completion of berth for PowerShell: berth completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName berth -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $words = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.StartOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
    if ($wordToComplete -eq '' -and -not ($words.Count -and $words[-1].EndsWith(','))) { $words += '' }
    berth __complete powershell -- @words 2>$null | ForEach-Object {
        $value, $text = $_ -split "\`t", 2
        if ($value -ne ':files') {
            if (-not $text) { $text = $value }
            [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $text)
        }
    }
}
`

const shellScripts: Readonly<Record<(typeof shells)[number], string>> = {
  bash,
  zsh,
  fish,
  powershell,
  sh: bash,
  pwsh: powershell
}

export const completion = command(
  {
    shell: argument("SHELL", oneOf(shells, ""), "The shell that runs the script")
  },
  Effect.fnUntraced(function* ({ shell }) {
    yield* Output.use(({ data }) => data(shellScripts[shell]))
  })
)
