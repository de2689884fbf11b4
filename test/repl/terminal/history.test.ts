import { appendFileSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openHistory } from '../../../src/repl/terminal/history.ts';
import { processorMs } from '../../support/processor-ms.ts';
import { terminalProgram } from '../support/terminal-program.ts';

const program = terminalProgram();
const newFile = () => join(mkdtempSync(join(tmpdir(), 'history-')), 'of a project', 'history.jsonl');

it('remembers entries of several lines, not blank, repeated or hidden ones', () => {
  const file = newFile();
  const history = openHistory(file);
  for (const entry of [
    'one',
    'two\nlines "quoted"\u2028x',
    'two\nlines "quoted"\u2028x',
    ' secret',
    '  ',
    '',
    'one',
  ]) {
    history.add(entry);
  }
  expect(openHistory(file).entries).toEqual(['one', 'two\nlines "quoted"\u2028x', 'one']);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readFileSync(file, 'utf8').split('\n').length).toBe(4);
});

it('survives two programs at once, a killed one, and rubbish', () => {
  const file = newFile();
  const [first, second] = [openHistory(file), openHistory(file)];
  first.add('a');
  second.add('b');
  first.add('c');
  appendFileSync(file, '{"no":"entry"}\n"cut o');
  const third = openHistory(file);
  expect(third.entries).toEqual(['a', 'b', 'c']);
  third.add('d');
  expect(openHistory(file).entries).toEqual(['a', 'b', 'c', 'd']);
});

it('keeps the newest entries, and a file that does not grow for ever', () => {
  const file = newFile();
  openHistory(file).add('first');
  writeFileSync(file, Array.from({ length: 10_000 }, (_, index) => `"entry ${index}"\n`).join(''));
  const begin = process.cpuUsage();
  const { entries } = openHistory(file, 1000);
  expect(processorMs(begin)).toBeLessThan(1000);
  expect([entries.length, entries.at(-1)]).toEqual([1000, 'entry 9999']);
  expect(readFileSync(file, 'utf8').split('\n').length).toBe(1001);
});

it('goes on without a file', () => {
  const history = openHistory('/dev/null/history');
  history.add('kept');
  expect(history.entries).toEqual(['kept']);
});

it('recalls with Up and Down, across programs, and keeps what was begun', async () => {
  const file = newFile();
  const pty = await program.start({}, file);
  pty.type('first');
  pty.press('enter');
  pty.type('two');
  pty.press('alt-enter');
  pty.type('lines');
  pty.press('enter');
  await pty.sees('got "two');
  pty.paste('p1\np2');
  pty.press('enter');
  await pty.sees('got "p1');
  const next = await program.start({}, file);
  next.type('');
  next.press('up');
  await next.sees(/> p1\np2$/);
  next.press('up', 'up');
  await next.sees(/> two\nlines$/);
  next.press('up', 'up', 'up', 'up');
  await next.sees(/> first$/);
  next.press('down');
  await next.sees(/> two\nlines$/);
  next.press('ctrl-c');
  next.type('fi');
  next.press('up');
  await next.sees(/> first$/);
  next.press('down');
  await next.sees(/> fi$/);
});

it('collapses an entry that is longer than the screen', async () => {
  const file = newFile();
  openHistory(file).add('row\n'.repeat(50));
  const pty = await program.start({ rows: 20 }, file);
  pty.press('up');
  await pty.sees('> [Pasted #1: 51 lines]');
  pty.press('enter');
  await pty.sees('got "row');
});
