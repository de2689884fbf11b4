// Writes src/discoverers/index.ts: files of that folder with a default export, and each folder's file of its own name.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function writeProgramIndex(root) {
  const folder = join(root, 'src', 'discoverers');
  const entries = readdirSync(folder, { withFileTypes: true });
  const files = entries.flatMap((entry) => {
    const name = entry.name.replace(/\.ts$/, '');
    if (entry.isFile()) return name === 'index' ? [] : [[name, `./${name}.ts`]];
    return existsSync(join(folder, name, `${name}.ts`)) ? [[name, `./${name}/${name}.ts`]] : [];
  });
  const lines = files
    .filter(([, path]) => /^export default/m.test(readFileSync(join(folder, path), 'utf8')))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, path]) => `  ${/^\w+$/.test(name) ? name : `'${name}'`}: () => import('${path}'),`);
  const text = `import type { AnyProgram } from '../core/grammar.ts';

type File = () => Promise<{ default: AnyProgram | readonly AnyProgram[] }>;

/** Every file of programs, loaded when one of its actions is called. Written from the folder by \`npm run build\`. */
export const discoverers = {
${lines.join('\n')}
} satisfies Record<string, File>;
`;
  const index = join(folder, 'index.ts');
  if (!existsSync(index) || readFileSync(index, 'utf8') !== text) writeFileSync(index, text);
}
