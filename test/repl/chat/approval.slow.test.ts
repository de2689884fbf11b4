import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { call, calls, say } from '../support/fake-model.ts';
import { chatPlace, openChat, type ChatPlace } from '../support/chat.ts';
import type { Pty } from '../support/pty.ts';
import { answerTo, doneBy, offered, results, serve } from '../support/served.ts';
import { enter } from './enter.ts';

const put = (...texts: string[]) => calls(texts.map((text) => ({ name: 'mcp__s__put', args: { text } })));

/** A turn that makes these calls; each question is answered as told. Returns what the model was told. */
async function turn(
  { model }: ChatPlace,
  chat: Pty,
  step: ReturnType<typeof put>,
  answers: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  model.script(step, say('That was it.'));
  const over = enter(chat, 'go');
  for (const [shown, line] of Object.entries(answers)) await answerTo(chat, shown, line);
  await over;
  return results(model.requests.at(-1)).slice(-step.pieces.length);
}

it('asks before a call, and each answer does what it says', async () => {
  const place = await chatPlace();
  serve(place, { s: {} });
  const chat = openChat(place, ['--no-toolcrib']);
  expect(await turn(place, chat, put('one'), { one: 'y' })).toEqual(['put: one']);
  expect(await turn(place, chat, put('two'), { two: 'n' })).toEqual(['The person rejected this call.']);
  // A command is no answer; other words are for the model.
  const said = {
    three: '/mode auto',
    'Only /show': 'ok',
    'in a few words what to do instead\n[y]es': 'use look, it is enough',
  };
  expect(await turn(place, chat, put('three'), said)).toEqual([
    'The person did not allow this call, and says: use look, it is enough',
  ]);
  // A rejection is for the calls that wait, too, in whatever words.
  expect(await turn(place, chat, put('a1', 'a2', 'a3'), { a1: 'Y', a2: 'no' })).toEqual([
    'put: a1',
    'The person rejected this call.',
    'Not run: the person rejected a call before it.',
  ]);
  expect(await turn(place, chat, put('b1', 'b2'), { b1: 'not this' })).toEqual([
    'The person did not allow this call, and says: not this',
    'Not run: the person rejected a call before it.',
  ]);
  // Settles those that wait, and all of this session.
  expect(await turn(place, chat, put('c1', 'c2', 'c3'), { c1: 'y', c2: 's' })).toHaveLength(3);
  expect(await turn(place, chat, put('d1', 'd2'))).toEqual(['put: d1', 'put: d2']);
  expect(doneBy(place, 's')).toEqual(
    ['one', 'a1', 'c1', 'c2', 'c3', 'd1', 'd2'].map((text) => `put ${text}`),
  );
  const kept = join(place.home, '.config', 'toolcrib', 'approvals.json');
  expect(existsSync(kept)).toBe(false);

  // A rule that cannot be kept is no reason to stop.
  writeFileSync(kept, 'damaged');
  expect(await turn(place, chat, call('mcp__s__wipe', { text: 'e1' }), { e1: 't' })).toEqual(['wipe: e1']);
  expect(chat.scrollback()).toMatch(/! It holds for this session only: .*approvals\.json is damaged/);
  expect(await turn(place, chat, call('mcp__s__wipe', { text: 'e2' }))).toEqual(['wipe: e2']);
});

it('shows the whole of a long call for /show, spells out what hides, and stops the turn for Ctrl-C', async () => {
  const place = await chatPlace();
  serve(place, { s: {} });
  const chat = openChat(place, ['--no-toolcrib']);
  await chat.sees('/help');
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at}`).join('\n');
  place.model.script(put(lines, 'later'));
  chat.type('go\r');
  await chat.sees(/28 more lines: \/show[^]*do instead$/);
  expect(chat.scrollback()).not.toContain('line 20');
  chat.type('/show\r');
  await chat.sees(/line 20\n[^]*do instead$/);
  chat.press('ctrl-c');
  await chat.sees(/(?:Stopped|Interrupted)\.\n[^]*>$/);
  expect(doneBy(place, 's')).toEqual([]);
  place.model.script(say('Well.'));
  await enter(chat, 'and now?');
  expect(results(place.model.requests.at(-1))).toEqual([
    expect.stringContaining('rejected this call and stopped'),
    expect.stringContaining('Not run'),
  ]);
  place.model.script(put('a\x1b[2Jb\u202Ec'), say('Well.'));
  chat.type('go\r');
  await chat.sees(String.raw`text: a\x1b[2Jb\u202ec`);
  await answerTo(chat, 'text: a', 'n');
  await chat.sees('Well.');
});

it('keeps t and m for later chats, for this very server and these definitions', async () => {
  const place = await chatPlace();
  serve(place, { s: {}, other: {} });
  const first = openChat(place, ['--no-toolcrib']);
  await turn(place, first, put('one'), { one: 't' });
  await turn(place, first, call('mcp__other__wipe', { text: 'two' }), { two: 'm' });
  expect(await turn(place, first, call('mcp__other__put', { text: 'three' }))).toEqual(['put: three']);
  await first.type('/exit\r');
  await first.exit;

  const second = openChat(place, ['--no-toolcrib']);
  expect(await turn(place, second, put('four'))).toEqual(['put: four']);
  await turn(place, second, call('mcp__s__wipe', { text: 'five' }), { five: 'n' });
  expect(await enter(second, '/tools why')).toMatch(
    /allow {2}s:put +rule: allow s:put \(project, made 20\d\d-\d\d-\d\d\)/,
  );
  // The server begins to describe it otherwise.
  writeFileSync(join(place.cwd, 's.log.description'), 'Puts it elsewhere.');
  await enter(second, '/tools refresh');
  await turn(place, second, put('six'), { six: 'n' });
  expect(second.scrollback()).toContain('the tool has changed since "s:put" was made');
  second.type('/exit\r');
  await second.exit;

  // Another program under the name that was allowed.
  serve(place, { s: {}, other: { args: ['--anew'] } });
  const third = openChat(place, ['--no-toolcrib']);
  await turn(place, third, call('mcp__other__put', { text: 'seven' }), { seven: 'n' });
  expect(third.scrollback()).toContain('the server has changed since "other:*" was made');
});

it('obeys rules of flags and of chat.yaml, deny before ask before allow', async () => {
  const rules = 'rules:\n  allow: ["s:put(*safe *)"]\n  ask: ["s:look"]\n  deny: ["s:put(*rm*)"]\n';
  const place = await chatPlace({ config: rules });
  serve(place, { s: {} });
  const chat = openChat(place, ['--no-toolcrib', '--deny', 's:wipe', '--allow', 's:meet']);
  expect(await turn(place, chat, put('safe one', 'safe rm', 'plain two'), { 'plain two': 'n' })).toEqual([
    'put: safe one',
    'Refused: rule: deny s:put(*rm*) (user)',
    'The person rejected this call.',
  ]);
  expect(offered(place.model.requests[0])).toContain('mcp__s__put');
  expect(offered(place.model.requests[0])).not.toContain('mcp__s__wipe');
  // What is denied is refused, told of or not; no answer outlives a rule to ask.
  expect(await turn(place, chat, call('mcp__s__wipe', { text: 'all' }))).toEqual([
    'Refused: rule: deny s:wipe (flag)',
  ]);
  place.model.script(call('mcp__s__look', { text: 'there' }), say('That was it.'));
  const over = enter(chat, 'go');
  await chat.sees(/\[y\]es \[n\]o, or say what to do instead$/);
  chat.type('s\r');
  await chat.sees(/instead s\ny, n, or say [^\n]*\n\[y\]es \[n\]o, or say what to do instead$/);
  chat.type('y\r');
  await over;
  const why = await enter(chat, '/tools why');
  expect(why).toMatch(/ask {4}s:look +rule: ask s:look \(user\)/);
  expect(why).toMatch(/deny {3}s:wipe +rule: deny s:wipe \(flag\)/);
  expect(why).toMatch(/allow {2}s:meet +rule: allow s:meet \(flag\)/);
  expect(why).toMatch(/ask {4}s:put +may change something/);
});

it('believes nothing of a server that is not trusted, and little in each mode', async () => {
  const place = await chatPlace();
  serve(place, { s: { trust: false } });
  const chat = openChat(place);
  expect(await turn(place, chat, call('mcp__s__look', { text: 'one' }), { one: 'n' })).toHaveLength(1);
  expect(chat.scrollback()).toContain('? s: look  its server is not trusted');
  chat.press('shift-tab');
  await chat.sees(/auto >$/);
  const effects = async () => (await enter(chat, '/tools why')).replaceAll(/ {2,}/g, ' ');
  expect(await effects()).toMatch(/ask s:look its server[^]*plan toolcrib:write_file as its server plans/);
  chat.press('shift-tab');
  await chat.sees(/plan >$/);
  expect(await effects()).toMatch(
    /ask s:look its server[^]*deny s:put plan mode[^]*deny toolcrib:write_file plan mode/,
  );
  chat.press('shift-tab');
  await chat.until(() => chat.screen().endsWith('\n>'));
  expect(await effects()).toMatch(/plan toolcrib:write_file as its server plans/);
  expect(await enter(chat, '/mode yolo')).toContain('yolo is a flag of the command line only.');
  expect(await enter(chat, '/mode')).toContain('mode ask:');
});

it('asks nothing with --yolo, but what a rule asks; a resumed session is not in it', async () => {
  const place = await chatPlace();
  serve(place, { s: { trust: false } });
  const chat = openChat(place, ['--no-toolcrib', '--yolo', '--ask', 's:wipe']);
  expect(await turn(place, chat, put('one'))).toEqual(['put: one']);
  await turn(place, chat, call('mcp__s__wipe', { text: 'two' }), { two: 'n' });
  chat.type('/exit\r');
  await chat.exit;
  const again = openChat(place, ['--no-toolcrib', '--continue']);
  await again.sees(/mode ask/);
  await turn(place, again, put('three'), { three: 'n' });
  expect(doneBy(place, 's')).toEqual(['put one']);
});
