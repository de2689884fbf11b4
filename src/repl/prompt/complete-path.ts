import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { absolute } from './attachments.ts';

/** More are no help. */
const most = 200;

/**
 * What a beginning such as `@src/re` or `@"my fi` can become: whole mentions, quoted where they have to be. A
 * folder ends with `/`, and is left open to go on. Names that cannot be written as a mention are left out.
 */
export async function completePath(fragment: string, cwd: string): Promise<string[]> {
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
