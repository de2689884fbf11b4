import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Catalogue } from '../../machine/catalogue.ts';

/**
 * The system's own programs that print what they read or are given, or make what is empty, whatever their
 * options.
 */
const printing: ReadonlySet<string> = new Set(
  (
    'basename cat cmp cut dirname du echo egrep false fgrep grep head ls mkdir nl pwd realpath sleep stat tail touch ' +
    'tr true wc'
  ).split(' '),
);
/** Those with options or operands that write, delete or start something: how their lines look that do not. */
const printingLines: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'find',
    [
      String.raw`^(?:[^-\s(!]\S*(?: |$))*(?:(?:-(?:i?name|i?path|type|maxdepth|mindepth|mtime|mmin|newer|size) \S+` +
        String.raw`|-(?:empty|not|o|a|print)|[!()])(?: |$))*$`,
    ],
  ],
  ['sed', [String.raw`^-n \d+(?:,(?:\d+|\$))?p(?: [^-\s]\S*)*$`]],
  ['sort', [String.raw`^(?:(?:-[bcdfghimnrsuzMRV]+|-k[\w.,]+|-t\S?|[^-\s]\S*)(?: |$))*$`]],
  ['uniq', [String.raw`^(?:-[cdiuzD]+(?: |$))*$`]],
]);
/** What a runtime is given to run. */
const aFile = String.raw`^(?<file>[^-]\S*)`;

const nameOf = (program: string): string => basename(program).replace(/\.(?:exe|cmd|bat)$/i, '');

/** Of these, the ones that look into a whole folder where none is named. */
export const walksFolders = (program: string): boolean => /^(?:du|find|ls|[ef]?grep)$/.test(nameOf(program));

/** Of these, the ones that make what is empty. */
export const makesEmpty = (program: string): boolean => /^(?:mkdir|touch)$/.test(nameOf(program));

/**
 * Whether a program only prints, or makes what is empty: in a folder that is trusted, that is everyday work.
 */
export const isPrinting = (program: string): boolean =>
  printing.has(nameOf(program)) || printingLines.has(nameOf(program));

/**
 * Whether a command line is everyday work of a project, so that trust in its folder is all it needs: it runs
 * code that lies there, builds or checks it, or does what the program's own data calls everyday. `isOwn`: the
 * program lies in the project.
 */
export function isEveryday(
  [program = '', ...args]: readonly string[],
  isOwn: boolean,
  { programs }: Pick<Catalogue, 'programs'>,
  folder: string,
): boolean {
  const name = nameOf(program);
  if (printing.has(name)) return true;
  const lines = [
    ...programs.flatMap(({ everyday }) => everyday?.[name] ?? []),
    ...(printingLines.get(name) ?? []),
  ];
  const categories = programs.filter(({ called }) => called.includes(name)).map(({ category }) => category);
  if (lines.length === 0 && categories.includes('runtime')) lines.push(aFile);
  // Node runs `--import=data:…`, however it is written, and who loads a module by its address does so too.
  const isCode = args.some((arg) => /data:/i.test(arg.replaceAll(/[\t\r\n]/g, '')));
  if (lines.length === 0) return !isCode && (categories.includes('build') || isOwn);
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
