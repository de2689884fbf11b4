import type { ProgramFacts } from '../../src/machine/programs/installation.ts';
import type { ToolDefinition } from '../../src/core/tool-definition.ts';

/** docs/tools.md: our own tools, every program with its actions, and the error codes. */
export function toolsPage(
  tools: readonly ToolDefinition[],
  programs: readonly ProgramFacts[],
  errorCodes: Readonly<Record<string, string>>,
): string {
  const own = tools.filter(({ action }) => action === undefined);
  return [
    '# Tools',
    '',
    'Written by `npm test -- -u` from the code. What a tool can do is told by its effects: `read` looks; `write` changes files',
    'inside the roots, or local state that can be changed back; `execute` runs code of the folder; `network` talks to another',
    'machine; `publish` changes what others see; `destroy` can lose work for good. [safety.md](safety.md#who-decides) tells',
    'what a person is asked about.',
    '',
    '## toolcrib itself',
    '',
    '| Tool | Effects | What it does | Parameters |',
    '| --- | --- | --- | --- |',
    ...own.map((tool) =>
      row(`\`${tool.name}\``, tool.effects.join(', ') || 'none', tool.description, parametersOf(tool)),
    ),
    '',
    '## Programs',
    '',
    'Tools are named `<program>_<action>`. `find_actions` finds them in plain words, with an example of each.',
    '',
    ...programs
      .toSorted((one, other) => one.title.localeCompare(other.title, 'en'))
      .map((program) => {
        const actions = tools.filter((tool) => tool.program === program.id);
        const names = (all: readonly ToolDefinition[]) => all.map(({ action }) => action).join(', ');
        const looks = actions.filter(({ annotations }) => annotations.readOnlyHint);
        const others = actions.filter(({ annotations }) => !annotations.readOnlyHint);
        const parts = [looks.length > 0 && `looks: ${names(looks)}`, names(others)].filter(Boolean);
        return `- [${program.title}](${program.site}) \`${program.id}\`: ${parts.join('; ')}`;
      }),
    '',
    '## Error codes',
    '',
    'An answer with `isError` begins with one of these, says what was wrong, and ends with the way out.',
    '',
    '| Code | Meaning |',
    '| --- | --- |',
    ...Object.entries(errorCodes).map(([code, meaning]) => `| \`${code}\` | ${meaning} |`),
    '',
  ].join('\n');
}

function parametersOf({ inputSchema }: ToolDefinition): string {
  const required = (inputSchema['required'] ?? []) as string[];
  return Object.keys(inputSchema['properties'] as object)
    .map((name) => (required.includes(name) ? `**${name}**` : name))
    .join(', ');
}

const row = (...cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
