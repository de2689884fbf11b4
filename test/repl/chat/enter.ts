import type { Pty } from '../support/pty.ts';

const prompt = /\n(?:plan |auto |yolo )?>$/;

/** Types a line, waits until the prompt is there again, and returns what was printed in between. */
export async function enter(chat: Pty, line: string): Promise<string> {
  await chat.until(() => prompt.test(chat.scrollback()));
  // A line typed twice is there twice; output that comes by itself may stand before it.
  const parts = () => chat.scrollback().split(`> ${line.trimEnd()}\n`);
  const before = parts().length;
  chat.type(line);
  chat.press('enter');
  await chat.until(() => parts().length > before && prompt.test(`\n${parts().at(-1)}`));
  return `\n${parts().at(-1)}`.replace(prompt, '').trimStart();
}
