import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatPlace, openChat, runChat, type ChatPlace } from '../support/chat.ts';
import { answer, call, calls, say } from '../support/fake-model.ts';
import type { Pty } from '../support/pty.ts';
import { answerTo, doneBy, results, serve } from '../support/served.ts';
import { enter } from './enter.ts';

// What our own server would ask is asked by the chat, with its plan: once for a call, and never a second time.

const npmTest = { action: 'npm_test' };
const test = call('mcp__toolcrib__run_action', npmTest);
const run = (...argv: string[]) => call('mcp__toolcrib__run', { command: argv[0], args: argv.slice(1) });

/** A project whose test writes down that it ran. */
async function project(): Promise<ChatPlace & { ran(): number }> {
  const place = await chatPlace();
  writeFileSync(join(place.cwd, 'package.json'), '{"name":"p","scripts":{"test":"node test.js"}}');
  writeFileSync(join(place.cwd, 'test.js'), "require('fs').appendFileSync('ran.log', 'x');\n");
  const log = join(place.cwd, 'ran.log');
  return { ...place, ran: () => (existsSync(log) ? readFileSync(log, 'utf8').length : 0) };
}

/** How often something was asked. */
const questionsIn = (chat: Pty): number => chat.scrollback().split(/or say what to do instead/).length - 1;

/** What the model was told at last. */
const told = ({ model }: ChatPlace): string => results(model.requests.at(-1)).at(-1) ?? '';

it('asks for trust once, in three lines, runs once, and does not ask again', async () => {
  const place = await project();
  const chat = openChat(place);
  place.model.script(test, say('One.'), test, say('Two.'));
  const over = enter(chat, 'go');
  await chat.sees(
    /\? Trust .*project\?\n {2}Its code may run, .*\n {2}For npm test: it runs code of this folder/,
  );
  expect(place.ran()).toBe(0);
  await answerTo(chat, 'npm test', 'y');
  await over;
  expect([questionsIn(chat), place.ran()]).toEqual([1, 1]);
  await enter(chat, 'again');
  expect([questionsIn(chat), place.ran()]).toEqual([1, 2]);
  // It was trusted lastingly, for every host.
  const next = openChat(place);
  place.model.script(test, say('Three.'));
  await enter(next, 'go');
  expect([questionsIn(next), place.ran()]).toEqual([0, 3]);
});

it('does a session of work with two questions in ask, one in auto, and none with --yolo', async () => {
  const steps = () => {
    const edit = { old_string: 'two', new_string: '2' };
    return answer(
      call('mcp__toolcrib__read_file', { path: 'a.txt' }),
      call('mcp__toolcrib__edit_file', { path: 'a.txt', ...edit }),
      test,
      call('mcp__toolcrib__run_action', { ...npmTest, arguments: { cwd: '.' } }),
      call('mcp__toolcrib__list_files', { path: '.' }),
      call('mcp__toolcrib__git_commit', { paths: ['a.txt'], message: 'two words' }),
    );
  };
  for (const [flag, most] of [
    [[], 2],
    [['--mode', 'auto'], 1],
    [['--yolo'], 0],
  ] as const) {
    const place = await project();
    writeFileSync(join(place.cwd, 'a.txt'), 'one\ntwo\n');
    await runGit(place);
    const chat = openChat(place, [...flag]);
    place.model.script(steps(), say('Done.'));
    const over = enter(chat, 'go');
    for (let asked = 0; asked < most; asked++) {
      await chat.until(() => questionsIn(chat) > asked && /instead\n?>? ?$/.test(chat.screen()));
      chat.type('y\r');
    }
    await over;
    expect([flag, questionsIn(chat), place.ran()]).toEqual([flag, most, 2]);
    expect(results(place.model.requests.at(-1)).filter((text) => /^[A-Z_]+: /.test(text))).toEqual([]);
  }
});

async function runGit({ cwd, env }: ChatPlace): Promise<void> {
  const { execFileSync } = await import('node:child_process');
  for (const args of [
    ['init', '-q'],
    ['config', 'user.name', 'a'],
    ['config', 'user.email', 'a@example.org'],
  ])
    execFileSync('git', args, { cwd, env });
}

it('shows the diff of a change with the question, and "session" settles changes alone', async () => {
  const place = await project();
  const write = (path: string, content: string) => call('mcp__toolcrib__write_file', { path, content });
  const chat = openChat(place);
  place.model.script(
    write('b.txt', 'hello\n'),
    write('c.txt', 'there\n'),
    write('.git/hooks/x', 'evil\n'),
    say('Ok.'),
  );
  const over = enter(chat, 'go');
  await chat.sees(
    /\? write b\.txt \(\+1 -0\)\n {2}It changes something\.\n {2}in .*\n[^]*\+hello[^]*instead\n?>? ?$/,
  );
  chat.type('s\r');
  // A file that others run is asked about each time, by the server.
  await chat.sees(
    /\? write \.git\/hooks\/x.*\n {2}It changes a file that matters elsewhere[^]*instead\n?>? ?$/,
  );
  expect(readFileSync(join(place.cwd, 'c.txt'), 'utf8')).toBe('there\n');
  chat.type('n\r');
  await over;
  expect(existsSync(join(place.cwd, '.git'))).toBe(false);
});

it('offers to trust the folder beside an act, and to run exactly a command always, and then asks no more', async () => {
  const place = await project();
  const chat = openChat(place);
  const hash = (file: string) => run('git', 'hash-object', file);
  place.model.script(hash('a'), hash('b'), hash('b'), hash('c'), test, say('Ok.'));
  const over = enter(chat, 'go');
  await chat.sees(/\[t\]rust the folder \[a\]lways exactly this/);
  await answerTo(chat, 'git hash-object a', 't');
  await answerTo(chat, 'git hash-object b', 'a');
  await answerTo(chat, 'git hash-object c', 'y');
  await over;
  expect(questionsIn(chat)).toBe(3);
  expect(place.ran()).toBe(1);
});

it('asks nothing with --yolo, trusts nothing by that, and leaves denied what is denied', async () => {
  const place = await project();
  const chat = openChat(place, ['--yolo', '--rule', 'list_files=deny']);
  place.model.script(
    test,
    run('node', 'test.js'),
    call('mcp__toolcrib__list_files', { path: '.' }),
    say('Ok.'),
  );
  await enter(chat, 'go');
  expect([questionsIn(chat), place.ran()]).toEqual([0, 2]);
  expect(told(place)).toMatch(/^EFFECT_DENIED: .*list_files=deny/);
  chat.type('/exit\r');
  await chat.exit;
  place.model.script(test, say('No.'));
  expect(await runChat(place, ['-p', 'go'])).toMatchObject({ code: 4 });
});

it('runs what a no, a rule to deny, or a change of the plan forbids: not at all', async () => {
  const place = await project();
  const chat = openChat(place, ['--deny', 'git push*']);
  place.model.script(calls([{ name: 'mcp__toolcrib__run_action', args: npmTest }]), say('One.'));
  const over = enter(chat, 'go');
  await answerTo(chat, 'npm test', 'n');
  await over;
  expect([told(place), place.ran()]).toEqual(['The person rejected this call.', 0]);
  place.model.script(run('git', 'push', 'origin'), say('Two.'));
  await enter(chat, 'go');
  expect(told(place)).toBe('Refused: rule: deny run(git push*) (flag)');
  place.model.script(
    call('mcp__toolcrib__write_file', { path: 'new.txt', content: 'mine\n' }),
    say('Three.'),
  );
  const third = enter(chat, 'go');
  await chat.sees(/\? write new\.txt[^]*instead\n?>? ?$/);
  writeFileSync(join(place.cwd, 'new.txt'), 'theirs\n');
  chat.type('y\r');
  await third;
  expect(readFileSync(join(place.cwd, 'new.txt'), 'utf8')).toBe('theirs\n');
});

it('obeys --allow and --rule for commands where nobody can be asked, and says what it refused', async () => {
  const place = await project();
  const once = async (...args: string[]) => {
    place.model.script(test, say('ok'));
    const { code, stdout, stderr } = await runChat(place, ['-p', 'go', ...args]);
    return { code, stdout, stderr, ran: place.ran() };
  };
  expect(await once()).toEqual({
    code: 4,
    stdout: 'ok\n',
    stderr: expect.stringMatching(
      /^toolcrib: not run: npm test: [^\n]*--allow 'npm test'[^\n]*trusted[^\n]*\n$/,
    ),
    ran: 0,
  });
  expect(told(place)).toContain("rerun with --allow 'npm test'");
  let ran = 0;
  for (const args of [
    ['--allow', 'npm *'],
    ['--allow', 'toolcrib:run_action'],
    ['--rule', 'run(npm test)=allow'],
  ])
    expect([args, await once(...args)]).toEqual([args, { code: 0, stdout: 'ok\n', stderr: '', ran: ++ran }]);
  // What a flag allows is no yes to the folder.
  expect(await once()).toMatchObject({ code: 4, ran });
  expect(await once('--allow', 'npm run *')).toMatchObject({ code: 4, ran });
  place.model.script(run('node', 'test.js'), say('ok'));
  const command = await runChat(place, ['-p', 'go', '--allow', 'toolcrib:run(node*)', '--output', 'json']);
  expect(command.stderr).toBe('');
  expect(JSON.parse(command.stdout)).toMatchObject({ reason: 'done', unasked: 0 });
  expect(place.ran()).toBe(ran + 1);
});

it('asks again, with a fresh plan, about what was asked when it was killed, and runs it on yes', async () => {
  const place = await project();
  writeFileSync(join(place.cwd, 'a.txt'), 'one\n');
  const edit = { old_string: 'one', new_string: 'two' };
  for (const [steps, shown, isDone] of [
    [[test], 'npm test', () => place.ran() === 1],
    [
      [
        call('mcp__toolcrib__read_file', { path: 'a.txt' }),
        call('mcp__toolcrib__edit_file', { path: 'a.txt', ...edit }),
      ],
      'edit a.txt',
      () => readFileSync(join(place.cwd, 'a.txt'), 'utf8') === 'two\n',
    ],
  ] as const) {
    const killed = openChat(place);
    place.model.script(...steps);
    await killed.sees('/help');
    killed.type('go\r');
    await killed.sees(/say what to do instead/);
    killed.signal('SIGKILL');
    await killed.exit;
    const chat = openChat(place, ['--continue']);
    place.model.script(say('That was it.'));
    await answerTo(chat, shown, 'y');
    await chat.sees('That was it.');
    expect(isDone()).toBe(true);
    expect(questionsIn(chat)).toBe(1);
    chat.type('/exit\r');
    await chat.exit;
  }
});

it('gives its key to no other server, whatever that says, and to no file', async () => {
  const place = await project();
  serve(place, { s: { program: 'claiming-server.mjs' } });
  const trace = join(place.cwd, 'trace.jsonl');
  const chat = openChat(place, ['--trace', trace]);
  place.model.script(call('mcp__s__put', { text: 'one' }), test, say('Ok.'));
  const over = enter(chat, 'go');
  await answerTo(chat, 'text: one', 'y');
  await answerTo(chat, 'npm test', 'y');
  await over;
  expect(place.ran()).toBe(1);
  expect(doneBy(place, 's').filter((line) => line.includes('toolcrib/'))).toEqual([]);
  const traced = readFileSync(trace, 'utf8');
  expect(traced).toContain('toolcrib/ticket');
  expect(traced).not.toContain('toolcrib/key');
});
