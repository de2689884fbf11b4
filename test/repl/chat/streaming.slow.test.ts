import { expect, it } from 'vitest';
import { chatPlace, leave, openChat } from '../support/chat.ts';
import { answer, gate, say, wait } from '../support/fake-model.ts';
import { enter } from '../support/served.ts';

const part = `## A heading

Some **bold** and \`code\` and a [link](https://example.org), and a line that goes on for so long that no window is wide enough for it.

- one
  - two, with 漢字 and an emoji 👩‍💻
1. ~~three~~

\`\`\`js
const a = 1; // ${'and so on '.repeat(12)}
\`\`\`

| a | b |
|---|---|
| 1 | 2 |

> said

---

`;

/** All that a terminal was sent, but what only colours text. */
const uncoloured = (raw: string): string => raw.replaceAll(/\x1b\[[\d;]*m/g, '').replaceAll('\r\n', '\n');

it.each([
  ['chat', 200_000],
  ['responses', 20_000],
  ['anthropic', 20_000],
] as const)('shows what streams at once, and never draws it again: %s', async (wire, size) => {
  const place = await chatPlace({ wire });
  const chat = openChat(place);
  await chat.sees('/help');
  const [word, line, long] = [gate(), gate(), gate()];
  place.model.script(
    answer(
      say('Only half'),
      wait(word.opened),
      say(' a **line**\nand'),
      wait(line.opened),
      say(' its end.\n\n'),
      wait(long.opened),
      say(part.repeat(Math.ceil(size / part.length))),
      say('The very end.'),
      { delta: 40 },
    ),
  );
  enter(chat, 'go');
  // No line end has been sent yet, and the answer is far from complete.
  await chat.sees('Only half');
  const from = chat.raw().indexOf('Only');
  word.open();
  await chat.sees('Only half a line\nand');
  line.open();
  await chat.sees('and its end.');
  long.open();
  await chat.sees('The very end.');
  const streamed = chat.raw().slice(from, chat.raw().lastIndexOf('The very end.'));
  expect(streamed.length).toBeGreaterThan(size / 2);
  expect(uncoloured(streamed).match(/[\x00-\x09\x0b-\x1f\x7f][^]{0,20}/g) ?? []).toEqual([]);
  await leave(chat);
});
