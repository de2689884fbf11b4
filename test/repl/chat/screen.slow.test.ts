import { expect, it } from 'vitest';
import { chatPlace, openChat, runChat } from '../support/chat.ts';
import { answer, call, gate, say, think, wait } from '../support/fake-model.ts';
import { enter } from './enter.ts';

it('keeps to a narrow screen: words, what is queued, the tree, tools, help and questions', async () => {
  const place = await chatPlace();
  const chat = openChat(place, [], { cols: 50, rows: 30 });
  await chat.sees('/help');
  // One paragraph of many words: the model sends no line end until what was typed has been told of.
  const gates = Array.from({ length: 60 }, gate);
  place.model.script(
    answer(
      say('- It'),
      ...gates.flatMap((next) => [wait(next.opened), say(' goes on')]),
      say(' to its end.'),
    ),
  );
  chat.type('tell me\r');
  await chat.sees('• It');
  chat.type('/tree\r');
  const told = () => chat.scrollback().includes('queued: /tree');
  for (const [at, next] of gates.entries()) {
    next.open();
    await chat.until(() => told() || chat.scrollback().split('goes').length > at);
  }
  await chat.sees(/^• It goes .*\n(?: {2}\S.*\n)*queued: \/tree\n(?: {2}\S.*\n)* {2}.*end\.$/m);
  expect(chat.raw().indexOf('queued')).toBeLessThan(chat.raw().indexOf('to its'));
  place.model.script(say(`Here ${'it is, and '.repeat(20)}`));
  await enter(chat, 'more');
  expect(await enter(chat, '/tree')).toMatch(
    /^\w+ you: tell me\n {2}\w+ answer: - It goes.*…\n {2}\w+ you: more\n\* \w+ answer: Here it is.*…$/,
  );
  expect(await enter(chat, '/tools')).toMatch(/^toolcrib: \d+ tools\n {2}\w/m);
  const help = await enter(chat, '/help');
  expect(help).toContain('interrupts, twice leaves');
  // A long usage goes on below itself, and leaves the help its room.
  expect(help).toMatch(/^ {2}\/system \[show \|.*\S.*\n {2}\S+.*\] +\S/m);
  place.model.script(call('mcp__toolcrib__write_file', { path: 'a.txt', content: 'x\n' }), say('Well.'));
  chat.type('write\r');
  await chat.sees(/It changes something\.\n[^]*always,\s+or\s+say\s+what\s+to\s+do\s+instead$/);
  chat.type('n\r');
  await chat.sees('Well.');
  // A path has no blanks at which it could be broken.
  const rows = chat.scrollback().split('\n');
  for (const row of rows) if (!row.startsWith('  in /')) expect(row.length, row).toBeLessThanOrEqual(50);
});

it('writes nothing but answers and what commands print to a pipe, as it came; notes go to standard error', async () => {
  const place = await chatPlace();
  place.model.script(
    call('mcp__toolcrib__list_files', { path: '.' }),
    answer(think('Hm.'), say('**Well.**')),
  );
  const { code, stdout, stderr } = await runChat(place, [], 'list\n/name First\n/nope\n');
  expect({ code, stdout }).toEqual({ code: 0, stdout: '**Well.**\nFirst\n' });
  expect(stderr).toMatch(/● list_files.*\n {2}└ .*\nthought.*: Hm\.\nin \d.*\nUSAGE: There is no command/);
});
