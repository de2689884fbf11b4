import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { options } from '../../src/cli/chat.ts';
import { chatHelp } from '../../src/cli/chat-help.ts';
import { commandGroups } from '../../src/repl/commands/index.ts';
import { readChatConfig } from '../../src/repl/config/config.ts';
import { readMcpConfig } from '../../src/repl/config/mcp-config.ts';
import { presets } from '../../src/repl/models/presets.ts';
import { temporaryFolder } from '../filesystem/folder.ts';
import { chatPlace, openChat, runChat } from './support/chat.ts';
import { call, calls, say } from './support/fake-model.ts';

const read = (file: string) => readFileSync(file, 'utf8');
const [repl, configuration] = [read('docs/repl.md'), read('docs/configuration.md')];

/** The first example of a language after a text. */
const example = (page: string, after: string, language: string): string => {
  const [, found] =
    new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page.slice(page.indexOf(after))) ?? [];
  if (!page.includes(after) || found === undefined) throw new Error(`no ${language} after "${after}"`);
  return found;
};

it('docs/repl.md lists every command and endpoint', async () => {
  const code = (text: string) => (text === '' ? '' : `\`${text}\``);
  const ofCommands = commandGroups.flatMap(({ title, commands }) => [
    [`**${title}**`, ''],
    ...commands.map(({ name, aliases = [], usage = '', help }) => [
      [code(`/${name} ${usage}`.trim()), ...aliases.map((alias) => code(`/${alias}`))].join(', '),
      help,
    ]),
  ]);
  const ofEndpoints = presets({}).map(({ name, wire, baseUrl, keyVariables, defaultModel }) => [
    code(name),
    wire,
    code(baseUrl),
    keyVariables.map(code).join(', '),
    code(defaultModel ?? ''),
  ]);
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

it('chat --help tells of every option, and neither it nor docs/repl.md of others', () => {
  for (const name of Object.keys(options)) expect(chatHelp).toMatch(new RegExp(`--${name}(?![\\w-])`));
  const others = ['help', 'update']; // of every command; of npm test
  for (const page of [chatHelp, repl.replace(/--all/g, '')])
    for (const [, name] of page.matchAll(/(?<![\w-])--([a-z][a-z-]+)/g))
      expect([...Object.keys(options), ...others]).toContain(name);
});

it('docs/repl.md tells of every event of stream-json', () => {
  const events = read('src/repl/turn/turn-event.ts').matchAll(/readonly type: '(\w+)'/g);
  for (const [, name] of events) expect(repl).toContain(`| \`${name}\``);
});

it('docs/configuration.md shows every key of chat.yaml, and all of them hold', async () => {
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
    source: 'user',
    env: { TRACKER_TOKEN: 'x', HOME: '/home/you' },
    needed: true,
  });
  expect(warnings).toEqual([]);
  expect(Object.keys(servers)).toEqual(['memory', 'tracker']);
});

it('runs the hook of docs/repl.md: it refuses one change and comments on the other', async () => {
  const place = await chatPlace();
  const guard = join(place.home, 'guard.mjs');
  writeFileSync(guard, example(repl, 'and in `guard.mjs`', 'js'));
  const hooks = example(repl, '## Hooks', 'yaml');
  place.configure(hooks.replace('/home/you/.config/toolcrib/guard.mjs', guard));
  const write = (path: string) => ({ name: 'mcp__toolcrib__write_file', args: { path, content: 'x\n' } });
  place.model.script(calls([write('generated/a.txt'), write('src/a.txt')]), say('done'));
  const { code } = await runChat(place, ['-p', 'write both', '--allow', 'toolcrib:write_file']);
  expect(code).toBe(0);
  expect(place.model.requests[1]?.text).toContain(
    'Refused by a hook: generated/ is made by npm run generate.',
  );
  expect(place.model.requests[1]?.text).toContain('[hook] Run the tests when you are done.');
});

it('uses the profile of docs/repl.md, and asks with room for the answer', async () => {
  const place = await chatPlace();
  place.configure(`profiles:\n  review:\n${example(repl, '## Profiles', 'yaml').replaceAll(/^/gm, '    ')}`);
  const chat = openChat(place, ['--profile', 'review', '--var', 'base=develop']);
  await chat.sees('plan >');
  place.model.script(say('Nothing to say.'));
  chat.type('review\r');
  await chat.sees('Nothing to say.');
  expect(place.model.requests[0]?.text).toContain('since develop. Be brief.');
  expect(place.model.requests[0]?.text).not.toContain('mcp__toolcrib__git_push');
  chat.type('/mode ask\r/profile none\r');
  await chat.sees('mode ask:');
  place.model.script(call('mcp__toolcrib__write_file', { path: 'a.txt', content: 'x\n' }), say('Well.'));
  chat.type('write\r');
  await chat.sees('or say what to do instead');
  chat.type('n\r');
  await chat.sees('Well.');
  expect(chat.scrollback()).toContain('or say what to do instead n');
});
