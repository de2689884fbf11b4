import { expect, it } from 'vitest';
import { terminalProgram } from '../support/terminal-program.ts';

const program = terminalProgram();

it('keeps what is typed while busy for the next prompt, without showing it', async () => {
  const pty = await program.start();
  pty.type('busy');
  pty.press('enter');
  await pty.sees(/^busy$/m);
  pty.type('next thinh');
  pty.press('backspace');
  pty.type('g');
  pty.press('shift-tab');
  await pty.sees(/done\n> next thing/);
  expect(pty.raw()).not.toContain('thinh');
  pty.press('enter');
  await pty.sees('got "next thing"');
});

it('queues lines entered while busy, in order', async () => {
  const pty = await program.start();
  pty.type('half');
  pty.press('enter');
  await pty.sees('half a line');
  pty.type('one');
  pty.press('enter', 'enter');
  pty.type('two');
  pty.press('alt-enter');
  pty.type('rows');
  pty.press('enter');
  pty.type('three');
  pty.press('shift-tab');
  await pty.sees('half a line and its end\nqueued: one\nqueued: two rows\nnext line');
  pty.press('shift-tab');
  await pty.sees(/next line\n> one\ngot "one"\n> two\nrows\ngot "two\\nrows"\n> three$/);
});

it('gives queued lines back to the editor', async () => {
  const pty = await program.start();
  pty.type('take');
  pty.press('enter');
  pty.type('one');
  pty.press('enter');
  pty.type('two');
  pty.press('enter');
  await pty.sees('queued: two');
  pty.signal('SIGUSR2');
  await pty.sees(/> one\ntwo$/);
  pty.press('enter');
  await pty.sees(String.raw`got "one\ntwo"`);
});

it('gives more queued lines back than the screen has rows, and the pastes in them', async () => {
  const pty = await program.start({ rows: 6 });
  pty.type('take');
  pty.press('enter');
  pty.paste('p1\np2');
  for (const line of ['', 'two', 'three', 'four', 'five']) {
    pty.type(line);
    pty.press('enter');
  }
  await pty.sees('queued: five');
  pty.signal('SIGUSR2');
  await pty.sees(/> \[Pasted #2: 6 lines\]$/);
  pty.press('enter');
  await pty.sees(String.raw`got "p1\np2\ntwo\nthree\nfour\nfive"`);
});

it('shows one line while nothing comes, and takes it away', async () => {
  const pty = await program.start();
  pty.type('working');
  pty.press('enter');
  await pty.sees(/. waiting for the model · Esc to stop/);
  pty.type('early');
  pty.press('enter');
  await pty.sees(/queued: early\n. waiting for the model/);
  pty.resize(30, 30);
  pty.resize(100, 30);
  pty.signal('SIGUSR2');
  await pty.sees(/queued: early\nfirst words$/);
  pty.signal('SIGUSR2');
  await pty.sees(/first words\ndone\n> early\ngot "early"\n>$/);
  expect(pty.scrollback()).not.toContain('waiting');
});

it('does not move the cursor while text streams, whatever is typed and however the size changes', async () => {
  const pty = await program.start({ rows: 10 });
  pty.type('stream');
  pty.press('enter');
  await pty.sees('streaming');
  pty.type('typed meanwhile');
  pty.resize(60, 12);
  pty.resize(120, 8);
  await pty.sees(/streamed\n> typed meanwhile/);
  const streamed = pty.raw().slice(pty.raw().indexOf('streaming'), pty.raw().indexOf('streamed'));
  expect(streamed).not.toContain('\x1b');
  expect(pty.scrollback()).toContain(`line 149 ${'x'.repeat(149)}\nline 150 \n`.replace(' \n', '\n'));
});

it('tells of every Ctrl-C and of Escape while busy', async () => {
  const pty = await program.start();
  pty.type('busy');
  pty.press('enter');
  await pty.sees(/^busy$/m);
  pty.type('typed');
  pty.press('ctrl-c');
  await pty.sees('interrupt 1 ctrl_c');
  pty.press('ctrl-c');
  await pty.sees('interrupt 2 ctrl_c');
  pty.press('left', 'right', 'esc');
  await pty.sees('interrupt 3 escape');
  pty.press('ctrl-d');
  process.kill(pty.pid, 'SIGINT');
  await pty.sees('interrupt 4 ctrl_c');
  pty.press('shift-tab');
  await pty.sees(/interrupt 4 ctrl_c\ndone\n> typed$/);
});

it('asks, and takes no answer that was typed before', async () => {
  const pty = await program.start();
  pty.type('ask');
  pty.press('enter');
  await pty.sees('thinking');
  pty.type('yes\ry\x1b[Z\ryes\r');
  await pty.sees(/A tool wants to run\.\nRun it\?$/);
  pty.press('up', 'alt-enter');
  pty.press('tab');
  pty.type('no');
  pty.press('enter');
  await pty.sees(/Run it\? no\nanswer "no"\n> yes\ngot "yes"\n> y\ngot "y"\n> yes\ngot "yes"\n>$/);
});

it('asks in the middle of typing, and brings the line back', async () => {
  const pty = await program.start();
  pty.type('later');
  pty.press('enter');
  await pty.sees(/later\n>$/);
  pty.type('unfinished');
  pty.press('alt-enter');
  pty.type('text');
  pty.press('left');
  await pty.sees(/> unfinished\ntext$/);
  pty.signal('SIGUSR2');
  await pty.sees(/> later\nNow\?$/);
  pty.type('hm');
  pty.press('ctrl-c');
  pty.type('ok');
  pty.press('enter');
  await pty.sees(/Now\? ok\nlater "ok"\n> unfinished\ntext$/);
  pty.type('X');
  pty.press('enter');
  await pty.sees(String.raw`got "unfinished\ntexXt"`);
});

it.each(['ctrl-c', 'esc', 'ctrl-d'] as const)('takes %s for no answer', async (key) => {
  const pty = await program.start();
  pty.type('ask');
  pty.press('enter');
  await pty.sees('thinking');
  pty.signal('SIGUSR2');
  await pty.sees('Run it?');
  pty.press(key);
  await pty.sees(/answer undefined\n>$/);
});
