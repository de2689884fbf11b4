import type { ProgramFacts } from '../../src/machine/programs/installation.ts';
import type { PublishedTool } from '../../src/server/published.ts';
import { allActions, exampleLines } from '../discoverers/programs.ts';

/** docs/tools.md: our own tools, every program with its actions, and the error codes. */
export function toolsPage(
  tools: readonly PublishedTool[],
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
    ...programs.flatMap((program) => [
      '',
      `## ${program.title} (\`${program.id}\`)`,
      '',
      `${program.site} · looked for as ${program.called.map((name) => `\`${name}\``).join(', ')}`,
      '',
      '| Action | Effects | What it does | For example |',
      '| --- | --- | --- | --- |',
      ...tools.filter((tool) => tool.program === program.id).map(rowOf),
    ]),
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

function parametersOf({ inputSchema }: PublishedTool): string {
  const required = (inputSchema['required'] ?? []) as string[];
  return Object.keys(inputSchema['properties'] as object)
    .map((name) => (required.includes(name) ? `**${name}**` : name))
    .join(', ');
}

function rowOf({ name, effects, description }: PublishedTool): string {
  const action = allActions.find(({ tool }) => tool === name);
  const [example = ''] = action ? exampleLines(action) : [];
  return row(
    `\`${name}\``,
    effects.join(', '),
    description,
    `\`${example.replaceAll('\0', '').replaceAll('\n', '⏎')}\``,
  );
}

const row = (...cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
