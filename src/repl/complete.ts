import type { Console } from './commands/command.ts';
import { commands, namesOf } from './commands/index.ts';
import { completePrompt } from './commands/prompts.ts';
import { completePath } from './prompt/complete-path.ts';
import type { Completion } from './terminal/line-input.ts';

/** What Tab offers: commands and their words after a slash, paths and resources after an @. */
export async function completeLine(console: Console, line: string, cursor: number): Promise<Completion> {
  const before = line.slice(0, cursor);
  const [, name] = /^\/(\S*)$/.exec(before) ?? [];
  if (name !== undefined)
    return {
      from: 0,
      candidates: starting(
        `/${name}`,
        namesOf(console).map((one) => `/${one}`),
      ),
    };
  const mention = /(?:^|\s)(@(?:"[^"]*|[^\s"]*))$/.exec(before)?.[1];
  if (mention !== undefined) return mentioned(console, mention, cursor);
  const [, own, rest = ''] = /^\/(\S+)\s+([^]*)$/.exec(before) ?? [];
  const command = commands.find((one) => one.name === own || one.aliases?.includes(own ?? ''));
  const words = rest.split(/\s+/);
  const typed = words.pop() ?? '';
  const candidates = command
    ? ((await command.complete?.(console, words)) ?? [])
    : await completePrompt(console, own ?? '', { before: words, typed });
  return { from: cursor - typed.length, candidates: starting(typed, candidates) };
}

async function mentioned({ chat }: Console, mention: string, cursor: number): Promise<Completion> {
  const from = cursor - mention.length;
  const { toolbox, options } = chat.world;
  const server = /^@([\w-]+):/.exec(mention)?.[1];
  if (server !== undefined && toolbox.servers().some(({ name }) => name === server)) {
    const found = await toolbox.resources(server);
    return {
      from,
      candidates: starting(
        mention,
        found.map((uri) => `@${server}:${uri}`),
      ),
    };
  }
  const servers = toolbox.servers().map(({ name }) => `@${name}:`);
  const paths = await completePath(mention, chat.roots[0] ?? options.cwd);
  return { from, candidates: [...paths, ...(mention.length > 1 ? starting(mention, servers) : [])] };
}

const starting = (typed: string, candidates: readonly string[]): string[] =>
  candidates.filter((candidate) => candidate.startsWith(typed));
