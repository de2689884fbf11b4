import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { chatPlace, openChat } from '../support/chat.ts';
import { answer, say, think } from '../support/fake-model.ts';
import { isBack } from '../support/interrupted.ts';
import { enter } from './enter.ts';

const page = `# A \`title\`
plain **strong** *slanted* ~~gone~~ \`co*de*\` 2*3*4 snake_case_name
[a manual](https://example.org/a) <https://example.org>
- one
  * two
10. ten
- [ ] open
- [x] done

> said
>> twice

---

\`\`\`diff
+added
-removed
 **kept**
\`\`\`

| name | n |
|:-----|--:|
| 漢字 | 1 |
| **b** | 20 |

${'one two three four five six seven eight nine ten '.repeat(2).trim()}
- ${'one two three four five six seven eight nine ten '.repeat(2).trim()}
`;

const shown = `A title
plain strong slanted gone co*de* 2*3*4 snake_case_name
a manual (https://example.org/a) https://example.org
• one
  • two
10. ten
• [ ] open
• [x] done

│ said
│ │ twice

${'─'.repeat(60)}

\`\`\`diff
+added
-removed
 **kept**
\`\`\`

name │ n
─────┼───
漢字 │ 1
b    │ 20

one two three four five six seven eight nine ten one two
three four five six seven eight nine ten
• one two three four five six seven eight nine ten one two
  three four five six seven eight nine ten
`;

it('lays Markdown out within the width, the same however it is cut into pieces', async () => {
  const place = await chatPlace();
  const chat = openChat(place, ['--no-toolcrib'], { cols: 60, rows: 30 });
  for (const delta of [1, 7, 100_000]) {
    place.model.script(say(page, { delta }));
    expect((await enter(chat, `in pieces of ${delta}`)).split('\nin 10')[0]?.trimEnd()).toBe(shown.trimEnd());
  }
  // A style is one of text.
  const styles = new Set(chat.raw().match(/\x1b\[[\d;]*m/g));
  for (const style of ['\x1b[1m', '\x1b[3m', '\x1b[9m', '\x1b[33m']) expect(styles).toContain(style);
});

/** What Markdown and what terminals obey is made of, right and wrong. */
const hostile = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom('word', ' ', '\n', 'x1', '漢字', '😀') },
      fc.constantFrom('*', '**', '_', '`', '``', '```', '~~', '[', '](', ')', '\\', '!', '<', '\n\n'),
      fc.constantFrom('# ', '- ', '1. ', '> ', '[ ] ', '---', '| ', ' | ', '|---|', '    ', '\t'),
      fc.constantFrom('```diff\n', '\n```\n', '[t](http://u "v")', '**bold**', '| a | b |\n|---|:-:|\n'),
      fc.constantFrom('\x1b[2J', '\x1b]0;t\x07', '\u009b1A', '\u202e', '\b', '\r'),
    ),
    { minLength: 1, maxLength: 60 },
  )
  .map((parts) => parts.join(''));

it('loses no letter of whatever comes, moves no cursor, and obeys nothing', async () => {
  const place = await chatPlace();
  const chat = openChat(place, ['--no-toolcrib'], { cols: 100, rows: 30 });
  await enter(chat, '/thoughts on');
  /** All that was printed since a line was entered; nothing before that. */
  const since = (line: string) => chat.scrollback().split(`> ${line}\n`)[1] ?? '';
  const words = (text: string) => text.replaceAll(/[^\p{L}\p{N}]/gu, '');
  for (const [at, text] of fc.sample(hostile, 60).entries()) {
    const told: string[] = [];
    for (const delta of [1, 100_000]) {
      place.model.script(answer(think(`Hm ${text}`), say(`${at}: ${text}\nThe end.`, { delta })));
      const from = chat.raw().length;
      const line = `number ${at} by ${delta}`;
      chat.type(`${line}\r`);
      // A row of what is shown may look like a prompt: the count of tokens is the end.
      await chat.until(() => /^in 10 · out 5 /m.test(since(line)));
      await isBack(chat);
      const turn = since(line);
      told.push(turn.slice(turn.indexOf(`${at}:`)).split('\nin 10')[0] ?? '');
      const answered = chat.raw().slice(from);
      const streamed = answered.slice(answered.indexOf(`${at}:`), answered.indexOf('The end.'));
      expect(streamed.replaceAll(/\x1b\[[\d;]*m|\r\n/g, ''), JSON.stringify(text)).not.toMatch(
        /[\x00-\x08\x0b-\x1f\x7f-\x9f]/,
      );
    }
    const plain = text.replaceAll(/\x1b\[2J|\x1b\]0;t\x07|\u009b1A/g, '');
    for (const word of ['word', '漢字'])
      expect(words(told[0] ?? '').split(word).length, JSON.stringify(text)).toBeGreaterThanOrEqual(
        words(plain).split(word).length,
      );
  }
});
