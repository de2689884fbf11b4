import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { startInTerminal } from '../support/pty.ts';
import type { Pty } from '../support/pty.ts';
import { terminalProgram } from '../support/terminal-program.ts';

const program = terminalProgram();
const prompt = '%ready ';

/** A shell in a terminal, with the program started from it: what the program leaves behind is the shell's. */
async function inShell(): Promise<Pty> {
  const pty = startInTerminal(['bash', '--norc', '--noprofile', '-i'], {
    env: { PS1: prompt, BASH_SILENCE_DEPRECATION_WARNING: '1', HISTFILE: '' },
  });
  await pty.sees(prompt.trim());
  pty.type(`${program.argv().join(' ')}; echo "code $?"`);
  pty.press('enter');
  await pty.sees(/ready \d+ true\n>/);
  return pty;
}
/** The terminal echoes again, and pastes are what they were. */
async function seesSaneTerminal(pty: Pty): Promise<void> {
  pty.type('stty -a | tr " ;" "\\n" | grep -Ex -- "-?(icanon|echo|isig|opost)" | tr "\\n" " "');
  pty.press('enter');
  await pty.sees(/^opost isig icanon echo|^(-?\w+ ){3,}/m);
  expect(pty.screen()).not.toMatch(/(^| )-(icanon|echo|isig|opost) /m);
}
const readyPid = (pty: Pty) => Number(/ready (\d+)/.exec(pty.screen())?.[1]);

it('clears the line with the first Ctrl-C, warns with the next, and leaves with the third', async () => {
  const pty = await program.start();
  pty.type('text');
  pty.press('alt-enter');
  pty.type('more');
  await pty.sees(/> text\nmore$/);
  pty.press('ctrl-c');
  await pty.sees(/true\n>$/);
  pty.press('ctrl-c');
  await pty.sees(/Press Ctrl-C again to leave\.\n>$/);
  pty.press('ctrl-c');
  expect(await pty.exit).toBe(0);
  expect(pty.screen()).toMatch(/leave\.\n>\nend$/);
  expect(pty.raw()).toMatch(/\x1b\[\?2004l$/);
});

it.each(['xterm-256color', 'dumb'])(
  'leaves with the second Ctrl-C, whatever asks again (%s)',
  async (TERM) => {
    const pty = await program.start({ env: { TERM } });
    pty.type('nag');
    pty.press('enter');
    await pty.sees(/nag\n>$/);
    pty.signal('SIGUSR2');
    await pty.sees(/Now\?$/);
    pty.press('ctrl-c');
    await pty.sees(/Now\?[^]*Now\?$/);
    pty.press('ctrl-c');
    expect(await pty.exit).toBe(0);
  },
);

it('leaves with Ctrl-D in an empty line only', async () => {
  const pty = await program.start();
  pty.type('ab');
  pty.press('home', 'ctrl-d', 'enter');
  await pty.sees('got "b"');
  pty.press('ctrl-d');
  expect(await pty.exit).toBe(0);
});

it.each([
  ['the end', (pty: Pty) => pty.press('ctrl-d'), 'code 0'],
  ['SIGTERM', (pty: Pty) => process.kill(readyPid(pty), 'SIGTERM'), 'code 143'],
  [
    'SIGTERM while busy',
    (pty: Pty) => {
      pty.type('busy\r');
      process.kill(readyPid(pty), 'SIGTERM');
    },
    'code 143',
  ],
  ['a crash', (pty: Pty) => pty.type('crash\r'), 'code 1'],
])('leaves a sane terminal behind after %s', async (_, end, code) => {
  const pty = await inShell();
  end(pty);
  await pty.sees(code);
  expect(pty.raw().lastIndexOf('\x1b[?2004l')).toBeGreaterThan(pty.raw().indexOf('\x1b[?2004h\r'));
  await seesSaneTerminal(pty);
});

it('is suspended with Ctrl-Z and continued, at the prompt and while busy', async () => {
  const pty = await inShell();
  pty.type('unfinished');
  await pty.sees('> unfinished');
  pty.press('ctrl-z');
  await pty.sees('Stopped');
  await seesSaneTerminal(pty);
  pty.type('fg');
  pty.press('enter');
  await pty.sees(/fg\n.*\n> unfinished$/);
  pty.type('!');
  pty.press('enter');
  await pty.sees('got "unfinished!"');
  pty.paste('still\npasted');
  await pty.sees('[Pasted #1: 2 lines]');
  pty.press('ctrl-u');
  pty.type('busy\r');
  await pty.sees(/^busy$/m);
  pty.press('ctrl-z');
  await pty.sees(/Stopped[^]*Stopped/);
  pty.type('fg');
  pty.press('enter');
  await pty.until(() => pty.raw().endsWith('\x1b[?2004h'));
  pty.type('hidden');
  pty.press('shift-tab');
  await pty.sees(/done\n> hidden$/);
});

it('goes on when nobody can continue it', async () => {
  const pty = await program.start();
  pty.type('text');
  pty.press('ctrl-z');
  await pty.until(() => pty.raw().includes('\x1b[?2004l'));
  await pty.until(() => pty.raw().lastIndexOf('\x1b[?2004h') > pty.raw().indexOf('\x1b[?2004l'));
  pty.type('!');
  await pty.sees('> text!');
});

it.each(['', 'busy\r', 'stream\r'])(
  'ends, and does not crash, when the window is closed after "%s"',
  async (line) => {
    const pty = await program.start();
    pty.type(line);
    await pty.sees(line.trim());
    pty.hangUp();
    // SIGHUP, or SIGKILL where nobody was told of the signal in time: Node's own end would abort.
    expect([129, 137]).toContain(await pty.exit);
  },
);

async function piped(input: string, env: NodeJS.ProcessEnv = {}) {
  const [node = '', ...args] = program.argv();
  const child = spawn(node, args, { env: { ...process.env, ...env } });
  let output = '';
  child.stdout.on('data', (text: Buffer) => (output += text.toString()));
  child.stdin.end(input);
  const [code] = (await once(child, 'close')) as [number];
  return { output: output.replace(/\d+/, 'PID'), code };
}

it('reads lines of a pipe, and shows no prompt and no escape sequence', async () => {
  expect(await piped('one\r\ntwö\u2028x\nnow\nworking\x1b[A\nlast')).toEqual({
    code: 0,
    output: String.raw`ready PID false
got "one"
got "twöx"
answer undefined
got "working\u001b[A"
got "last"
end
`,
  });
});

it('ends quietly when nobody reads its output', async () => {
  const [node = '', ...args] = program.argv();
  const child = spawn(node, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.stdout.destroy();
  child.stdin.on('error', () => undefined).write('a\n'.repeat(1000));
  expect((await once(child, 'exit'))[0]).toBe(0);
});

it('asks, queues and leaves without escape sequences in a dumb terminal', async () => {
  const pty = await program.start({ env: { TERM: 'dumb' } });
  pty.type('busy\r');
  await pty.sees(/^busy$/m);
  pty.press('ctrl-c');
  await pty.sees('interrupt 1 ctrl_c');
  pty.type('early\r');
  pty.signal('SIGUSR2');
  await pty.sees(/done[^]*got "early"\n>/);
  pty.type('ask\r');
  await pty.sees('thinking');
  pty.signal('SIGUSR2');
  await pty.sees('Run it?');
  pty.type('no\r');
  await pty.sees(/answer "no"\n>/);
  pty.type('working\r');
  await pty.sees('at work');
  pty.signal('SIGUSR2');
  await pty.sees('first words');
  pty.signal('SIGUSR2');
  await pty.sees(/done\n>$/);
  pty.press('ctrl-c');
  await pty.sees(/Press Ctrl-C again to leave\.\n>$/);
  pty.press('ctrl-d');
  expect(await pty.exit).toBe(0);
  expect(pty.raw()).not.toContain('\x1b');
});
