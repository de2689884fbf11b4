import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { chatPlace, openChat } from '../repl/support/chat.ts';
import { call, say } from '../repl/support/fake-model.ts';
import { startInTerminal } from '../repl/support/pty.ts';
import { answerTo, enter, results } from '../repl/support/served.ts';
import { reading } from '../guarantees/person.ts';
import { temporaryRepository } from '../support/repository.ts';
import { program } from '../support/server.ts';
import { makeHome } from './home.ts';

it('asks the person at the terminal in toolcrib call', async () => {
  const home = makeHome();
  onTestFinished(() => home.end());
  const repository = temporaryRepository(home.project);
  const read = () => readFileSync(join(home.project, 'src', 'a.txt'), 'utf8');
  const reset = () =>
    startInTerminal([process.execPath, program, 'call', 'git_reset_hard', 'ref=HEAD', '--no-checkpoints'], {
      cwd: home.project,
      env: home.options.env,
      cols: 200,
    });
  for (const [typed, code] of [
    ['n', 1],
    ['', 1],
    ['y', 0],
  ] as const) {
    repository.write('src/a.txt', 'changed\n');
    const terminal = reset();
    await terminal.sees('[N]o?');
    expect(terminal.scrollback()).toMatch(/git reset --hard HEAD\n.*can lose work/);
    await reading();
    enter(terminal, typed);
    expect(await terminal.exit, typed).toBe(code);
    expect(read() === 'changed\n', typed).toBe(code === 1);
    if (code === 1) expect(terminal.scrollback()).toMatch(/NOT_CONFIRMED|nobody was there/);
  }
  repository.write('src/a.txt', 'changed\n');
  const interrupted = reset();
  await interrupted.sees('[N]o?');
  interrupted.press('ctrl-c');
  expect(await interrupted.exit).toBe(130);
  expect(read()).toBe('changed\n');
});

it('asks once about a command in a chat, in the words of the server', async () => {
  const place = await chatPlace();
  const chat = openChat(place, ['--no-checkpoints']);
  const echo = (word: string) =>
    call('mcp__toolcrib__run', { command: 'sh', args: ['-c', `echo ${word} >> ran`] });
  const ran = () => readFileSync(join(place.cwd, 'ran'), 'utf8');
  writeFileSync(join(place.cwd, 'ran'), '');
  place.model.script(echo('one'), say('First.'));
  await chat.sees('/help');
  enter(chat, 'go');
  await answerTo(chat, "sh -c 'echo one >> ran'", 'y');
  await chat.sees('First.');
  expect(ran()).toBe('one\n');
  expect(chat.scrollback().match(/^.*runs a command that trust in the folder does not cover/gm)).toHaveLength(
    1,
  );

  place.model.script(echo('two'), say('Second.'));
  enter(chat, 'again');
  await answerTo(chat, "sh -c 'echo two >> ran'", 'n');
  await chat.sees('Second.');
  expect(ran()).toBe('one\n');
  expect(results(place.model.requests.at(-1)).at(-1)).toMatch(/The person rejected this call|NOT_CONFIRMED/);
  expect(chat.scrollback().match(/^.*runs a command that trust in the folder does not cover/gm)).toHaveLength(
    2,
  );
});
