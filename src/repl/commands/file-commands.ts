import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Chat } from '../chat.ts';

const folderOf = ({ world }: Chat): string => join(world.folders.config, 'commands');

/** The names of the Markdown files in `commands/` of the configuration folder: each is a command. */
export function fileCommands(chat: Chat): string[] {
  try {
    const names = readdirSync(folderOf(chat)).filter((name) => /^[\w-]+\.md$/.test(name));
    return names.map((name) => name.slice(0, -3));
  } catch {
    return []; // No such folder.
  }
}

/** The message that a command of the person's own stands for; undefined when there is none of that name. */
export function runFileCommand(chat: Chat, name: string, args: string): string | undefined {
  if (!fileCommands(chat).includes(name)) return undefined;
  const text = readFileSync(join(folderOf(chat), `${name}.md`), 'utf8').trim();
  if (text.includes('$ARGUMENTS')) return text.replaceAll('$ARGUMENTS', () => args);
  return args === '' ? text : `${text}\n\n${args}`;
}
