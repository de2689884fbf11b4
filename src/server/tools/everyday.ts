import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Manifest } from '../published.ts';
import { runsWhatItIsGiven } from './lasting-prefix.ts';

/** Of the system's own programs those that can make what is empty, and change nothing that is there. */
const makesEmpty = ['mkdir', 'touch'];
/** What a runtime is given to run. */
const aFile = String.raw`^(?<file>[^-]\S*)`;

/**
 * Whether a command line is everyday work of a project, so that trust in its folder is all it needs: it runs code that
 * lies there, builds or checks it, or does what the program's own data calls everyday. `isOwn`: the program lies in the
 * project.
 */
export function isEveryday(
  [program = '', ...args]: readonly string[],
  isOwn: boolean,
  { programs }: Pick<Manifest, 'programs'>,
  folder: string,
): boolean {
  const name = basename(program).replace(/\.(?:exe|cmd|bat)$/i, '');
  if (makesEmpty.includes(name)) return true;
  const lines = programs.flatMap(({ everyday }) => everyday?.[name] ?? []);
  const categories = programs.filter(({ called }) => called.includes(name)).map(({ category }) => category);
  if (lines.length === 0 && categories.includes('runtime')) lines.push(aFile);
  // Node runs `--import=data:…`, however it is written, and who loads a module by its address does so too.
  const isCode = args.some((arg) => /data:/i.test(arg.replaceAll(/[\t\r\n]/g, '')));
  if (lines.length === 0)
    return !isCode && (categories.includes('build') || (isOwn && !runsWhatItIsGiven(name)));
  // A word with a space in it is none of those that a line is known by.
  const words = args.map((arg) => arg.replaceAll(' ', '\0'));
  return lines.some((line) => {
    const found = new RegExp(line).exec(words.join(' '));
    const { file, module, line: further } = found?.groups ?? {};
    if (file !== undefined) return existsSync(resolve(folder, file));
    if (module !== undefined) return isModule(module, folder);
    if (further !== undefined) return isEveryday(further.split(' '), false, { programs }, folder);
    return found !== null;
  });
}

/** Whether a module of Python is a file of the project. */
function isModule(module: string, folder: string): boolean {
  const path = module.replaceAll('.', '/');
  const places = [`${path}.py`, `${path}/__main__.py`];
  return places.some(
    (place) => existsSync(resolve(folder, place)) || existsSync(resolve(folder, 'src', place)),
  );
}
