import { expect, it } from 'vitest';
import { terminalProgram } from '../support/terminal-program.ts';

const program = terminalProgram();

it('returns the line that was typed', async () => {
  const pty = await program.start();
  pty.type('hello wörld 漢字 👩‍👩‍👧 🇩🇪');
  pty.press('enter');
  await pty.sees('got "hello wörld 漢字 👩‍👩‍👧 🇩🇪"');
});

it('edits in the middle, whatever arrives at once', async () => {
  const pty = await program.start();
  pty.type('ac');
  pty.press('left');
  pty.type('bbb');
  pty.press('home');
  pty.type('漢');
  pty.press('end', 'backspace', 'enter');
  await pty.sees('got "漢abbb"');
});

it('draws a wide character at the edge of the screen', async () => {
  const pty = await program.start({ cols: 20 });
  pty.type(`${'a'.repeat(17)}漢字`);
  await pty.sees(/aaa\n漢字/);
  pty.press('left', 'left', 'left');
  pty.type('b');
  await pty.sees(/> a{16}ba\n漢字/);
  pty.press('enter');
  await pty.sees(`got "${'a'.repeat(16)}ba漢字"`);
});

it('takes several lines: Alt+Enter, Shift+Enter, a backslash, and quotes', async () => {
  const pty = await program.start();
  pty.type('one');
  pty.press('alt-enter');
  pty.type('two');
  pty.press('shift-enter');
  pty.type('three\\');
  pty.press('enter');
  pty.type('four');
  await pty.sees('> one\ntwo\nthree\nfour');
  pty.press('enter');
  await pty.sees(String.raw`got "one\ntwo\nthree\nfour"`);
  pty.type('"""');
  pty.press('enter');
  pty.type('a\\');
  pty.press('enter');
  pty.press('enter');
  pty.type('b');
  pty.press('enter');
  pty.type('"""');
  pty.press('enter');
  await pty.sees(String.raw`got "a\\\n\nb"`);
  pty.type('c:\\\\');
  pty.press('enter');
  await pty.sees(String.raw`got "c:\\\\"`);
});

it('moves up and down in a text of several lines', async () => {
  const pty = await program.start();
  pty.type('long line');
  pty.press('alt-enter');
  pty.type('xy');
  pty.press('alt-enter');
  pty.type('end!');
  pty.press('up', 'up');
  pty.type('1');
  pty.press('down');
  pty.type('2');
  pty.press('enter');
  await pty.sees(String.raw`got "lo1ng line\nxy2\nend!"`);
});

it('prints above the prompt and leaves what is typed, in several rows too', async () => {
  const pty = await program.start({ cols: 20, rows: 20 });
  pty.type('a'.repeat(50));
  pty.press('left', 'left');
  await pty.sees('a\n');
  pty.signal('SIGUSR2');
  await pty.sees('more news');
  expect(pty.screen()).toMatch(/^ready \d+ true\nnews\nmore news\n> a{18}\na{20}\na{12}$/);
  pty.type('b');
  pty.press('enter');
  await pty.sees(`got "${'a'.repeat(48)}baa"`);
});

it('redraws the line when the size changes, and erases nothing', async () => {
  const pty = await program.start({ cols: 80 });
  pty.type('w'.repeat(60));
  await pty.sees('w'.repeat(60));
  for (const cols of [30, 100, 25, 80]) {
    pty.resize(cols, 30);
    pty.type('x');
    await pty.until(() => pty.scrollback().endsWith('x'));
    expect(pty.scrollback()).toMatch(/^ready \d+ true\n/);
  }
  pty.press('enter');
  await pty.sees(`got "${'w'.repeat(60)}xxxx"`);
});

it('completes, lists on the second Tab, and never shows escape sequences', async () => {
  const pty = await program.start();
  pty.type('/mc');
  pty.press('tab');
  await pty.sees('> /mcp');
  pty.press('ctrl-u');
  pty.type('see /mo');
  pty.press('tab');
  await pty.sees('> see /mode');
  pty.press('tab', 'tab');
  await pty.sees('/mode   /model\n> see /mode');
  pty.press('ctrl-u');
  pty.type('/b');
  pty.press('tab', 'tab');
  pty.press('ctrl-u');
  pty.type('"a');
  pty.press('tab');
  await pty.sees('> "a b.txt"');
  pty.press('ctrl-u');
  pty.type('fail');
  pty.press('tab', 'enter');
  await pty.sees('got "fail"');
  expect(pty.raw()).not.toContain('\x1b[31m');
});

it('tells of Shift+Tab, and changes the prompt', async () => {
  const pty = await program.start();
  pty.type('abc');
  pty.press('shift-tab');
  await pty.sees(/mode key\n> abc/);
  pty.press('shift-tab');
  await pty.sees(/^mode 2> abc/m);
  pty.press('enter');
  await pty.sees('got "abc"');
});

it('edits a text in the editor, which has the terminal for itself', async () => {
  const pty = await program.start({
    env: { VISUAL: `bash -c 'read line; echo "$line" >> "$0"'`, EDITOR: 'false' },
  });
  pty.type('edit');
  pty.press('enter');
  await pty.until(() => pty.raw().endsWith('\x1b[?2004l'));
  pty.type('second');
  pty.press('enter');
  await pty.sees(String.raw`edited "first`);
  expect(pty.screen()).toContain(String.raw`edited "firstsecond"`);
  pty.type('more');
  pty.press('enter');
  await pty.sees('got "more"');
});
