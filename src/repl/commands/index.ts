import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { nearest } from '../../core/nearest.ts';
import type { Chat } from '../chat.ts';
import { table } from '../terminal/table.ts';
import { wrapped } from '../terminal/prose.ts';
import { live } from '../text/inert.ts';
import {
  headAndRest,
  misused,
  sending,
  waysOf,
  wrongUse,
  type After,
  type Command,
  type Commands,
  type Console,
} from './command.ts';
import { lookCommands } from './look.ts';
import { promptCommands, runPrompt } from './prompts.ts';
import { sessionCommands } from './sessions.ts';
import { setupCommands } from './setup.ts';
import { talkCommands } from './talk.ts';
import { toolCommands } from './tools.ts';

/** What can be typed besides. */
const keys = `Alt+Enter or a backslash at the end: another line · Tab completes · Shift+Tab changes the mode
@file, @dir/ and @server:uri bring their content along · Esc or Ctrl-C interrupts, twice leaves · lines \
typed meanwhile are queued`;

const help: Command = {
  help: 'lists the commands',
  run: ({ terminal: { width, paint } }) =>
    [
      ...Object.entries(commandGroups).flatMap(([title, commands]) => [
        paint.strong(title),
        ...table(Object.entries(commands).map(rowOf), width - 2).map((line) => `  ${line}`),
      ]),
      paint.dim(wrapped(keys, width)),
    ].join('\n'),
};

/** By the heading that /help gives them, in its order. */
export const commandGroups: Readonly<Record<string, Commands>> = {
  Talk: talkCommands,
  'Model and tools': { ...setupCommands, ...toolCommands },
  Sessions: sessionCommands,
  Look: { help, ...lookCommands },
};
const commands: Commands = Object.assign({}, ...Object.values(commandGroups));

export const commandOf = (name: string): Command | undefined =>
  Object.hasOwn(commands, name) ? commands[name] : undefined;

const rowOf = ([name, command]: [string, Command]): [string, string] => [
  `/${name} ${command.usage ?? ''}`.trim(),
  command.help,
];

/** Runs a line that begins with a slash. Throws ChatError USAGE when there is no such command. */
export async function runCommand(console: Console, line: string): Promise<After> {
  const [name, given] = headAndRest(line.slice(1));
  const command = commandOf(name);
  if (command) {
    const args = command.sends ? given.trim() : live(given.trim());
    if (command.usage === undefined && args !== '') throw wrongUse(`/${name} stands alone.`);
    const after = await command.run(console, args);
    if (after === misused)
      throw wrongUse(`/${name} ${args}: ${waysOf(command).join(' or ')} is expected; /help lists all.`);
    if (typeof after !== 'string') return after;
    console.terminal.print(after);
    return undefined;
  }
  if (name.includes(':')) return runPrompt(console, name, live(given.trim()));
  const text = fileCommand(console.chat, name, given.trim());
  if (text !== undefined) return sending(console.chat, { text });
  const near = nearest(name, namesOf(console));
  throw wrongUse(`There is no command /${name}${near ? `; did you mean /${near}?` : '.'} /help lists them.`);
}

/** Names of all commands, of the person's own and of the servers' prompts, for completion. */
export function namesOf({ chat }: Pick<Console, 'chat'>): string[] {
  return [...[...Object.keys(commands), ...fileCommands(chat)].sort(), ...promptCommands(chat)];
}

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
