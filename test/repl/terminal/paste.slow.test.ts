import * as fc from 'fast-check';
import { once } from 'node:events';
import { expect, it, vi } from 'vitest';
import { openPastes, pasteFilter } from '../../../src/repl/terminal/paste.ts';
import { terminalProgram } from '../support/terminal-program.ts';

const program = terminalProgram();

it('collapses a paste of several lines, and returns the whole of it', async () => {
  const pty = await program.start();
  pty.type('see ');
  pty.paste('one\r\ntwo\tcolumns\n\x1b[31mthree\x1b[0m\x07');
  await pty.sees('> see [Pasted #1: 3 lines]');
  pty.type('!');
  pty.press('enter');
  await pty.sees(String.raw`got "see one\ntwo\tcolumns\nthree!"`);
  pty.type('[Pasted #1: 4 lines]');
  pty.press('enter');
  await pty.sees('got "[Pasted #1: 4 lines]"');
  pty.press('up', 'up', 'enter');
  await pty.sees(/(got "see one.*\n[^]*){2}/);
});

it('lets a single line through, with a line end too, but never submits it', async () => {
  const pty = await program.start();
  pty.paste('echo 漢字 [Pasted #1: 2 lines]\n');
  await pty.sees('> echo 漢字 [Pasted #1: 2 lines]');
  pty.press('home');
  pty.paste('a\tb');
  await pty.sees('> [Pasted #1: 3 characters]echo');
  pty.press('backspace');
  await pty.sees('> echo');
  pty.press('enter');
  await pty.sees('got "echo 漢字 [Pasted #1: 2 lines]"');
  pty.paste('one\u2028line');
  pty.press('enter');
  await pty.sees(/got "one[^]?line"/);
});

it('does not put a paste into another one', async () => {
  const pty = await program.start();
  pty.paste('a\n[Pasted #2: 2 lines]');
  pty.paste('b\nc');
  pty.press('enter');
  await pty.sees(String.raw`got "a\n[Pasted #2: 2 lines]b\nc"`);
});

it('takes a paste while busy and at a question', async () => {
  const pty = await program.start();
  pty.type('ask');
  pty.press('enter');
  await pty.sees('thinking');
  pty.paste('early\ntext');
  pty.press('shift-tab');
  await pty.sees('Run it?');
  pty.paste('y\ny');
  await pty.sees('Run it? [Pasted #2: 2 lines]');
  pty.press('enter');
  await pty.sees(String.raw`answer "y\ny"`);
  await pty.sees('> [Pasted #1: 2 lines]');
});

it('takes a huge paste', async () => {
  const pty = await program.start();
  pty.paste('0123456789\n'.repeat(200_000));
  await pty.sees('> [Pasted #1: 200001 lines]');
  pty.press('enter');
  await pty.sees('got {"length":2200000}');
});

/** What comes out of the filter when this goes in, in chunks of these lengths. */
async function filtered(
  bytes: Buffer,
  lengths: readonly number[],
): Promise<{ typed: string; pasted: string[] }> {
  const pasted: string[] = [];
  const filter = pasteFilter((text, cut) => {
    pasted.push(text);
    return cut ? '<cut>' : '<paste>';
  });
  let typed = '';
  filter.setEncoding('utf8').on('data', (text: string) => (typed += text));
  let from = 0;
  for (const length of lengths) filter.write(bytes.subarray(from, (from += length)));
  filter.end(bytes.subarray(from));
  await once(filter, 'end');
  return { typed, pasted };
}

it('finds pastes however the input is split', async () => {
  const part = fc.constantFrom('\x1b[200~', '\x1b[201~', '\x1b', '[', '\x1b[2', 'a', '漢', '👩', '\r', '~');
  await fc.assert(
    fc.asyncProperty(fc.array(part), fc.array(fc.nat({ max: 5 })), async (parts, lengths) => {
      const bytes = Buffer.from(parts.join(''));
      expect(await filtered(bytes, lengths)).toEqual(await filtered(bytes, []));
    }),
    { numRuns: 300 },
  );
  const whole = Buffer.from('é\x1b[200~漢\r\n字\x1b[201~!');
  for (let at = 0; at <= whole.length; at++) {
    expect(await filtered(whole, [at])).toEqual({ typed: 'é<paste>!', pasted: ['漢\r\n字'] });
  }
});

it('keeps 8 MiB of a paste, and goes on after its end', async () => {
  const bytes = Buffer.from(`\x1b[200~${'x'.repeat(9 * 1024 * 1024)}\x1b[201~after`);
  const { typed, pasted } = await filtered(
    bytes,
    Array.from({ length: 9000 }, () => 1024),
  );
  expect(typed).toBe('<cut>after');
  expect(pasted[0]?.length).toBe(8 * 1024 * 1024);
  expect(openPastes().collapse('a\nb', true)).toBe('[Pasted #1: 2 lines, the rest cut off]');
});

it('holds an Escape back for a moment only', async () => {
  const filter = pasteFilter(() => '');
  filter.write(Buffer.from('\x1b'));
  expect(String((await once(filter, 'data'))[0])).toBe('\x1b');
  filter.destroy();
});

it('ends a paste whose end never comes', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const filter = pasteFilter((text) => `<${text}>`);
  filter.write(Buffer.from('\x1b[200~lost\x1b[20'));
  vi.advanceTimersByTime(5000);
  vi.useRealTimers();
  filter.write(Buffer.from('typed'));
  filter.end();
  expect((await filter.setEncoding('utf8').toArray()).join('')).toBe('<lost>typed');
});
