import type { Chat } from '../chat.ts';
import { textOf } from '../message.ts';
import { inLine } from '../terminal/printable.ts';
import { inert } from '../text/inert.ts';
import { sending, wrongUse, type After, type Console } from './command.ts';

/** The prompts of servers as commands: `server:prompt`. */
export const promptCommands = (chat: Chat): string[] =>
  chat.world.toolbox.prompts().map(({ server, name }) => `${server}:${name}`);

const promptOf = (chat: Chat, command: string) =>
  chat.world.toolbox.prompts().find(({ server, name }) => `${server}:${name}` === command);

/** What Tab offers after `/server:prompt`: the names of arguments. */
export const completePrompt = ({ chat }: Console, command: string): string[] =>
  promptOf(chat, command)?.arguments.map(({ name }) => `${name}=`) ?? [];

/** Runs `/server:prompt name=value …`; what is not given and needed is asked. */
export async function runPrompt({ chat, terminal }: Console, command: string, args: string): Promise<After> {
  // A server may still be starting.
  await chat.connected;
  const prompt = promptOf(chat, command);
  if (!prompt)
    throw wrongUse(`There is no prompt /${command}. /help lists commands; prompts are /server:name.`);
  const names = prompt.arguments.map(({ name }) => name);
  const given = argumentsOf(args, names);
  for (const { name, description, required } of prompt.arguments) {
    if (Object.hasOwn(given, name) || !required) continue;
    const line = `${prompt.server} asks: ${inLine(description ? `${name} (${description})` : name)}`;
    const said = await terminal.ask({ line, words: (value) => ({ value }) });
    if (said === undefined) return undefined;
    given[name] = said;
  }
  const parts = await chat.world.toolbox.getPrompt(prompt.server, prompt.name, given);
  const more = parts.filter(({ type }) => type === 'image');
  return sending(chat, { text: inert(textOf(parts)), more });
}

/** `name=value name="two words"`; a text without any name is the first argument. */
function argumentsOf(text: string, names: readonly string[]): Record<string, string> {
  const found = [...text.matchAll(/(\w[\w-]*)=(?:"([^"]*)"|(\S+))/g)];
  const [first] = names;
  if (found.length === 0) return text === '' || first === undefined ? {} : { [first]: text };
  const unknown = found.find(([, name = '']) => !names.includes(name))?.[1];
  if (unknown !== undefined)
    throw wrongUse(`There is no argument ${unknown}; there are: ${names.join(', ') || 'none'}.`);
  return Object.fromEntries(found.map(([, name = '', quoted, word]) => [name, quoted ?? word ?? '']));
}
