import { spawn } from 'node:child_process';
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { chatPlace, openChat, type ChatPlace } from '../support/chat.ts';
import { answer, call, gate, say, wait } from '../support/fake-model.ts';
import { isBack, opened, placeWithServer } from '../support/interrupted.ts';
import { startInTerminal, type Pty } from '../support/pty.ts';
import { program } from '../../support/server.ts';
import { lastMessage } from './messages.ts';

/** A chat in which every message is answered, and how to read what the model was sent. */
async function conversation(place: ChatPlace, size?: { cols: number; rows: number }) {
  place.model.otherwise(() => say('Well.'));
  const chat = openChat(place, ['--no-toolcrib'], size);
  await isBack(chat);
  let before = place.model.requests.length;
  return {
    chat,
    /** Presses Enter, and returns what was sent as JSON, once the prompt is there again. */
    async sent(): Promise<string> {
      chat.press('enter');
      await chat.until(() => place.model.requests.length > before);
      before = place.model.requests.length;
      await isBack(chat);
      return lastMessage(place.model.requests.at(-1));
    },
  };
}

it('edits a line of any characters, in the middle, in several rows, whatever arrives at once', async () => {
  const { chat, sent } = await conversation(await chatPlace(), { cols: 40, rows: 20 });
  chat.type('ac');
  chat.press('left');
  chat.type('bbb');
  chat.press('home');
  chat.type('漢');
  chat.press('end', 'backspace');
  expect(await sent()).toContain('漢abbb"');
  chat.type('wörld 👩‍👩‍👧 🇩🇪');
  expect(await sent()).toBe('"wörld 👩‍👩‍👧 🇩🇪"');
  // A wide character at the edge of the screen.
  chat.type(`${'a'.repeat(37)}漢字`);
  await chat.sees(/aaa\n漢字$/);
  chat.press('left', 'left', 'left');
  chat.type('b');
  await chat.sees(/> a{36}ba\n漢字$/);
  for (const cols of [30, 100, 25]) {
    chat.resize(cols, 20);
    chat.type('x');
    await chat.until(() => chat.scrollback().includes('bx'));
  }
  expect(await sent()).toBe(`"${'a'.repeat(36)}bxxxa漢字"`);
  expect(chat.scrollback()).toContain('wörld');
});

it('takes a message of several lines', async () => {
  const { chat, sent } = await conversation(await chatPlace());
  chat.type('long line');
  chat.press('alt-enter');
  chat.type('xy');
  chat.press('shift-enter');
  chat.type('end\\\r');
  chat.type('last');
  chat.press('left');
  chat.type('1');
  expect(await sent()).toContain(String.raw`long line\nxy\nend\nlas1t`);
  chat.type('c:\\\\');
  expect(await sent()).toBe(JSON.stringify('c:\\\\'));
});

it('prints above what is being typed, in several rows too, and completes without obeying names', async () => {
  const place = await placeWithServer();
  writeFileSync(join(place.cwd, 'evil\x1b]0;x\x07.txt'), '');
  const chat = await opened(place);
  await chat.until(() => place.servers() === 1);
  chat.resize(40, 20);
  chat.type('a'.repeat(60));
  chat.press('left', 'left');
  await chat.sees(/> a{38}\na{22}$/);
  // The server is gone: that is told at once.
  process.kill(Number(/^pid (\d+)$/m.exec(place.log())?.[1]), 'SIGKILL');
  await chat.sees(/MCP server "fixture": it ended[^]*\n> a{38}\na{22}$/);
  place.model.script(say('Well.'));
  chat.type('b\r');
  await chat.sees('Well.');
  expect(place.model.requests[0]?.text).toContain(`${'a'.repeat(58)}baa`);
  await isBack(chat);
  chat.type('see @ev\t\t');
  await chat.sees(/> see @.*ev/);
  expect(chat.raw()).not.toContain('\x1b]0;x');
});

it('keeps what is typed while the model is busy, without showing it, and a paste as one mark', async () => {
  const place = await chatPlace();
  const { chat, sent } = await conversation(place, { cols: 100, rows: 8 });
  const open = gate();
  place.model.script(answer(say('Begun.\n'), wait(open.opened)));
  chat.type('begin\r');
  await chat.sees('Begun.');
  chat.type('next thinh');
  chat.press('backspace');
  chat.type('g');
  // Keys are taken in order: once all modes were gone through, all of that has been read.
  chat.press('shift-tab', 'shift-tab', 'shift-tab');
  await chat.sees(/\nmode plan\nmode ask\n?$/);
  open.open();
  await chat.sees(/> next thing$/);
  expect(chat.raw()).not.toContain('thinh');
  expect(await sent()).toBe('"next thing"');

  // More is handed back than the screen has rows.
  place.model.script(answer(say('Again.\n'), wait(gate().opened)));
  chat.type('again\r');
  await chat.sees('Again.');
  chat.paste('p1\np2');
  chat.type('\rtwo\rthree\rfour\rfive\rsix\rseven\r');
  await chat.sees('queued: seven');
  chat.press('ctrl-c');
  await chat.sees(/> \[Pasted #2: 8 lines\]$/);
  expect(await sent()).toBe(String.raw`"p1\np2\ntwo\nthree\nfour\nfive\nsix\nseven"`);
});

it('marks a paste of several lines, sends the whole of it, and never sends it by itself', async () => {
  const place = await chatPlace();
  const { chat, sent } = await conversation(place);
  chat.type('see ');
  chat.paste('one\r\ntwo\tcolumns\n\x1b[31mthree\x1b[0m\x07');
  await chat.sees('> see [Pasted #1: 3 lines]');
  chat.type('!');
  expect(await sent()).toContain(String.raw`see one\ntwo\tcolumns\nthree!`);
  chat.type('[Pasted #1: 4 lines]');
  expect(await sent()).toBe('"[Pasted #1: 4 lines]"');
  chat.paste('echo 漢字 [Pasted #1: 2 lines]\n');
  await chat.sees(/> echo 漢字 \[Pasted #1: 2 lines\]$/);
  chat.press('home');
  chat.paste('a\tb');
  await chat.sees(/> \[Pasted #\d: 3 characters\]echo/);
  chat.press('backspace');
  expect(await sent()).toBe('"echo 漢字 [Pasted #1: 2 lines]"');
  // In pieces, and one after another.
  for (const piece of ['\x1b[200~a\n[Pasted #2: 2 li', 'nes]\x1b[2', '01~']) chat.type(piece);
  chat.paste('b\nc');
  expect(await sent()).toBe(String.raw`"a\n[Pasted #2: 2 lines]b\nc"`);
  chat.paste('line\n'.repeat(500));
  await chat.sees(/> \[Pasted #\d: 500 lines\]$/);
  await sent();

  place.model.script(call('ask_user', { question: 'Run it?' }), say('Good.'));
  chat.type('ask\r');
  await chat.sees(/Run it\?[^]*your answer ?$/);
  chat.paste('y\ny');
  await chat.sees(/\[Pasted #\d: 2 lines\]$/);
  expect(await sent()).toBe(String.raw`"y\ny"`);
  chat.paste('0123456789\n'.repeat(100_000));
  await chat.sees(/> \[Pasted #\d: 100000 lines\]$/);
});

it('recalls what was entered, across programs, and keeps what was begun', async () => {
  const place = await chatPlace();
  const first = await conversation(place);
  first.chat.type('first');
  await first.sent();
  first.chat.type('two');
  first.chat.press('alt-enter');
  first.chat.type('lines');
  await first.sent();
  first.chat.type(' hidden');
  await first.sent();
  const folder = join(place.home, '.state', 'toolcrib', 'chat', 'history');
  const file = join(folder, readdirSync(folder)[0] ?? '');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  // Another program was killed while it wrote, and there is more than is kept.
  const old = Array.from({ length: 10_000 }, (_, at) => `"entry ${at}"\n`).join('');
  writeFileSync(file, `${old}${readFileSync(file, 'utf8')}\n{"no":"entry"}\n"cut o`);

  const { chat } = await conversation(place);
  chat.press('up');
  await chat.sees(/> two\nlines$/);
  chat.press('up');
  await chat.sees(/> first$/);
  chat.press('up');
  await chat.sees(/> entry 9999$/);
  chat.press('ctrl-c');
  await isBack(chat);
  chat.type('fi');
  chat.press('up');
  await chat.sees(/> first$/);
  chat.press('down');
  await chat.sees(/> fi$/);
  expect(readFileSync(file, 'utf8').split('\n').length).toBeLessThan(1100);
});

it('leaves with Ctrl-D in an empty line only, and with a second Ctrl-C', async () => {
  const { chat, sent } = await conversation(await chatPlace());
  chat.type('ab');
  chat.press('home', 'ctrl-d');
  expect(await sent()).toContain('b"');
  chat.type('text');
  chat.press('alt-enter');
  chat.type('more');
  await chat.sees(/> text\nmore$/);
  chat.press('ctrl-c');
  await isBack(chat);
  chat.press('ctrl-c');
  await chat.sees(/Press Ctrl-C again to leave\.\n>$/);
  chat.press('ctrl-c');
  expect(await chat.exit).toBe(0);
  expect(chat.raw()).toMatch(/\x1b\[\?2004l$/);
});

const prompt = '%ready ';

/** A shell in a terminal, with the chat started from it: what the chat leaves behind is the shell's. */
async function inShell(place: ChatPlace): Promise<Pty> {
  const { cwd, env } = place;
  place.model.otherwise(() => say('Well.'));
  const shell = startInTerminal(['bash', '--norc', '--noprofile', '-i'], {
    cwd,
    env: { ...env, PS1: prompt, HISTFILE: '' },
  });
  await shell.sees(prompt.trim());
  shell.type(`'${process.execPath}' '${program}' chat --no-toolcrib; echo "code $?"\r`);
  await shell.sees(/\/help[^]*\n>$/);
  return shell;
}

/** The terminal echoes again, and pastes are what they were. */
async function seesSaneTerminal(shell: Pty): Promise<void> {
  expect(shell.raw().lastIndexOf('\x1b[?2004l')).toBeGreaterThan(shell.raw().indexOf('\x1b[?2004h\r'));
  shell.type('stty -a | tr " ;" "\\n" | grep -Ex -- "-?(icanon|echo|isig|opost)" | tr "\\n" " "\r');
  await shell.sees(/^opost isig icanon echo|^(-?\w+ ){3,}/m);
  expect(shell.screen()).not.toMatch(/(^| )-(icanon|echo|isig|opost) /m);
}

it('leaves a sane terminal behind, and is suspended and continued, at the prompt and while busy', async () => {
  const place = await chatPlace();
  const shell = await inShell(place);
  shell.type('unfinished');
  await shell.sees('> unfinished');
  shell.press('ctrl-z');
  await shell.sees('Stopped');
  await seesSaneTerminal(shell);
  shell.type('fg\r');
  await shell.sees(/fg\n.*\n> unfinished$/);
  const open = gate();
  place.model.script(answer(say('Begun.\n'), wait(open.opened), say('Ended.')));
  shell.type('!\r');
  await shell.sees('Begun.');
  expect(place.model.requests[0]?.text).toContain('unfinished!');
  shell.press('ctrl-z');
  await shell.sees(/Stopped[^]*Stopped/);
  shell.type('fg\r');
  await shell.until(() => shell.raw().endsWith('\x1b[?2004h'));
  open.open();
  await shell.sees(/Ended\.[^]*\n>$/);
  shell.press('ctrl-d');
  await shell.sees(/\n>\n%ready$/);
  await seesSaneTerminal(shell);
});

it.each(['at the prompt', 'while busy'])('leaves a sane terminal behind after SIGTERM %s', async (when) => {
  const place = await chatPlace();
  const shell = await inShell(place);
  if (when === 'while busy') {
    place.model.script(answer(say('Begun.\n'), wait(gate().opened)));
    shell.type('begin\r');
    await shell.sees('Begun.');
  }
  spawn('pkill', ['-TERM', '-P', String(shell.pid)]);
  await shell.sees('code 143');
  await seesSaneTerminal(shell);
});

it('goes on when it was suspended and nobody can continue it', async () => {
  const { chat } = await conversation(await chatPlace());
  chat.type('text');
  chat.press('ctrl-z');
  await chat.until(() => chat.raw().includes('\x1b[?2004l'));
  await chat.until(() => chat.raw().lastIndexOf('\x1b[?2004h') > chat.raw().indexOf('\x1b[?2004l'));
  chat.type('!');
  await chat.sees('> text!');
});

it('gives the program that edits a message the terminal for itself', async () => {
  const place = await chatPlace();
  place.env['VISUAL'] = `bash -c 'read line; echo "$line" >> "$0"'`;
  const { chat, sent } = await conversation(place);
  chat.type('/edit first\r');
  await chat.until(() => chat.raw().endsWith('\x1b[?2004l'));
  chat.type('second');
  expect(await sent()).toMatch(/first.*second/);
});
