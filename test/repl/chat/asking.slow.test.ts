import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { answer, call, calls, gate, say, wait } from '../support/fake-model.ts';
import { chatPlace, openChat, runChat } from '../support/chat.ts';
import { answerTo, doneBy, offered, results, serve } from '../support/served.ts';
import { until } from '../../support/until.ts';
import { isRunning } from '../../support/is-running.ts';
import { enter } from './enter.ts';

it('puts questions of the model to the person', async () => {
  const place = await chatPlace();
  const chat = openChat(place, ['--no-toolcrib']);
  const colour = (question: string) => call('ask_user', { question, choices: ['red', 'green'] });
  place.model.script(
    colour('Which colour?'),
    colour('And which border?'),
    call('ask_user', { question: 'How thick?' }),
    call('ask_user', { question: 'How long?' }),
    say('Good.'),
  );
  const over = enter(chat, 'paint it');
  await answerTo(chat, 'Which colour?\n  1 red\n  2 green\n', '2');
  await answerTo(chat, 'And which border?', 'none at all');
  await answerTo(chat, 'How thick?', '2');
  await answerTo(chat, 'How long?', '');
  await over;
  expect(results(place.model.requests.at(-1))).toEqual([
    'green',
    'none at all',
    '2',
    'The person did not answer.',
  ]);
});

it.each(['2025-11-25', '2026-07-28'])('puts the form of a server to the person, in %s', async (protocol) => {
  const place = await chatPlace();
  serve(place, { fix: { program: 'mcp-server.mjs', args: [], protocol } });
  const chat = openChat(place, ['--no-toolcrib', '--allow', 'fix:ask']);
  const ask = call('mcp__fix__ask');
  place.model.script(ask, say('One.'));
  let over = enter(chat, 'one');
  await answerTo(chat, 'fix asks: Which colour?', 'blue');
  await answerTo(chat, 'Answer one of', '2');
  await answerTo(chat, 'often', 'many');
  await answerTo(chat, 'must be ', '3');
  await over;
  expect(results(place.model.requests.at(-1))).toEqual(['green 3']);
  place.model.script(ask, say('Two.'));
  over = enter(chat, 'two');
  await chat.sees(/two\n[^]*colour \(Esc: none of it\)$/);
  chat.press('esc');
  await over;
  expect(results(place.model.requests.at(-1))).toEqual(['green 3', 'no answer']);
});

it('takes a no for a form without fields, and asks nothing where nobody is', async () => {
  const place = await chatPlace();
  serve(place, { s: {} });
  const chat = openChat(place, ['--no-toolcrib', '--allow', 's:sure']);
  place.model.script(call('mcp__s__sure'), call('mcp__s__sure'), say('Good.'));
  const over = enter(chat, 'go');
  await chat.sees(/s asks: Really all of it\?\n. asks: \[y\]es \[n\]o$/);
  chat.type('perhaps\r');
  await chat.sees(/\ny or n\ns asks: \[y\]es \[n\]o$/);
  chat.type('n\r');
  await chat.sees(/decline\n[^]*s asks: Really all of it\?\n. asks: \[y\]es \[n\]o$/);
  chat.type('y\r');
  await over;
  expect(results(place.model.requests.at(-1))).toEqual(['sure: decline', 'sure: accept']);

  place.model.script(call('mcp__s__sure'), say('ok'));
  await runChat(place, ['--no-toolcrib', '-p', 'go']);
  expect(results(place.model.requests.at(-1))).toEqual([expect.stringContaining('needs approval')]);
  place.model.script(call('mcp__s__sure'), say('ok'));
  await runChat(place, ['--no-toolcrib', '-p', 'go', '--allow', 's:sure']);
  expect(results(place.model.requests.at(-1))).toEqual(['sure: decline']);
});

it('runs calls that read side by side and tells their results in the order of the calls', async () => {
  const place = await chatPlace();
  serve(place, { s: {} });
  const chat = openChat(place, ['--no-toolcrib']);
  const meet = (name: string) => ({ name: 'mcp__s__meet', args: { name, of: 3 } });
  place.model.script(calls([meet('a'), meet('b'), meet('c')]), say('All met.'));
  // They answer only when all three are there, the last one first.
  const shown = await enter(chat, 'go');
  expect(shown.match(/└ s: meet \S+ \S+ met \w/g)?.map((line) => line.at(-1))).toEqual(['c', 'b', 'a']);
  expect(results(place.model.requests.at(-1))).toEqual(['met a', 'met b', 'met c']);
});

it('asks when the same call comes again and again, and when a turn goes on for long', async () => {
  const place = await chatPlace({ config: 'maxTurns: 5\n' });
  serve(place, { s: {} });
  const look = (text = 'same') => call('mcp__s__look', { text });
  const chat = openChat(place, ['--no-toolcrib']);
  place.model.script(look(), look(), look(), look(), look('other'), say('Enough.'));
  const over = enter(chat, 'go');
  await answerTo(chat, 'when the same call is made for the third time', 'n');
  await answerTo(chat, 'made for the 4th time', 'y');
  await answerTo(chat, 'answered 5 times in this turn. Go on?', '/export talk.md');
  await answerTo(chat, 'y or n\nThe model has answered 5 times', 'y');
  await over;
  const same = 'look: same';
  const no = 'The person rejected this call.';
  expect(results(place.model.requests.at(-1))).toEqual([same, same, no, same, 'look: other']);
  // Ctrl-C ends the turn, at either question.
  place.model.script(look(), look(), look());
  const ended = enter(chat, 'go');
  await answerTo(chat, 'made for the third time', undefined);
  expect(await ended).toMatch(/\n(?:Stopped|Interrupted)\.\n/);
  place.model.script(...['1', '2', '3', '4', '5'].map(look));
  const limited = enter(chat, 'go');
  await answerTo(chat, 'Go on?', undefined);
  expect(await limited).toMatch(/\n(?:Stopped|Interrupted)\.\n/);

  place.model.script(...['1', '2', '3', '4', '5'].map(look));
  expect(await runChat(place, ['--no-toolcrib', '-p', 'go'])).toMatchObject({ code: 3 });
  place.model.script(look(), look(), look(), answer(look(), look('x')));
  const { code, stderr } = await runChat(place, ['--no-toolcrib', '-p', 'go']);
  expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringContaining('again and again') });
});

it('tells hooks of calls and turns; they refuse and annotate', async () => {
  const place = await chatPlace();
  const hook = join(place.cwd, 'hook.mjs');
  writeFileSync(
    hook,
    `import { appendFileSync, readFileSync } from 'node:fs';
const { event, tool = '', args, result } = JSON.parse(readFileSync(0, 'utf8'));
appendFileSync('hooks.log', [event, tool, result?.text ?? ''].join(' ').trim() + '\\n');
if (event === 'before' && args.text === 'bad') { console.error('not that'); process.exit(2); }
if (event === 'after') console.log('mind the gap');
`,
  );
  const command = JSON.stringify([process.execPath, hook]);
  place.configure(
    `hooks:\n  before: [{ tools: "s:put", command: ${command} }]\n  after: [{ tools: put, command: ${command} }]\n  end: [{ command: ${command} }]\n`,
  );
  serve(place, { s: {} });
  const chat = openChat(place, ['--no-toolcrib', '--allow', 's:*']);
  const put = (text: string) => ({ name: 'mcp__s__put', args: { text } });
  place.model.script(
    calls([put('bad'), put('good'), { name: 'mcp__s__look', args: { text: 'on' } }]),
    say('Good.'),
  );
  await enter(chat, 'go');
  expect(results(place.model.requests.at(-1))).toEqual([
    'Refused by a hook: not that',
    'put: good\n[hook] mind the gap',
    'look: on',
  ]);
  expect(doneBy(place, 'hooks')).toEqual(['before put', 'before put', 'after put put: good', 'end']);

  place.model.script(wait(new Promise(() => undefined)));
  chat.type('go on\r');
  await chat.until(() => place.model.requests.length === 3);
  chat.press('ctrl-c');
  await chat.sees(/Interrupted\.[^]*>$/);
  expect(chat.scrollback()).not.toContain('The hook');
});

it.each([
  ['fails', ['sh', '-c', 'exit 1'], 'exit code 1'],
  ['takes too long', ['sh', '-c', 'sleep 1000 & echo $! > pid; wait'], 'took too long'],
  ['is not there', ['no-such-hook'], 'no-such-hook'],
])('refuses a call when a guard %s, and leaves nothing of it behind', async (_, command, why) => {
  const hooks = JSON.stringify({ before: [{ tools: 'mcp__s__*', command, timeoutMs: 500 }] });
  const place = await chatPlace({ config: `hooks: ${hooks}\n` });
  serve(place, { s: {} });
  place.model.script(call('mcp__s__put', { text: 'one' }), say('Well.'));
  await runChat(place, ['--no-toolcrib', '-p', 'go', '--allow', 's:*']);
  expect(results(place.model.requests[1])).toEqual([expect.stringContaining(why)]);
  expect(doneBy(place, 's')).toEqual([]);
  const pid = join(place.cwd, 'pid');
  if (existsSync(pid)) await until(() => !isRunning(Number(readFileSync(pid, 'utf8'))));
});

it('ends a hook with the turn, makes no call then, and waits for nothing a hook leaves running', async () => {
  const before = [{ tools: '*:put', command: ['sh', '-c', 'echo $$ > pid; exec sleep 1000'] }];
  const after = [{ tools: '*:look', command: ['sh', '-c', 'sleep 1000 & echo $! > left; echo noted'] }];
  const place = await chatPlace({ config: `hooks: ${JSON.stringify({ before, after })}\n` });
  serve(place, { s: {} });
  const pidIn = (name: string) => {
    const file = join(place.cwd, name);
    return existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0;
  };
  onTestFinished(() => {
    if (pidIn('left')) process.kill(pidIn('left'));
  });
  const chat = openChat(place, ['--no-toolcrib', '--allow', 's:*']);
  place.model.script(call('mcp__s__look', { text: 'on' }), say('Seen.'));
  await enter(chat, 'look');
  expect(results(place.model.requests[1])).toEqual(['look: on\n[hook] noted']);
  place.model.script(call('mcp__s__put', { text: 'one' }));
  chat.type('put\r');
  await chat.until(() => pidIn('pid') > 0);
  chat.press('ctrl-c');
  await chat.sees(/(?:Interrupted|Stopped)\.[^]*\n>$/);
  await until(() => !isRunning(pidIn('pid')));
  expect(doneBy(place, 's')).toEqual([]);
});

it('does a task in a context of its own, of which only the answer comes back', async () => {
  const place = await chatPlace();
  serve(place, { s: {} });
  const chat = openChat(place, ['--no-toolcrib']);
  place.model.script(
    call('run_agent', { task: 'find the thing' }),
    answer(say('Let me see.'), call('mcp__s__put', { text: 'inner' })),
    say('It is in a.ts.'),
    say('Found.'),
  );
  const over = enter(chat, 'where is the secret word?');
  await answerTo(chat, 'text: inner', 'y');
  await over;
  const [, inner, , last] = place.model.requests;
  expect(inner?.text).toContain('find the thing');
  expect(inner?.text).not.toContain('secret word');
  expect(inner?.text).not.toContain('"run_agent"');
  expect(results(last)).toEqual(['It is in a.ts.']);
  expect(last?.text).not.toContain('Let me see.');

  // What the person may do meanwhile holds for it, too.
  const shut = gate();
  place.model.script(
    call('run_agent', { task: 'put more' }),
    answer(wait(shut.opened), call('mcp__s__put', { text: 'more' })),
    say('Not done.'),
    say('A pity.'),
  );
  const asked = place.model.requests.length;
  const later = enter(chat, 'more');
  await chat.until(() => place.model.requests.length === asked + 2);
  chat.press('shift-tab', 'shift-tab');
  await chat.sees(/\nmode plan\n?$/);
  shut.open();
  await later;
  expect(results(place.model.requests.at(-2))).toEqual([expect.stringContaining('Refused: plan mode')]);
  expect(doneBy(place, 's')).toEqual(['put inner']);

  // Typed before the servers are there.
  place.model.script(say('It is there.'));
  const early = openChat(place, ['--no-toolcrib', '/agent', 'look']);
  await early.sees('It is there.');
  expect(offered(place.model.requests.at(-1))).toContain('mcp__s__look');

  const schema = join(place.cwd, 'schema.json');
  writeFileSync(schema, '{"type":"object","properties":{"unusual":{"type":"string"}}}');
  place.model.script(call('run_agent', { task: 'look' }), say('inner'), say('{"unusual":"x"}'));
  expect(await runChat(place, ['--no-toolcrib', '-p', 'go', '--schema', schema])).toMatchObject({ code: 0 });
  expect(place.model.requests.at(-2)?.text).not.toContain('unusual');

  place.model.script(say('It was **here**.'));
  expect(await enter(chat, '/agent look for it')).toContain('It was here.');
  expect(place.model.requests.at(-1)?.text).not.toContain('secret word');
  place.model.script(say('Good.'));
  await enter(chat, 'and?');
  expect(place.model.requests.at(-1)?.text).toContain('It was **here**.');
});
