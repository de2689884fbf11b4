import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { options } from '../../src/cli/chat.ts';
import { pages } from '../../src/cli/help.ts';
import { commandGroups } from '../../src/repl/commands/index.ts';
import { readChatConfig } from '../../src/repl/config/config.ts';
import { readMcpConfig } from '../../src/repl/config/mcp-config.ts';
import { endpointsOf } from '../../src/repl/models/endpoints.ts';
import { temporaryFolder } from '../tools/files/folder.ts';
import { configuration, example, repl } from './support/example.ts';

it('lists every command and endpoint in docs/repl.md', async () => {
  const code = (text: string) => (text === '' ? '' : `\`${text}\``);
  const ofCommands = Object.entries(commandGroups).flatMap(([title, commands]) => [
    [`**${title}**`, ''],
    ...Object.entries(commands).map(([name, { usage = '', help }]) => [
      code(`/${name} ${usage}`.trim()),
      help,
    ]),
  ]);
  const ofEndpoints = endpointsOf({ endpoints: {} }, {}).map(
    ({ name, wire, baseUrl, keyVariables, defaultModel }) => [
      code(name),
      wire,
      code(baseUrl),
      keyVariables.map(code).join(', '),
      code(defaultModel ?? ''),
    ],
  );
  let page = written(repl, 'commands', [['Command', 'What it does'], ...ofCommands]);
  page = written(page, 'endpoints', [['Endpoint', 'Wire', 'Address', 'Key', 'Usual model'], ...ofEndpoints]);
  await expect(page).toMatchFileSnapshot('../../docs/repl.md');
});

function written(page: string, what: string, [head = [], ...rows]: string[][]): string {
  const escaped = rows.map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, at) => Math.max(...[head, ...escaped].map((row) => row[at]?.length ?? 0)));
  const line = (row: string[]) =>
    `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`.trimEnd();
  const table = [line(head), line(widths.map((width) => '-'.repeat(width))), ...escaped.map(line)];
  const place = new RegExp(`(<!-- ${what}: [^\n]*-->\n)[^]*?(<!-- /${what} -->)`);
  expect(page).toMatch(place);
  return page.replace(place, (_, begin: string, end: string) => `${begin}\n${table.join('\n')}\n\n${end}`);
}

it('tells of every option in chat --help, and of no others there or in docs/repl.md', () => {
  for (const name of Object.keys(options))
    expect(pages['chat'] ?? '').toMatch(new RegExp(`--${name}(?![\\w-])`));
  const others = ['help', 'update']; // of every command; of npm test
  for (const page of [pages['chat'] ?? '', repl.replace(/--all/g, '')])
    for (const [, name] of page.matchAll(/(?<![\w-])--([a-z][a-z-]+)/g))
      expect([...Object.keys(options), ...others]).toContain(name);
});

it('tells of every event of stream-json in docs/repl.md', () => {
  const source = readFileSync('src/repl/turn/turn-event.ts', 'utf8');
  const ofTurns = [...source.matchAll(/readonly type: '(\w+)'/g)].map(([, name]) => name);
  // The end of a request is no event of its own.
  for (const name of [
    'text',
    'reasoning',
    'call_begun',
    'retry',
    ...ofTurns.filter((name) => name !== 'end'),
  ])
    expect(repl).toContain(`| \`${name}\``);
});

it('shows every key of chat.yaml in docs/configuration.md, and all of them hold', async () => {
  const folder = await temporaryFolder();
  const file = join(folder, 'chat.yaml');
  const shown = example(configuration, '### chat.yaml', 'yaml');
  writeFileSync(file, shown);
  const config = await readChatConfig(folder);
  expect(config).toMatchObject({ model: 'work', mode: 'ask', rules: { length: 3 } });
  // What the message about a wrong key lists is what there is.
  for (const [wrong, indent] of [
    ['zzzz: 1', 0],
    ['models: { a: { zzzz: 1 } }', 1],
    ['endpoints: { a: { zzzz: 1 } }', 1],
    ['profiles: { a: { zzzz: 1 } }', 1],
    ['compaction: { zzzz: 1 }', 1],
  ] as const) {
    writeFileSync(file, wrong);
    const message = await readChatConfig(folder).then(String, (error: Error) => error.message);
    const keys = / Known are: (.*)\.$/.exec(message)?.[1]?.split(', ') ?? [];
    expect(keys.length, message).toBeGreaterThan(indent);
    for (const key of keys) expect(shown).toMatch(new RegExp(`(^|[\\s{])(# )?${key}:`, 'm'));
  }
});

it('reads the mcp.json of docs/configuration.md', async () => {
  const file = join(await temporaryFolder(), 'mcp.json');
  writeFileSync(file, example(configuration, '### mcp.json', 'json'));
  const { servers, warnings } = await readMcpConfig(file, {
    env: { TRACKER_TOKEN: 'x', HOME: '/home/you' },
    needed: true,
  });
  expect(warnings).toEqual([]);
  expect(servers.map(({ name }) => name)).toEqual(['memory', 'tracker']);
});
