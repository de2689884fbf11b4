import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { chatPlace, leave, openChat, type ChatPlace } from '../support/chat.ts';
import { answer, call, say, think } from '../support/fake-model.ts';
import { enter } from './enter.ts';

// Several starts of the program each, on a machine that may be busy.

const fixture = fileURLToPath(new URL('../fixtures/mcp-server.mjs', import.meta.url));

/** The fixture server as `name`, in a file in the shape of mcp.json. */
function writeServer(file: string, name: string, ...args: string[]): void {
  const server = { command: process.execPath, args: [fixture, ...args], env: { QUIET: 'yes' } };
  writeFileSync(file, JSON.stringify({ mcpServers: { [name]: server } }));
}

/** A place with the fixture server in the person's own mcp.json, as `fix`. */
async function placeWithServer(options?: Parameters<typeof chatPlace>[0]): Promise<ChatPlace> {
  const place = await chatPlace(options);
  writeServer(join(place.home, '.config', 'toolcrib', 'mcp.json'), 'fix');
  let answers = 0;
  place.model.otherwise(() => say(`answer ${++answers}`));
  return place;
}

const words = (request: ChatPlace['model']['requests'][number] | undefined): string =>
  JSON.stringify(request?.body.messages);

it('answers every command, and says the way out when it is used wrongly', async () => {
  const place = await placeWithServer();
  mkdirSync(join(place.cwd, 'sub'));
  const own = join(place.home, '.config', 'toolcrib', 'commands');
  mkdirSync(own);
  writeFileSync(join(own, 'greet.md'), 'Say hello to $ARGUMENTS.\n');
  const chat = openChat(place);
  const table: [line: string, printed: RegExp][] = [
    [
      '/help',
      /^Talk\n {2}\/retry .*[^]*\nModel and tools\n {2}\/model \[NAME.*[^]*\nSessions\n[^]*\nLook\n[^]*\nYours.*\n\/greet[^]*Alt\+Enter/,
    ],
    ['/mdel', /There is no command \/mdel; did you mean \/model\?/],
    ['/stat', /did you mean \/status\?/],
    ['/', /\/help lists them/],
    ['/tools', /^fix: 14 tools\n {2}\w[^]*^toolcrib: \d+ tools\n[^]*^ {2}read_file +Shows a file/m],
    ['/tools why', /allow +chat:ask_user .*[^]*plan +toolcrib:read_file .*[^]*plan +toolcrib:write_file/],
    ['/tools stats', /\d+ tools are offered in mode ask, \d+ of them only read: about \d+ tokens/],
    ['/tools refresh', /^\d\d+ tools$/],
    ['/tools echo', /^mcp__fix__echo {2}\(server fix\)\nSays it again\.[^]*"inputSchema"/],
    ['/tools nope', /There is no tool nope\. \/tools lists them/],
    ['/mcp', /toolcrib +ready +\d+ tools +MCP 20[^]*fix +ready +14 tools/],
    ['/mcp restart fix', /fix +ready +14 tools/],
    ['/mcp restart nope', /There is no MCP server "nope"/],
    ['/mcp nope', /restart NAME is expected/],
    ['/mode', /^mode ask: /],
    ['/mode yolo', /yolo is a flag/],
    ['/mode fast', /plan or ask or auto is expected/],
    ['/mode auto', /^mode auto: /],
    ['/mode ask', /^mode ask: /],
    ['/compact', /Nothing was shortened/],
    [
      '/status',
      /model +fake\/fake-model\nmode +ask\nsession +without a name[^]*context +~\d+ of 100000[^]*roots +\//,
    ],
    ['/name', /It has no name yet/],
    ['/name First one', /^First one$/],
    ['/resume nope', /There is no session "nope" in this project; \/resume, or/],
    ['/resume', /There are no sessions of this project yet/],
    ['/search', /Say what to look for/],
    ['/search nothing such', /^Nothing was found/],
    ['/search --all nothing', /^Nothing was found/],
    ['/tree', /^Nothing was said yet/],
    ['/branch', /The id of an entry is expected; \/tree shows them/],
    ['/branch nope', /There is no entry "nope"/],
    ['/retry', /Nothing was said yet/],
    ['/edit last', /Nothing was said yet/],
    ['/last', /No tool was called yet/],
    ['/thoughts', /No thoughts were told/],
    ['/thoughts loudly', /on or off or think or do not think is expected/],
    ['/todo', /Nothing is to be done/],
    ['/roots', /^\/.*project$/],
    ['/roots add nope', /nope is no folder/],
    ['/roots remove sub', /sub is none of them/],
    ['/roots remove .', /it is the only one; add another first/],
    ['/roots sub', /add DIR or remove DIR is expected/],
    ['/system', /The usual one/],
    ['/system preview', /You help a person[^]*The working folder is/],
    ['/system nope', /show or edit or preview is expected/],
    ['/profile', /There are no profiles;/],
    ['/profile nope', /There is no profile "nope"/],
    ['/agent', /TASK is expected/],
    ['/agent count the files', /^answer 1$/],
    ['/tools why write_todos', /^allow +chat:write_todos +\S[^\n]*$/],
    ['/tools why nope', /There is no tool nope/],
    ['/greet Ada', /^answer 2\n/],
    ['/gret', /did you mean \/greet/],
    ['/stop', /^$/],
    ['/fix:nope', /There is no prompt \/fix:nope/],
    ['/model', /a window of 100000 tokens\n\* test +fake\/fake-model\n/],
    ['/model nope', /"nope" is no known model/],
    ['/model nope: hello', /"nope" is no known model/],
    ['/export', /^# First one/],
    ['/export nowhere/out.md', /cannot be written \(ENOENT\)/],
    ['/new', /^a new session$/],
    ['/clear', /^the conversation begins anew$/],
  ];
  for (const [line, printed] of table) expect(await enter(chat, line), line).toMatch(printed);
  expect(words(place.model.requests[0])).toContain('count the files');
  // A file of the person's is a command.
  expect(words(place.model.requests[1])).toContain('Say hello to Ada.');
  await leave(chat);
  const folder = join(place.home, '.state', 'toolcrib', 'chat', 'history');
  const [history = ''] = readdirSync(folder);
  expect(readFileSync(join(folder, history), 'utf8')).toContain('/name First one');
});

it('uses prompts and resources of servers, and completes commands, their words, paths and resources', async () => {
  const place = await placeWithServer();
  writeFileSync(join(place.cwd, 'my first.txt'), 'spaces in the name\n');
  const chat = openChat(place);
  expect(await enter(chat, '/fix:greet ada')).toContain('answer 1');
  expect(words(place.model.requests[0])).toContain('Greet ada');
  expect(await enter(chat, '/fix:greet name="ada l"')).toContain('answer 2');
  expect(words(place.model.requests[1])).toContain('Greet ada l');
  expect(await enter(chat, '/fix:greet nme=ada')).toContain('There is no argument nme; there are: name');
  chat.type('/fix:greet\r');
  await chat.sees(/\nfix asks: name$/);
  chat.type('bob\r');
  await chat.sees('answer 3');
  expect(words(place.model.requests[2])).toContain('Greet bob');
  expect(await enter(chat, 'see @fix:note:///notes and @fix:note:///gone')).toContain('fix:note:///notes');
  expect(words(place.model.requests[3])).toContain('Content of note:///notes');

  const completes = async (typed: string, to: string) => {
    chat.type(`${typed}\t`);
    await chat.until(() => chat.screen().endsWith(`> ${to}`));
    chat.press('ctrl-u');
    await chat.until(() => chat.screen().endsWith('\n>'));
  };
  await completes('/sta', '/status');
  await completes('/fix:g', '/fix:greet');
  await completes('/mode pl', '/mode plan');
  await completes('/tools echo', '/tools echo');
  await completes('/mcp restart f', '/mcp restart fix');
  await completes('/model te', '/model test');
  await completes('read @my', 'read @"my first.txt"');
  await completes('read @"my f', 'read @"my first.txt"');
  await completes('see @fi', 'see @fix:');
  await completes('see @fix:note:///n', 'see @fix:note:///notes');
  chat.type('/t\t\t');
  await chat.sees(/\/thoughts +\/todo +\/tools +\/tree/);
});

it('changes the model for good, or for one message', async () => {
  const place = await chatPlace();
  place.model.otherwise(() => say('Well.'));
  const chat = openChat(place, ['--no-toolcrib']);
  const models = () => place.model.requests.map(({ body }) => body.model);
  await enter(chat, '/model fake/small-model: hello');
  await enter(chat, 'hello again');
  expect(await enter(chat, '/model fake/small-model')).toBe('model fake/small-model');
  await enter(chat, 'and again');
  expect(models()).toEqual(['small-model', 'fake-model', 'small-model']);
  expect(await enter(chat, '/model')).toMatch(/^fake\/small-model, a window of \d+ tokens\n/);
  await enter(chat, '/retry test');
  await enter(chat, 'once more');
  expect(models().slice(3)).toEqual(['fake-model', 'small-model']);
});

it('shows the last result and thoughts, and tells the model of sub-agents with the next message', async () => {
  const place = await placeWithServer();
  writeFileSync(join(place.cwd, 'a.txt'), 'line one\nline two\nline three\n');
  const chat = openChat(place);
  place.model.script(
    call('mcp__toolcrib__read_file', { path: 'a.txt' }),
    answer(think('I ponder.'), say('Done.')),
  );
  expect(await enter(chat, 'read it')).toMatch(/read_file.*\n.*3 lines\nthought.*: I ponder\.\nDone\./);
  expect(await enter(chat, '/last')).toContain('line three');
  expect(await enter(chat, '/thoughts')).toBe('I ponder.');
  expect(await enter(chat, '/thoughts on')).toBe('thoughts: on');
  place.model.script(answer(think('Loudly now.'), say('Done again.')));
  expect(await enter(chat, 'think')).toContain('Loudly now.');
  expect(await enter(chat, '/last')).toContain('line three');
  place.model.script(say('There are 7.'));
  expect(await enter(chat, '/agent count the birds')).toContain('There are 7.');
  place.model.script(
    call('write_todos', { todos: [{ text: 'feed the cat', status: 'in_progress' }] }),
    say('Noted.'),
  );
  expect(await enter(chat, 'go on')).toContain('feed the cat');
  expect(words(place.model.requests.at(-2))).toMatch(/count the birds.*There are 7/);
  expect(await enter(chat, '/todo')).toContain('feed the cat');
});
