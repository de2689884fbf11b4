import { nearest } from '../config/nearest.ts';
import { live } from '../text/inert.ts';
import { wrongUse, type After, type Console } from './command.ts';
import { fileCommands, runFileCommand } from './file-commands.ts';
import { lookCommands, type CommandGroup } from './look.ts';
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
export const commands = commandGroups.flatMap((group) => group.commands);

/** Runs a line that begins with a slash. Throws ChatError USAGE when there is no such command. */
export async function runCommand(console: Console, line: string): Promise<After> {
  const [, name = '', args = ''] = /^\/(\S*)\s*([^]*)$/.exec(line) ?? [];
  const command = commands.find((one) => one.name === name || one.aliases?.includes(name));
  if (command) {
    const after = await command.run(console, command.sends ? args.trim() : live(args.trim()));
    if (typeof after !== 'string') return after;
    console.terminal.print(after);
    return undefined;
  }
  if (name.includes(':')) return runPrompt(console, name, live(args.trim()));
  const text = runFileCommand(console.chat, name, args.trim());
  if (text !== undefined) return { next: 'send', text };
  const names = namesOf(console);
  const near = name === '' ? undefined : (names.find((one) => one.startsWith(name)) ?? nearest(name, names));
  throw wrongUse(`There is no command /${name}${near ? `; did you mean /${near}?` : '.'} /help lists them.`);
}

/** Names of all commands, of the person's own and of the servers' prompts, for completion. */
export function namesOf({ chat }: Pick<Console, 'chat'>): string[] {
  return [...[...commands.map(({ name }) => name), ...fileCommands(chat)].sort(), ...promptCommands(chat)];
}
