import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chat } from '../chat.ts';
import { nearest } from '../../core/nearest.ts';
import { live } from '../text/inert.ts';
import {
  headAndRest,
  misused,
  sending,
  waysOf,
  wrongUse,
  type After,
  type Command,
  type CommandGroup,
  type Console,
} from './command.ts';
import { lookCommands } from './look.ts';
import { promptCommands, runPrompt } from './prompts.ts';
import { sessionCommands } from './sessions.ts';
import { setupCommands } from './setup.ts';
import { talkCommands } from './talk.ts';

/** In the order in which /help lists them. */
export const commandGroups: readonly CommandGroup[] = [
  { title: 'Talk', commands: talkCommands },
  { title: 'Model and tools', commands: setupCommands },
  { title: 'Sessions', commands: sessionCommands },
  { title: 'Look', commands: lookCommands(() => commandGroups) },
];
const commands = commandGroups.flatMap((group) => group.commands);

export const commandOf = (name: string): Command | undefined =>
  commands.find((one) => one.name === name || one.aliases?.includes(name));

/** Runs a line that begins with a slash. Throws ChatError USAGE when there is no such command. */
export async function runCommand(console: Console, line: string): Promise<After> {
  const [name, given] = headAndRest(line.slice(1));
  const command = commandOf(name);
  const args = command?.sends ? given.trim() : live(given.trim());
  if (command) {
    const after = await command.run(console, args);
    if (after === misused) throw wrongUse(`/${name} ${args}: ${eitherOf(waysOf(command))} is expected.`);
    if (typeof after !== 'string') return after;
    console.terminal.print(after);
    return undefined;
  }
  if (name.includes(':')) return runPrompt(console, name, args);
  const text = fileCommand(console.chat, name, given.trim());
  if (text !== undefined) return sending(console.chat, { text });
  const names = namesOf(console);
  const near = name === '' ? undefined : (names.find((one) => one.startsWith(name)) ?? nearest(name, names));
  throw wrongUse(`There is no command /${name}${near ? `; did you mean /${near}?` : '.'} /help lists them.`);
}

/** Names of all commands, of the person's own and of the servers' prompts, for completion. */
export function namesOf({ chat }: Pick<Console, 'chat'>): string[] {
  return [...[...commands.map(({ name }) => name), ...fileCommands(chat)].sort(), ...promptCommands(chat)];
}

const eitherOf = (ways: readonly string[]): string =>
  ways.length === 1 ? `${ways[0]}` : `${ways.slice(0, -1).join(', ')} or ${ways.at(-1)}`;

const folderOf = ({ world }: Chat): string => join(world.folders.config, 'commands');

/** The names of the Markdown files in `commands/` of the configuration folder: each is a command. */
function fileCommands(chat: Chat): string[] {
  try {
    const names = readdirSync(folderOf(chat)).filter((name) => /^[\w-]+\.md$/.test(name));
    return names.map((name) => name.slice(0, -3));
  } catch {
    return []; // No such folder.
  }
}

/** The message that a command of the person's own stands for; undefined when there is none of that name. */
function fileCommand(chat: Chat, name: string, args: string): string | undefined {
  if (!fileCommands(chat).includes(name)) return undefined;
  const text = readFileSync(join(folderOf(chat), `${name}.md`), 'utf8').trim();
  if (text.includes('$ARGUMENTS')) return text.replaceAll('$ARGUMENTS', () => args);
  return args === '' ? text : `${text}\n\n${args}`;
}
