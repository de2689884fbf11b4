import { exposeModes, questionModes } from '../core/settings.ts';
import { help, pages } from './help.ts';
import { catalogueHere } from './here.ts';
import { hosts } from './hosts.ts';
import { ownCommand, UsageError } from './usage.ts';

type Completion = readonly [value: string, description?: string | undefined];

/** The current word and those before it, as bash has them. */
const bashWords = '"=${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[@]:1:COMP_CWORD-1}"';
/** The current word and those before it, as zsh has them. */
const zshWords = '"=${words[CURRENT]}" "${(@)words[2,CURRENT-1]}"';

/**
 * The scripts that shells evaluate. They run `toolcrib complete =WORD BEFORE…`, and complete files where that
 * prints nothing. The words are passed on as they stand on the line, without evaluating them.
 */
const scripts: Readonly<Record<string, (command: readonly string[]) => string>> = {
  bash: (command) => `_toolcrib() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(${posix(command)} complete ${bashWords} 2>/dev/null)
  [[ \${COMPREPLY[0]-} != *= ]] || compopt -o nospace 2>/dev/null
}
complete -o default -F _toolcrib toolcrib
`,
  zsh: (command) => `#compdef toolcrib
_toolcrib() {
  local line tab=$'\\t'
  local -a found blank
  for line in "\${(@f)$(${posix(command)} complete ${zshWords} 2>/dev/null)}"; do
    [[ -z $line ]] || found+=("\${\${line//:/\\\\:}/$tab/:}")
  done
  [[ \${found[1]%%:*} != *= ]] || blank=(-S '')
  if (( $#found )); then _describe toolcrib found $blank; else _files; fi
}
compdef _toolcrib toolcrib
`,
  fish: (command) => `function __toolcrib_complete
  set -l before (commandline -opc)
  set -l found (${posix(command)} complete "="(commandline -ct) $before[2..] 2>/dev/null)
  if count $found >/dev/null
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c toolcrib -f -a '(__toolcrib_complete)'
`,
  powershell: (command) => `Register-ArgumentCompleter -Native -CommandName toolcrib -ScriptBlock {
  param($word, $line, $cursor)
  $before = @($line.CommandElements | Select-Object -Skip 1 |
    Where-Object { $_.Extent.EndOffset -lt $cursor } | ForEach-Object { $_.Extent.Text })
  & ${command.map((part) => `'${part.replaceAll("'", "''")}'`).join(' ')} complete "=$word" @before 2>$null |
    ForEach-Object {
      $value, $text = $_ -split "\`t", 2
      if (-not $text) { $text = $value }
      [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $text)
    }
}
`,
};

const posix = (command: readonly string[]): string =>
  command.map((part) => `'${part.replaceAll("'", String.raw`'\''`)}'`).join(' ');

/** Runs `toolcrib completion SHELL`: prints the script that the shell evaluates. */
export async function completionCommand([shell = '', ...more]: string[]): Promise<number> {
  const script = Object.hasOwn(scripts, shell) && more.length === 0 ? scripts[shell] : undefined;
  if (!script) throw new UsageError(`completion: which shell? One of ${Object.keys(scripts).join(', ')}.`);
  const { command, script: ours } = ownCommand();
  process.stdout.write(script([command, ours]));
  return 0;
}

/**
 * Runs `toolcrib complete =WORD BEFORE…`: prints a line for each word that begins like it, with its meaning
 * after a tab.
 */
export async function completeCommand([prefixed = '', ...before]: string[]): Promise<number> {
  const word = prefixed.slice(1);
  const matching = (await candidates(word, before)).filter(([value]) => value.startsWith(word));
  process.stdout.write(matching.map((candidate) => `${candidate.join('\t')}\n`).join(''));
  return 0;
}

/** The values that some options take. */
const optionValues: Readonly<Record<string, readonly string[]>> = {
  '--questions': questionModes,
  '--expose': exposeModes,
  '--scope': ['user', 'project'],
  '--mode': ['plan', 'ask', 'auto'],
};

async function candidates(word: string, before: readonly string[]): Promise<readonly Completion[]> {
  const [command = '', ...rest] = before;
  if (command === '' || command === 'help')
    return [...help.matchAll(/^  toolcrib (\w+).*?  +(.*)/gm)].map(([, name = '', what]) => [name, what]);
  const page = Object.hasOwn(pages, command) ? (pages[command] ?? '') : '';
  const last = rest.at(-1) ?? '';
  if (takesValue(last, page)) {
    // Every command with --output has `text` and `json`.
    const values = last === '--output' ? ['text', 'json'] : (optionValues[last] ?? []);
    return values.map((value) => [value]);
  }
  if (word.startsWith('-')) return optionsIn(page);
  const isFirst = rest.every((arg) => arg.startsWith('-'));
  if (command === 'config' && isFirst) return Object.entries(hosts).map(([name, { title }]) => [name, title]);
  if (command === 'completion' && isFirst) return Object.keys(scripts).map((name) => [name]);
  if (command !== 'call' && command !== 'doctor') return [];
  const { catalogue } = await catalogueHere();
  if (command === 'doctor') return catalogue.programs.map(({ id, title }) => [id, title]);
  const tool = catalogue.tools.find(({ name }) => rest.includes(name));
  if (!tool) return catalogue.tools.map(({ name, title }) => [name, title]);
  return Object.keys(tool.inputSchema['properties'] ?? {}).map((name) => [`${name}=`]);
}

/** True where the help shows a word behind an option: `--root DIR`, `-m, --model NAME`. */
function takesValue(option: string, page: string): boolean {
  if (!/^--?[a-z][a-z-]*$/.test(option)) return false;
  const shown = /as (?:for serve|in toolcrib --help)/.test(page) ? page + (pages['serve'] ?? '') : page;
  return new RegExp(`${option}(?:, --[a-z-]+)? \\[?'?[A-Z]`).test(shown);
}

/** The options in a page of the help, with their descriptions. */
function optionsIn(page: string): Completion[] {
  const lines = page.matchAll(/^  (?:-\w, )?(--[a-z].*?)  +(.*)/gm);
  return [...lines].flatMap(([, names = '', what]) =>
    names.split(', ').map((name): Completion => [name.split(' ')[0] ?? '', what]),
  );
}
