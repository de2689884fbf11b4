import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { program } from '../../support/server.ts';
import { chatPlace, runChat } from '../support/chat.ts';
import { answer, call, misbehave, say, think } from '../support/fake-model.ts';
import { sessionFiles } from '../support/interrupted.ts';

// Each runs the program several times: quick, unless much else runs.

type Line = Record<string, unknown> & { type: string };

/** Complete lines only. */
const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);

/** Quick to start: no programs are looked for. */
const files = ['--toolsets', 'files'];
const bare = '--no-toolcrib';

const write = { name: 'mcp__toolcrib__write_file', args: { path: 'new.txt', content: 'x' } };
const writing = call(write.name, write.args);

it('writes one JSON object an event, and the result last', async () => {
  const place = await chatPlace();
  writeFileSync(join(place.cwd, 'a.txt'), 'inside a\n');
  const reading = call('mcp__toolcrib__read_file', { path: 'a.txt' }, { usage: { input: 20, output: 4 } });
  place.model.script(answer(think('Hm.'), say('I look.'), reading), say('It is\nfine.'));
  const { code, stdout, stderr } = await runChat(place, ['-p', 'look', '--output', 'stream-json', ...files]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const lines = linesOf(stdout);
  const types = lines.map(({ type }) => type).filter((type, at, all) => type !== all[at - 1]);
  expect(types).toEqual([
    'reasoning',
    'text',
    'call_begun',
    'answer',
    'call_started',
    'call_ended',
    'text',
    'answer',
    'ended',
    'result',
  ]);
  expect(lines.find(({ type }) => type === 'call_started')).toMatchObject({
    server: 'toolcrib',
    tool: 'read_file',
  });
  expect(lines.find(({ type }) => type === 'call_ended')).toMatchObject({
    isError: false,
    text: expect.stringContaining('inside a'),
  });
  const result = lines.at(-1);
  expect(result).toMatchObject({
    reason: 'done',
    text: 'It is\nfine.',
    turns: 2,
    calls: 1,
    model: 'fake/fake-model',
    usage: { input: 30, output: 9, estimated: false },
  });
  expect(result).not.toHaveProperty('session');
  expect(sessionFiles(place)).toEqual([]);
});

it('writes the answer alone to a pipe: nothing that came before a call, or was taken back', async () => {
  const place = await chatPlace();
  place.model.script(
    answer(say('Let me look.'), call('mcp__toolcrib__read_file', { path: 'none' })),
    say('Half of an answer, half of an answer', { misbehave: 'cut_socket' }),
    say('There is none.'),
  );
  const { code, stdout, stderr } = await runChat(place, ['-p', 'look', ...files]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'There is none.\n' });
  expect(stderr).toMatch(/^toolcrib: again in 1 s: .+\n$/);
});

it('writes one object with --output json, also when it fails', async () => {
  const place = await chatPlace();
  place.model.script(say('four'), misbehave('key_refused'));
  const well = await runChat(place, ['-p', 'two and two?', '--output', 'json', bare]);
  expect(JSON.parse(well.stdout)).toMatchObject({ type: 'result', reason: 'done', text: 'four' });
  const badly = await runChat(place, ['-p', 'again', '--output', 'json', bare]);
  expect(badly.code).toBe(1);
  expect(JSON.parse(badly.stdout)).toMatchObject({
    type: 'result',
    reason: 'failed',
    error: expect.stringContaining('API key'),
  });
  expect(badly.stderr).toMatch(/^toolcrib: MODEL_KEY_REFUSED: .+\n$/);
});

it('puts what was piped in before the prompt, and an @ in it names nothing', async () => {
  const place = await chatPlace();
  writeFileSync(join(place.cwd, 'secret.txt'), 'hidden words\n');
  writeFileSync(join(place.cwd, 'plan.txt'), 'open words\n');
  place.model.otherwise(() => say('ok'));
  await runChat(place, ['-p', 'sum up, see @plan.txt', bare], 'the log says @secret.txt\n');
  const [both] = place.model.requests;
  expect(both?.text).toContain('<stdin>\\nthe log says @secret.txt\\n</stdin>\\n\\nsum up, see @plan.txt');
  expect(both?.text).toContain('open words');
  expect(both?.text).not.toContain('hidden words');
  await runChat(place, ['-p', bare], 'read @secret.txt\n');
  expect(place.model.requests[1]?.text).toContain('read @secret.txt');
  expect(place.model.requests[1]?.text).not.toContain('hidden words');
});

it('asks the prompts of a file one after the other, each with those before', async () => {
  const place = await chatPlace();
  writeFileSync(join(place.cwd, 'prompts'), '# a comment\nfirst\n\nsecond \\\nline\nthird\\\n\\\nblock\n');
  place.model.script(say('one'), say('two'), say('three'), say('four'));
  const { code, stdout } = await runChat(place, ['-f', 'prompts', 'and fourth', bare]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'one\ntwo\nthree\nfour\n' });
  const last = place.model.requests[3]?.text ?? '';
  for (const said of ['first', 'one', 'second \\nline', 'two', 'third\\n\\nblock', 'three', 'and fourth'])
    expect(last).toContain(said);
  // What fails ends it.
  place.model.script(misbehave('not_found'));
  expect((await runChat(place, ['-f', 'prompts', bare])).code).toBe(1);
  expect(place.model.requests).toHaveLength(5);
});

it('gives data that fits a schema, and tells the model once what does not', async () => {
  const place = await chatPlace();
  const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
  writeFileSync(join(place.cwd, 'schema.json'), JSON.stringify(schema));
  place.model.script(say('{"n": "@four"}'), say(' {"n": 4}\n'));
  const args = ['-p', 'how many?', '--schema', 'schema.json', bare];
  const mended = await runChat(place, [...args, '--output', 'json']);
  expect(mended.code).toBe(0);
  expect(JSON.parse(mended.stdout)).toMatchObject({ data: { n: 4 }, reason: 'done', turns: 2 });
  expect(place.model.requests[0]?.text).toContain('integer');
  expect(place.model.requests[1]?.text).toMatch(/n must be integer/);

  place.model.script(say('four'), say('{}'));
  const { code, stdout, stderr } = await runChat(place, args);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/does not fit the schema: .*required property 'n'/);

  place.model.script(say('{"n": 5}'));
  expect((await runChat(place, args)).stdout).toBe('{"n": 5}\n');
});

it('ends with 3 at the limit of answers, and with 1 when an answer is cut or withheld', async () => {
  const place = await chatPlace();
  place.model.script(writing, say('never asked for'));
  const limited = await runChat(place, ['-p', 'go', '--max-turns', '1', '--allow', 'write_file', ...files]);
  expect(limited).toMatchObject({ code: 3, stdout: '', stderr: expect.stringContaining('--max-turns') });
  expect(existsSync(join(place.cwd, 'new.txt'))).toBe(true);
  expect(place.model.left()).toBe(1);

  const other = await chatPlace();
  other.model.script(misbehave('max_tokens_in_call', { usage: { input: 1, output: 1 } }), say('I stop.'));
  expect(await runChat(other, ['-p', 'go', bare])).toMatchObject({ code: 0, stdout: 'I stop.\n' });
  other.model.script(say('no', { misbehave: 'filtered' }));
  expect(await runChat(other, ['-p', 'go', bare])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('withheld'),
  });
});

it('keeps a session only when it is asked to, and goes on with it', async () => {
  const place = await chatPlace();
  place.model.otherwise(() => say('noted'));
  await runChat(place, ['-p', 'not kept', bare]);
  expect(sessionFiles(place)).toEqual([]);
  const saved = await runChat(place, ['-p', 'my number is 7', '--save', '--output', 'json', bare]);
  expect(sessionFiles(place)).toHaveLength(1);
  const { session } = JSON.parse(saved.stdout) as { session: string };
  await runChat(place, ['--continue', '-p', 'which number?', bare]);
  expect(place.model.requests.at(-1)?.text).toContain('my number is 7');
  await runChat(place, ['--resume', session, '-p', 'and once more', bare]);
  expect(place.model.requests.at(-1)?.text).toContain('which number?');
  expect(sessionFiles(place)).toHaveLength(1);
  const none = await runChat(place, ['--resume', 'nothing-like-it', '-p', 'x', bare]);
  expect(none).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(/"nothing-like-it" .*; .*toolcrib chat --resume, lists them/),
  });
});

it('writes 2 MB to a slow reader whole, and ends quietly when nobody reads', async () => {
  const place = await chatPlace();
  const line = `${'0123456789'.repeat(10)}\n`;
  const text = line.repeat(20_000);
  place.model.script(say(text, { delta: 200_000 }), say(text, { delta: 200_000 }));
  const shell = (tail: string) =>
    new Promise<{ out: string; err: string }>((resolve) => {
      const child = spawn('sh', ['-c', `"$0" "$1" chat -p go ${bare} ${tail}`, process.execPath, program], {
        cwd: place.cwd,
        env: place.env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let [out, err] = ['', ''];
      child.stdout.on('data', (data: Buffer) => {
        out += data.toString();
      });
      child.stderr.on('data', (data: Buffer) => {
        err += data.toString();
      });
      child.once('close', () => resolve({ out: out.trim(), err }));
    });
  expect(await shell('| (sleep 0.3; wc -c)')).toEqual({ out: String(text.length), err: '' });
  expect(await shell('| head -1')).toEqual({ out: line.trim(), err: '' });
});

it('says in one line what is wrong with a command line', async () => {
  const place = await chatPlace();
  mkdirSync(join(place.cwd, 'folder'));
  writeFileSync(join(place.cwd, 'list.json'), '[]');
  writeFileSync(join(place.cwd, 'empty'), '# nothing\n');
  writeFileSync(join(place.cwd, 'strange.json'), '{"type":"strange"}');
  writeFileSync(join(place.cwd, 'tuple.json'), '{"type":"array","prefixItems":[]}');
  const wrong: [string[], RegExp][] = [
    [['-p'], /no prompt/],
    [['-p', 'x', '--output', 'xml'], /text, json, stream-json/],
    [['-p', 'x', '--max-turns', '0'], /--max-turns 0: a number/],
    [['-p', 'x', '--schema', 'none.json'], /none\.json: cannot be read/],
    [['-p', 'x', '--schema', 'strange.json'], /strange\.json: type must be/],
    [['-p', 'x', '--schema', 'tuple.json'], /tuple\.json: .*"prefixItems"/],
    [['-p', 'x', '--toolsets', 'nonsense'], /nonsense: there is no such toolset/],
    [['-p', 'x', '--mcp', 'empty'], /empty names no servers/],
    [['-f', 'none'], /none: cannot be read \(ENOENT\)/],
    [['-p', 'x', '--modle', 'y'], /--model/],
    [['-p', 'x', '--model', 'nope/y'], /no endpoint "nope"/],
    [['-p', 'x', '--allow', 'a('], /is no rule to allow/],
    [['-p', 'x', '--deny', 'write(dist/**)'], /--rule 'write\(dist\/\*\*\)=deny'/],
    [['-p', 'x', '--var', 'novalue'], /name=value/],
    [['-p', 'x', '--profile', 'nobody'], /no profile "nobody"/],
    [['-p', 'x', '--root', 'nowhere'], /nowhere: there is no such folder/],
    [['-p', 'x', '--resume'], /--continue/],
    [['--resume'], /--continue/],
    [['-m'], /did you mean --model/],
    [['-p', 'x', '--no-session', '--save'], /--no-session/],
    [['-p', 'x', '--replay', 'none'], /none cannot be read/],
    [['-p', 'x', '--record', 'folder'], /folder cannot be written/],
    [['--save'], /goes with -p/],
  ];
  for (let at = 0; at < wrong.length; at += 4)
    await Promise.all(
      wrong.slice(at, at + 4).map(async ([args, says]) => {
        const { code, stdout, stderr } = await runChat(place, args);
        expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
        expect(stderr).toMatch(says);
        expect(stderr).toMatch(/^toolcrib: [^\n]+\n$/);
      }),
    );
  expect(place.model.requests).toEqual([]);
  expect(await runChat(place, ['--version'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+/),
  });
});
