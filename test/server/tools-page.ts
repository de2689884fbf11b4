import type { AnyAction, AnyDiscoverer } from '../../src/core/discoverer.ts';
import type { ProgramFacts } from '../../src/machine/programs/installation.ts';
import type { PublishedTool } from '../../src/server/published.ts';

/** docs/tools.md: every program, its tools, and the error codes. */
export function toolsPage(
  tools: readonly PublishedTool[],
  programs: readonly ProgramFacts[],
  discoverers: readonly AnyDiscoverer[],
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
    ...table(own, () => undefined),
    ...programs.flatMap((program) => {
      const discoverer = discoverers.find(({ id }) => id === program.id);
      return [
        '',
        `## ${program.title} (\`${program.id}\`)`,
        '',
        `${program.homepage} · looked for as ${program.programs.map((name) => `\`${name}\``).join(', ')}`,
        '',
        ...table(
          tools.filter((tool) => tool.program === program.id),
          (tool) => discoverer?.actions[tool.action ?? ''],
        ),
      ];
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

function table(
  tools: readonly PublishedTool[],
  actionOf: (tool: PublishedTool) => AnyAction | undefined,
): string[] {
  return [
    '| Tool | Effects | What it does | Parameters | For example |',
    '| --- | --- | --- | --- | --- |',
    ...tools.map((tool) => {
      const required = (tool.inputSchema['required'] ?? []) as string[];
      const names = Object.keys(tool.inputSchema['properties'] as object).map((name) =>
        required.includes(name) ? `**${name}**` : name,
      );
      const action = actionOf(tool);
      const example = action?.example.runs ?? '';
      const cells = [
        `\`${tool.name}\``,
        tool.effects.join(', ') || 'none',
        tool.description,
        names.join(', '),
        example && `\`${example.replaceAll('\0', '')}\``,
      ];
      return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
    }),
  ];
}
