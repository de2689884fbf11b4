import { createHash } from 'node:crypto';
import { globMatches } from '../text/glob.ts';

/** The shortest limit of the model wires (OpenAI: `^[a-zA-Z0-9_-]{1,64}$`). */
const mostCharacters = 64;
/** Eight hexadecimal digits keep any number of tools apart that a person could have. */
const suffixLength = 8;

/**
 * `mcp__server__tool`, as a model sees it. It depends on nothing but the two names, so it is the same in every run:
 * what had to be changed or cut, and a server name that could be read two ways (`a__b`, `a_`), gets a hash of both.
 */
export function toolName(server: string, tool: string): string {
  const wanted = `mcp__${server}__${tool}`;
  const clean = wanted.replaceAll(/[^A-Za-z0-9_-]/g, '_');
  if (clean === wanted && wanted.length <= mostCharacters && !/__|_$/.test(server)) return wanted;
  const suffix = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex');
  return `${clean.slice(0, mostCharacters - suffixLength - 1)}_${suffix.slice(0, suffixLength)}`;
}

/** Whether a server's tool is wanted: `*` stands for any characters, `!` excludes, the last glob that fits decides. */
export function isWanted(tool: string, globs: readonly string[] | undefined): boolean {
  if (globs === undefined || globs.length === 0) return true;
  const last = globs.findLast((glob) => globMatches(glob.replace(/^!/, ''), tool));
  return last === undefined ? globs.every((glob) => glob.startsWith('!')) : !last.startsWith('!');
}
