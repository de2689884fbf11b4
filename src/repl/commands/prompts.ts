import type { Chat } from '../chat.ts';
import { textOf } from '../message.ts';
import { printable } from '../terminal/printable.ts';
import type { After, Console } from './command.ts';
import { wrongUse } from './usage-error.ts';

/** The prompts of servers as commands: `server:prompt`. */
export const promptCommands = (chat: Chat): string[] =>
  chat.world.toolbox.prompts().map(({ server, name }) => `${server}:${name}`);

/** Runs `/server:prompt name=value …`; what is not given and needed is asked. */
export async function runPrompt({ chat, terminal }: Console, command: string, args: string): Promise<After> {
  const { toolbox } = chat.world;
  const prompt = toolbox.prompts().find(({ server, name }) => `${server}:${name}` === command);
  if (!prompt)
    throw wrongUse(`There is no prompt /${command}. /help lists commands; prompts are /server:name.`);
  const given = argumentsOf(
    args,
    prompt.arguments.map(({ name }) => name),
  );
  for (const { name, description, required } of prompt.arguments) {
    if (given[name] !== undefined || !required) continue;
    const said = await terminal.ask(`${printable(name)}${description ? ` (${printable(description)})` : ''}`);
    if (said === undefined) return undefined;
    given[name] = said;
  }
  const parts = await toolbox.getPrompt(prompt.server, prompt.name, given);
  return {
    next: 'send',
    text: textOf(parts),
    more: parts.filter(({ type }) => type === 'image'),
    named: '',
  };
}

/** `name=value name="two words"`; a text without any name is the first argument. */
function argumentsOf(text: string, names: readonly string[]): Record<string, string> {
  const found = [...text.matchAll(/(\w[\w-]*)=(?:"([^"]*)"|(\S+))/g)];
  const [first] = names;
  if (found.length === 0) return text === '' || first === undefined ? {} : { [first]: text };
  return Object.fromEntries(
    found.map(([, name = '', quoted, word]) => {
      if (!names.includes(name))
        throw wrongUse(`There is no argument ${name}; there are: ${names.join(', ') || 'none'}.`);
      return [name, quoted ?? word ?? ''];
    }),
  );
}
