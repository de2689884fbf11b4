import { expect, it } from 'vitest';
import { startInTerminal } from './pty.ts';

it('shows what a program writes as a person would see it', async () => {
  const pty = startInTerminal(
    [process.execPath, '-e', 'console.log("a".repeat(30)); console.log("\\x1b[1mb\\x1b[0m")'],
    {
      cols: 20,
      rows: 3,
    },
  );
  expect(await pty.exit).toBe(0);
  expect(pty.screen()).toBe('aaaaaaaaaa\nb');
  expect(pty.scrollback()).toBe(`${'a'.repeat(30)}\nb`);
  expect(pty.raw()).toContain('\x1b[1mb');
});

it('types, and sends signals', async () => {
  const pty = startInTerminal(['cat']);
  pty.type('hello');
  pty.press('enter');
  await pty.sees(/hello\nhello/);
  pty.signal('SIGKILL');
  expect(await pty.exit).toBe(137);
});
