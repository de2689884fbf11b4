import type { After, Command, Console } from './command.ts';
import { agentCommand } from './agent.ts';
import { branchCommands } from './branches.ts';
import { contextCommands } from './context.ts';
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
import { wrongUse } from './usage-error.ts';

/** Every command, in the order in which /help lists them. */
export const commands: readonly Command[] = [
  helpCommand(() => commands),
  modelCommand,
  toolsCommand,
  mcpCommand,
  ...modeCommands,
  ...contextCommands,
  ...sessionCommands,
  ...branchCommands,
  ...shownCommands,
  todoCommand,
  rootsCommand,
  systemCommand,
  profileCommand,
  agentCommand,
  hooksCommand,
  ...queueCommands,
  {
    name: 'exit',
    aliases: ['quit', 'q'],
    help: 'leaves; the session is kept',
    run: () => ({ next: 'leave' }),
  },
];

/** Runs a line that begins with a slash. Throws ChatError USAGE when there is no such command. */
export async function runCommand(console: Console, line: string): Promise<After> {
  const [, name = '', args = ''] = /^\/(\S*)\s*([^]*)$/.exec(line) ?? [];
  const command = commands.find((one) => one.name === name || one.aliases?.includes(name));
  if (command) return command.run(console, args.trim());
  if (name.includes(':')) return runPrompt(console, name, args.trim());
  const near = namesOf(console).find((one) => one.startsWith(name) && name !== '');
  throw wrongUse(`There is no command /${name}${near ? `; did you mean /${near}?` : '.'} /help lists them.`);
}

/** Names of all commands and of the servers' prompts, for completion. */
export function namesOf(console: Pick<Console, 'chat'>): string[] {
  return [...commands.map(({ name }) => name), ...promptCommands(console.chat)];
}
