import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { CompleterResult } from 'node:readline';
import { waysOf, type SlashCommand, type CommandContext } from './commands/command.ts';
import { commands, namesOf, promptOf } from './commands/index.ts';
import { absolute } from './prompt/attachments.ts';

/** Completes a line: commands and their words after a slash, paths and resources after an @. */
export async function completeLine(context: CommandContext, line: string): Promise<CompleterResult> {
  const offer = (typed: string, candidates: readonly string[]): CompleterResult => [
    candidates.filter((candidate) => candidate.startsWith(typed)),
    typed,
  ];
  if (/^\/\S*$/.test(line)) {
    const names = namesOf(context.chat).map((one) => `/${one}`);
    return offer(line, names);
  }
  const mention = /(?:^|\s)(@(?:"[^"]*|[^\s"]*))$/.exec(line)?.[1];
  if (mention !== undefined) return [await mentioned(context, mention), mention];
  const [, name = '', rest = ''] = /^\/(\S+)\s+([^]*)$/.exec(line) ?? [];
  const words = rest.split(/\s+/);
  const typed = words.pop() ?? '';
  const command = commands.get(name);
  if (!command) {
    const wanted = promptOf(context.chat, name)?.arguments ?? [];
    return offer(
      typed,
      wanted.map((one) => `${one.name}=`),
    );
  }
  const more = (await command.complete?.(context, words)) ?? [];
  return offer(typed, words.length === 0 ? [...literals(command), ...more] : more);
}

/** The words of a usage that stand for themselves. */
const literals = (command: SlashCommand): string[] =>
  waysOf(command).flatMap((way) => /^[a-z-][a-z ]*(?=$| [A-Z[])/.exec(way)?.[0] ?? []);

async function mentioned({ chat }: CommandContext, mention: string): Promise<string[]> {
  const { toolbox } = chat.environment;
  const names = toolbox.servers().map(({ name }) => name);
  const server = /^@([\w-]+):/.exec(mention)?.[1];
  const starting = (candidates: readonly string[]) => candidates.filter((each) => each.startsWith(mention));
  if (server !== undefined && names.includes(server))
    return starting((await toolbox.server(server).resources()).map((uri) => `@${server}:${uri}`));
  const paths = await completePath(mention, chat.folder);
  return [...paths, ...(mention.length > 1 ? starting(names.map((name) => `@${name}:`)) : [])];
}

/** More are no help. */
const most = 200;

/**
 * Completes a beginning such as `@src/re` or `@"my fi` can become: whole mentions, quoted where they have to
 * be. A folder ends with `/`, and is left open to go on. Names that cannot be written as a mention are left
 * out.
 */
async function completePath(fragment: string, cwd: string): Promise<string[]> {
  const [, quote = '', typed = ''] = /^@?("?)(.*)$/s.exec(fragment) ?? [];
  const [, folder = '', beginning = ''] = /^(.*[/\\])?(.*)$/s.exec(typed) ?? [];
  const names = await readdir(absolute(folder || '.', cwd)).catch(() => []);
  const visible = names.filter((name) => beginning.startsWith('.') || !name.startsWith('.'));
  const some = visible
    .filter((name) => name.startsWith(beginning) && !/["\p{Cc}]/u.test(folder + name))
    .sort()
    .slice(0, most);
  return Promise.all(
    some.map(async (name) => {
      const facts = await stat(join(absolute(folder || '.', cwd), name)).catch(() => undefined);
      const path = `${folder}${name}${facts?.isDirectory() === true ? '/' : ''}`;
      if (quote === '' && !/[\s@]/.test(path)) return `@${path}`;
      return `@"${path}${path.endsWith('/') ? '' : '"'}`;
    }),
  );
}
