import type { After, CommandGroup, Console } from './command.ts';
import { agentCommand } from './agent.ts';
import { againCommands, branchCommands } from './branches.ts';
import { contextCommands, statusCommand } from './context.ts';
import { helpCommand } from './help.ts';
import { hooksCommand } from './hooks.ts';
import { mcpCommand } from './mcp.ts';
import { modeCommands } from './mode.ts';
import { modelCommand } from './model.ts';
import { profileCommand } from './profile.ts';
import { promptCommands, runPrompt } from './prompts.ts';
import { queueCommands } from './queue.ts';
import { rootsCommand } from './roots.ts';
import { sessionCommands } from './sessions.ts';
import { shownCommands } from './shown.ts';
import { systemCommand } from './system.ts';
import { todoCommand } from './todo.ts';
import { toolsCommand } from './tools.ts';
import { live } from '../text/inert.ts';
import { nearest } from '../config/nearest.ts';
import { wrongUse } from './usage-error.ts';

/** In the order in which /help lists them. */
export const commandGroups: readonly CommandGroup[] = [
  {
    title: 'Talk',
    commands: [
      ...againCommands,
      ...modeCommands,
      todoCommand,
      agentCommand,
      ...queueCommands,
      {
        name: 'exit',
        aliases: ['quit', 'q'],
        help: 'leaves; the session is kept',
        run: () => ({ next: 'leave' }),
      },
    ],
  },
  {
    title: 'Model and tools',
    commands: [
      modelCommand,
      toolsCommand,
      mcpCommand,
      rootsCommand,
      systemCommand,
      profileCommand,
      hooksCommand,
    ],
  },
  { title: 'Sessions', commands: [...contextCommands, ...sessionCommands, ...branchCommands] },
  { title: 'Look', commands: [helpCommand(() => commandGroups), statusCommand, ...shownCommands] },
];

export const commands = commandGroups.flatMap((group) => group.commands);

/** Runs a line that begins with a slash. Throws ChatError USAGE when there is no such command. */
export async function runCommand(console: Console, line: string): Promise<After> {
  const [, name = '', args = ''] = /^\/(\S*)\s*([^]*)$/.exec(line) ?? [];
  const command = commands.find((one) => one.name === name || one.aliases?.includes(name));
  if (command) return command.run(console, command.sends ? args.trim() : live(args.trim()));
  if (name.includes(':')) return runPrompt(console, name, live(args.trim()));
  const names = namesOf(console);
  const near = name === '' ? undefined : (names.find((one) => one.startsWith(name)) ?? nearest(name, names));
  throw wrongUse(`There is no command /${name}${near ? `; did you mean /${near}?` : '.'} /help lists them.`);
}

/** Names of all commands and of the servers' prompts, for completion: in the order of the alphabet. */
export function namesOf(console: Pick<Console, 'chat'>): string[] {
  return [...commands.map(({ name }) => name).sort(), ...promptCommands(console.chat)];
}
