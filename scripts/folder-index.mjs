// Writes the index of a folder: src/discoverers/index.ts, every file of programs; src/tools/index.ts, every built-in tool.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Files with a default export, and each folder's file of its own name. */
export function writeProgramIndex(root) {
  const folder = join(root, 'src', 'discoverers');
  const files = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const name = entry.name.replace(/\.ts$/, '');
    if (entry.isFile()) return name === 'index' ? [] : [[name, `./${name}.ts`]];
    return existsSync(join(folder, name, `${name}.ts`)) ? [[name, `./${name}/${name}.ts`]] : [];
  });
  writeIndex(
    folder,
    files,
    `import type { AnyProgram } from '../core/grammar.ts';

type File = () => Promise<{ default: AnyProgram | readonly AnyProgram[] }>;

/** Every file of programs, loaded when one of its actions is called. Written by \`npm run build\`. */
export const discoverers = {
`,
  );
}

/** Files with a default export, by the names of their tools: edit-file.ts is edit_file. */
export function writeToolIndex(root) {
  const folder = join(root, 'src', 'tools');
  const files = ['', 'files/', 'git/'].flatMap((below) =>
    readdirSync(join(folder, below))
      .filter((name) => name.endsWith('.ts') && name !== 'index.ts')
      .map((name) => [name.replace(/\.ts$/, '').replaceAll('-', '_'), `./${below}${name}`]),
  );
  writeIndex(
    folder,
    files,
    `import type { BuiltInTool } from './define-tool.ts';

type File = () => Promise<{ default: BuiltInTool }>;

/** Every built-in tool, loaded when it is called. Written from the folder by \`npm run build\`. */
export const builtInTools = {
`,
  );
}

function writeIndex(folder, files, head) {
  const lines = files
    .filter(([, path]) => /^export default/m.test(readFileSync(join(folder, path), 'utf8')))
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, path]) => `  ${/^\w+$/.test(name) ? name : `'${name}'`}: () => import('${path}'),`);
  const text = `${head}${lines.join('\n')}\n} satisfies Record<string, File>;\n`;
  const index = join(folder, 'index.ts');
  if (!existsSync(index) || readFileSync(index, 'utf8') !== text) writeFileSync(index, text);
}
