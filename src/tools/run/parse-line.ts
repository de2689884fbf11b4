import { printable } from '../../core/command-line.ts';
import { ToolcribError } from '../../core/errors.ts';

/** One program of a line. */
export interface LineProgram {
  /** Its name or path, and its arguments. */
  readonly argv: readonly [string, ...string[]];
  /** What stands before it: `NODE_ENV=test`. */
  readonly variables: Readonly<Record<string, string>>;
  /** `2>&1`: what it complains goes where its output goes. */
  readonly joinsErrors: boolean;
}

/** `cd web && npm ci && npm test 2>&1 | tail -5`. */
export interface ParsedLine {
  /** Where it begins. */
  readonly folder?: string;
  /** Pipes of programs, one after another until one fails. */
  readonly pipes: readonly (readonly LineProgram[])[];
}

interface Token {
  readonly type: 'word' | '|' | '&&' | '2>&1';
  readonly text: string;
  /** As it is written. */
  readonly raw: string;
  readonly at: number;
  /** A word that begins with `NAME=`. */
  readonly assigns: boolean;
}

/** All of a pipe run at once. */
const mostPrograms = 16;
const leadingFolder = 'write it first, with one folder (cd web && npm test), or give cwd';
/** What shells know and this does not, with the way to the same. */
const refusals: readonly (readonly [token: RegExp, way: string])[] = [
  [/\|\|/y, 'make two calls: the exit code is told'],
  [/\|&/y, 'write 2>&1 |'],
  [/;/y, 'join with && what is to stop at a failure, or make two calls'],
  [/&>>?|\d*>>?&?/y, 'leave it out: all output is kept for read_output, and write_file writes files'],
  [/&/y, 'leave it out, and give background: true'],
  [/\d*<(?:<<?|\()?/y, 'give the text as the parameter input'],
  [/\$\(|`/y, 'run that first, and write what it says in its place'],
  [/\$\{?\w*/y, 'write the value, as variables are not filled in; or put it into single quotes'],
  [/[*?[]/y, 'quote it if it is meant as it is; list_files finds names; args takes words as they are'],
  [/[{}]/y, 'write each word out, or quote it'],
  [/[()]/y, 'make another call, or quote it'],
  [/~/y, 'write the path out, or quote it'],
  [/[#!]/y, 'quote it'],
  [/["']/y, 'close the quote'],
  [/\\/y, 'put the word into single quotes'],
  [/[\r\n]+/y, 'write one line: && joins programs; a line break within quotes is kept'],
];
/** Words that only a shell runs. */
const shellWords: ReadonlyMap<string, string> = new Map([
  ['export', 'write NAME=value before the program'],
  ['source', 'name the program by its path: .venv/bin/python'],
  ['.', 'name the program by its path: .venv/bin/python'],
  ...'alias case eval exec for function if set unset until while'
    .split(' ')
    .map((word) => [word, 'there is no shell: write the programs themselves'] as const),
]);

/** What words are made of: how it is written, and what it stands for. */
const pieces: readonly (readonly [RegExp, (found: RegExpExecArray) => string])[] = [
  [/[^\p{Z}\p{C}'"\\$`;&|<>(){}*?[~#!]+/uy, ([whole]) => whole],
  [/'([^']*)'/y, ([, text = '']) => text],
  [
    /"((?:[^"\\$`]|\\[^]|\$(?![\w({@*#?$!-]))*)"/y,
    ([, text = '']) => text.replaceAll(/\\(?:\n|([$`"\\]))/g, (_escape, char = '') => char),
  ],
  // Before a letter it is a path of Windows rather than an escape, which would take it away.
  [/\\(?:\r?\n|([^A-Za-z0-9]))/uy, ([, char = '']) => char],
  // Git's `stash@{0}`, xargs' `{}`, a dollar that names nothing, and what means something at the start of a
  // word only.
  [/\{[\w-]*\}|\$(?![\w({@*#?$!'"-])|(?<=[^ \t|&])[#!]|(?<=[^ \t|&=:])~|!(?=[^\s|&])/y, ([whole]) => whole],
];
const blanks = /(?:[ \t]|\\\r?\n|[\r\n]+$)*/y;
const operators = /&&|\|(?![|&])|2>&1(?=[\s|&]|$)/y;
const endOfWord = /[ \t]|[\r\n]+$|&&|\|(?![|&])/y;
const assignment = /[A-Za-z_]\w*=/y;

/**
 * Reads a command line of a small grammar: words with quotes and escapes as POSIX has them, `NAME=value`
 * before a program, `cd FOLDER &&` first, `|`, `&&`, `2>&1`. Throws ARG_INVALID for all else, naming the
 * token, its place and the way to the same: nothing is guessed.
 */
export function parseLine(line: string): ParsedLine {
  if (line.includes('\0') || !line.isWellFormed())
    throw new ToolcribError('ARG_INVALID', 'command: holds NUL, or half a character.', 'Leave it out.');
  const tokens = tokensIn(line);
  const [first] = tokens;
  if (!first) throw new ToolcribError('ARG_INVALID', 'command: is empty.', 'Give a program: git status');
  for (const [at, { type, text, at: place }] of tokens.entries()) {
    const next = tokens[at + 1]?.type;
    const isBare = at === 0 || next === undefined || next === '|' || next === '&&';
    if ((type === '|' || type === '&&') && isBare)
      throw refusal(text, place, 'a program is missing beside it');
  }
  const pipes = split(tokens, '&&').map((pipe) => split(pipe, '|').map((words) => programOf(words, first)));
  const tooMany = tokens.filter(({ type }) => type === '|' || type === '&&')[mostPrograms - 1];
  if (tooMany) throw refusal(tooMany.text, tooMany.at, `a line has ${mostPrograms} programs at most`);
  if (pipes[0]?.[0]?.argv[0] !== 'cd') return { pipes };
  const [leading = [], ...rest] = pipes;
  const [{ argv: [, folder = '', ...more] } = { argv: [] }] = leading;
  if (rest.length === 0 || leading.length > 1 || more.length > 0 || /^-?$|^-/.test(folder) || first.assigns)
    throw refusal('cd', first.at, leadingFolder);
  return { folder, pipes: rest };
}

function split(tokens: readonly Token[], by: Token['type']): Token[][] {
  const parts: Token[][] = [[]];
  for (const token of tokens)
    if (token.type === by) parts.push([]);
    else parts.at(-1)?.push(token);
  return parts;
}

function programOf(tokens: readonly Token[], first: Token): LineProgram {
  const words = tokens.filter(({ type }) => type === 'word');
  const begin = words.findIndex(({ assigns }) => !assigns);
  const [name, ...args] = begin < 0 ? [] : words.slice(begin);
  if (!name) throw refusal(tokens[0]?.raw ?? '', tokens[0]?.at ?? 0, 'a program is missing beside it');
  const way = name.text === 'cd' && name !== first ? leadingFolder : shellWords.get(name.text);
  if (way !== undefined) throw refusal(name.raw, name.at, way);
  const variables = words.slice(0, begin).map(({ text }) => /^(.*?)=([^]*)$/.exec(text)?.slice(1) ?? []);
  return {
    argv: [name.text, ...args.map(({ text }) => text)],
    variables: Object.fromEntries(variables),
    joinsErrors: tokens.some(({ type }) => type === '2>&1'),
  };
}

function tokensIn(line: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; ;) {
    at += matchAt(blanks, line, at)?.[0].length ?? 0;
    if (at >= line.length) return tokens;
    const operator = matchAt(operators, line, at)?.[0];
    const word = operator === undefined ? wordAt(line, at) : undefined;
    const assigns = word !== undefined && matchAt(assignment, line, at) !== undefined;
    const end = word?.end ?? at + (operator ?? '').length;
    const type = (operator ?? 'word') as Token['type'];
    tokens.push({ type, text: word?.text ?? operator ?? '', raw: line.slice(at, end), at, assigns });
    at = end;
  }
}

/** The word that begins there, without its quotes. */
function wordAt(line: string, start: number): { text: string; end: number } {
  if (matchAt(/\d+(?=[<>])/y, line, start)) throw unknownAt(line, start);
  let text = '';
  let at = start;
  while (at < line.length && !matchAt(endOfWord, line, at)) {
    const piece = pieceAt(line, at);
    text += piece.text;
    at = piece.end;
  }
  return { text, end: at };
}

function pieceAt(line: string, at: number): { text: string; end: number } {
  for (const [pattern, textOf] of pieces) {
    const found = matchAt(pattern, line, at);
    if (found) return { text: textOf(found), end: at + found[0].length };
  }
  // What is wrong with a text in double quotes stands in it.
  const within = matchAt(/"(?:[^"\\$`]|\\[^]|\$(?![\w({@*#?$!-]))*(?=[$`])/y, line, at)?.[0].length ?? 0;
  throw unknownAt(line, at + within);
}

function matchAt(pattern: RegExp, line: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(line) ?? undefined;
}

function unknownAt(line: string, at: number): ToolcribError {
  for (const [token, way] of refusals) {
    const found = matchAt(token, line, at);
    if (found) return refusal(found[0], at, way);
  }
  const code = (line.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return refusal(`U+${code}`, at, 'leave it out, or quote it');
}

const refusal = (token: string, at: number, way: string): ToolcribError =>
  new ToolcribError(
    'ARG_INVALID',
    `command: ${JSON.stringify(token)} at character ${at + 1} is not understood.`,
    `${way.charAt(0).toUpperCase()}${way.slice(1)}.`,
  );

/** A program as a person would type it, which `parseLine` reads back. */
export const printProgram = ({ argv, variables }: Pick<LineProgram, 'argv' | 'variables'>): string =>
  [
    ...Object.entries(variables).map(([name, value]) => `${name}=${value === '' ? '' : printable([value])}`),
    printable(argv),
  ].join(' ');
