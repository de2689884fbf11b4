import { existsSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { Catalogue } from '../../machine/catalogue.ts';

/** Programs of the system that only print, or make empty files and folders, whatever their options. */
const printingPrograms: ReadonlySet<string> = new Set(
  (
    'basename cat cmp cut dirname du echo egrep false fgrep grep head ls mkdir nl pwd realpath sleep ' +
    'stat tail touch tr true wc'
  ).split(' '),
);
/** Programs of which only some lines print and do nothing else: the patterns of those lines. */
const printingPatterns: ReadonlyMap<string, readonly string[]> = new Map([
  [
    'find',
    [
      String.raw`^(?:[^-\s(!]\S*(?: |$))*` +
        String.raw`(?:(?:-(?:i?name|i?path|type|maxdepth|mindepth|mtime|mmin|newer|size) \S+` +
        String.raw`|-(?:empty|not|o|a|print)|[!()])(?: |$))*$`,
    ],
  ],
  ['sed', [String.raw`^-n \d+(?:,(?:\d+|\$))?p(?: [^-\s]\S*)*$`]],
  ['sort', [String.raw`^(?:(?:-[bcdfghimnrsuzMRV]+|-k[\w.,]+|-t\S?|[^-\s]\S*)(?: |$))*$`]],
  ['uniq', [String.raw`^(?:-[cdiuzD]+(?: |$))*$`]],
]);
/** The arguments of a runtime that begin with a file to run. */
const filePattern = String.raw`^(?<file>[^-]\S*)`;

/** Says whether a program that prints reads a whole folder when its line names none. */
export const walksFolders = (program: string): boolean => /^(?:du|find|ls|[ef]?grep)$/.test(nameOf(program));

/** Says whether a program makes empty files or folders. */
export const makesEmpty = (program: string): boolean => /^(?:mkdir|touch)$/.test(nameOf(program));

/** Says whether a program has lines that only print or make something empty. */
export const isPrinting = (program: string): boolean =>
  printingPrograms.has(nameOf(program)) || printingPatterns.has(nameOf(program));

/**
 * Says whether a command line is everyday work, for which trust in the folder is enough: it runs code of the
 * project, builds or checks it, only prints, or matches a pattern that the program declares as everyday.
 * `isOwn` is true for a program of the project itself.
 */
export function isEveryday(
  [program = '', ...args]: readonly string[],
  isOwn: boolean,
  { programs }: Pick<Catalogue, 'programs'>,
  folder: string,
): boolean {
  const name = nameOf(program);
  if (printingPrograms.has(name)) return true;
  const patterns = [
    ...programs.flatMap(({ everyday }) => everyday?.[name] ?? []),
    ...(printingPatterns.get(name) ?? []),
  ];
  const categories = programs.filter(({ called }) => called.includes(name)).map(({ category }) => category);
  if (patterns.length === 0 && categories.includes('runtime')) patterns.push(filePattern);
  // Node runs code in `--import=data:…`, however it is written, and so does whatever loads modules by
  // address.
  const isCode = args.some((arg) => /data:/i.test(arg.replaceAll(/[\t\r\n]/g, '')));
  if (patterns.length === 0) return !isCode && (categories.includes('build') || isOwn);
  // An argument with a space in it must not look like two arguments.
  const words = args.map((arg) => arg.replaceAll(' ', '\0'));
  return patterns.some((pattern) => {
    const match = new RegExp(pattern).exec(words.join(' '));
    const { file, module, line: innerLine } = match?.groups ?? {};
    if (file !== undefined) return existsSync(resolve(folder, file));
    if (module !== undefined) return isModule(module, folder);
    if (innerLine !== undefined) return isEveryday(innerLine.split(' '), false, { programs }, folder);
    return match !== null;
  });
}

/** Says whether a module of Python is a file of the project. */
function isModule(module: string, folder: string): boolean {
  const path = module.replaceAll('.', '/');
  const files = [`${path}.py`, `${path}/__main__.py`];
  return files.some((file) => existsSync(resolve(folder, file)) || existsSync(resolve(folder, 'src', file)));
}

const nameOf = (program: string): string => basename(program).replace(/\.(?:exe|cmd|bat)$/i, '');
