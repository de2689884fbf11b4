import { waysOf, type Command, type Console } from './commands/command.ts';
import { commandOf, namesOf } from './commands/index.ts';
import { completePrompt } from './commands/prompts.ts';
import { completePath } from './prompt/complete-path.ts';
import type { Completion } from './terminal/line-input.ts';

/** What Tab offers: commands and their words after a slash, paths and resources after an @. */
export async function completeLine(console: Console, line: string, cursor: number): Promise<Completion> {
  const before = line.slice(0, cursor);
  const offer = (typed: string, candidates: readonly string[]): Completion => ({
    from: cursor - typed.length,
    candidates: candidates.filter((candidate) => candidate.startsWith(typed)),
  });
  if (/^\/\S*$/.test(before))
    return offer(
      before,
      namesOf(console).map((one) => `/${one}`),
    );
  const mention = /(?:^|\s)(@(?:"[^"]*|[^\s"]*))$/.exec(before)?.[1];
  if (mention !== undefined)
    return { from: cursor - mention.length, candidates: await mentioned(console, mention) };
  const [, name = '', rest = ''] = /^\/(\S+)\s+([^]*)$/.exec(before) ?? [];
  const words = rest.split(/\s+/);
  const typed = words.pop() ?? '';
  const command = commandOf(name);
  if (!command) return offer(typed, completePrompt(console, name, words));
  const candidates = command.complete ? await command.complete(console, words) : literals(command);
  return offer(typed, candidates);
}

/** The words of a usage that stand for themselves. */
const literals = (command: Command): string[] =>
  waysOf(command).flatMap((way) => /^[a-z][a-z ]*(?=$| [A-Z])/.exec(way)?.[0] ?? []);

async function mentioned({ chat }: Console, mention: string): Promise<readonly string[]> {
  const { toolbox, options } = chat.world;
  const names = toolbox.servers().map(({ name }) => name);
  const server = /^@([\w-]+):/.exec(mention)?.[1];
  const starting = (candidates: readonly string[]) => candidates.filter((each) => each.startsWith(mention));
  if (server !== undefined && names.includes(server))
    return starting((await toolbox.resources(server)).map((uri) => `@${server}:${uri}`));
  const paths = await completePath(mention, chat.roots[0] ?? options.cwd);
  return [...paths, ...(mention.length > 1 ? starting(names.map((name) => `@${name}:`)) : [])];
}
