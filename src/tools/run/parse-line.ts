import { printable } from '../../core/command-line.ts';
import { ToolcribError } from '../../core/errors.ts';

/** One program of a command line. */
export interface LineProgram {
  /** The name or path of the program, and its arguments. */
  readonly argv: readonly [string, ...string[]];
  /** The variables set before the program: `NODE_ENV=test`. */
  readonly variables: Readonly<Record<string, string>>;
  /** The program has `2>&1`: its standard error goes where its standard output goes. */
  readonly joinsErrors: boolean;
}

/** A command line that was read: `cd web && npm ci && npm test 2>&1 | tail -5`. */
export interface ParsedLine {
  /** The folder of a leading `cd`. */
  readonly folder?: string;
  /** Pipes of programs, run one after another until one fails. */
  readonly pipes: readonly (readonly LineProgram[])[];
}

interface Token {
  readonly type: 'word' | '|' | '&&' | '2>&1';
  readonly text: string;
  /** The text as it is written, with its quotes. */
  readonly raw: string;
  readonly at: number;
  /** The token is a word that begins with `NAME=`. */
  readonly assigns: boolean;
}

/** Programs of a line at most, as all programs of a pipe run at once. */
const mostPrograms = 16;
const folderHint = 'write it first, with one folder (cd web && npm test), or give cwd';
/** Syntax of shells that is not supported, each with another way to the same end. */
const unsupported: readonly (readonly [token: RegExp, hint: string])[] = [
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
/** Words that only a shell understands, each with another way to the same end. */
const shellWords: ReadonlyMap<string, string> = new Map([
  ['export', 'write NAME=value before the program'],
  ['source', 'name the program by its path: .venv/bin/python'],
  ['.', 'name the program by its path: .venv/bin/python'],
  ...'alias case eval exec for function if set unset until while'
    .split(' ')
    .map((word) => [word, 'there is no shell: write the programs themselves'] as const),
]);

/** The pieces that words are made of: the pattern of each, and the text that it stands for. */
const pieces: readonly (readonly [RegExp, (match: RegExpExecArray) => string])[] = [
  [/[^\p{Z}\p{C}'"\\$`;&|<>(){}*?[~#!]+/uy, ([whole]) => whole],
  [/'([^']*)'/y, ([, text = '']) => text],
  [
    /"((?:[^"\\$`]|\\[^]|\$(?![\w({@*#?$!-]))*)"/y,
    ([, text = '']) => text.replaceAll(/\\(?:\n|([$`"\\]))/g, (_escape, char = '') => char),
  ],
  // A backslash before a letter belongs to a path of Windows, and is not taken for an escape.
  [/\\(?:\r?\n|([^A-Za-z0-9]))/uy, ([, char = '']) => char],
  // Git's `stash@{0}`, xargs' `{}`, a dollar that names nothing, and signs that shells read only at the start
  // of a word.
  [/\{[\w-]*\}|\$(?![\w({@*#?$!'"-])|(?<=[^ \t|&])[#!]|(?<=[^ \t|&=:])~|!(?=[^\s|&])/y, ([whole]) => whole],
];
const blanks = /(?:[ \t]|\\\r?\n|[\r\n]+$)*/y;
const operators = /&&|\|(?![|&])|2>&1(?=[\s|&]|$)/y;
const endOfWord = /[ \t]|[\r\n]+$|&&|\|(?![|&])/y;
const assignment = /[A-Za-z_]\w*=/y;

/**
 * Reads a command line of a small grammar: words with quotes and escapes as in POSIX, `NAME=value` before a
 * program, `cd FOLDER &&` first, `|`, `&&`, `2>&1`. Throws ARG_INVALID for everything else, with the token,
 * its position and another way to the same end: nothing is guessed.
 */
export function parseLine(line: string): ParsedLine {
  if (line.includes('\0') || !line.isWellFormed())
    throw new ToolcribError('ARG_INVALID', 'command: holds NUL, or half a character.', 'Leave it out.');
  const tokens = tokensIn(line);
  const [first] = tokens;
  if (!first) throw new ToolcribError('ARG_INVALID', 'command: is empty.', 'Give a program: git status');
  for (const [index, { type, text, at }] of tokens.entries()) {
    const next = tokens[index + 1]?.type;
    const isBare = index === 0 || next === undefined || next === '|' || next === '&&';
    if ((type === '|' || type === '&&') && isBare)
      throw syntaxRefusal(text, at, 'a program is missing beside it');
  }
  const pipes = split(tokens, '&&').map((pipe) => split(pipe, '|').map((words) => programOf(words, first)));
  const tooMany = tokens.filter(({ type }) => type === '|' || type === '&&')[mostPrograms - 1];
  if (tooMany) throw syntaxRefusal(tooMany.text, tooMany.at, `a line has ${mostPrograms} programs at most`);
  if (pipes[0]?.[0]?.argv[0] !== 'cd') return { pipes };
  const [leading = [], ...rest] = pipes;
  const [{ argv: [, folder = '', ...more] } = { argv: [] }] = leading;
  if (rest.length === 0 || leading.length > 1 || more.length > 0 || /^-?$|^-/.test(folder) || first.assigns)
    throw syntaxRefusal('cd', first.at, folderHint);
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
  if (!name) throw syntaxRefusal(tokens[0]?.raw ?? '', tokens[0]?.at ?? 0, 'a program is missing beside it');
  const hint = name.text === 'cd' && name !== first ? folderHint : shellWords.get(name.text);
  if (hint !== undefined) throw syntaxRefusal(name.raw, name.at, hint);
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

/** The word that begins at a position, without its quotes. */
function wordAt(line: string, start: number): { text: string; end: number } {
  if (matchAt(/\d+(?=[<>])/y, line, start)) throw refusalAt(line, start);
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
    const match = matchAt(pattern, line, at);
    if (match) return { text: textOf(match), end: at + match[0].length };
  }
  // In a text in double quotes, the refusal is for the sign inside that cannot be read.
  const offset = matchAt(/"(?:[^"\\$`]|\\[^]|\$(?![\w({@*#?$!-]))*(?=[$`])/y, line, at)?.[0].length ?? 0;
  throw refusalAt(line, at + offset);
}

function matchAt(pattern: RegExp, line: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(line) ?? undefined;
}

/** The refusal of the syntax at a position. */
function refusalAt(line: string, at: number): ToolcribError {
  for (const [token, hint] of unsupported) {
    const match = matchAt(token, line, at);
    if (match) return syntaxRefusal(match[0], at, hint);
  }
  const code = (line.codePointAt(at) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return syntaxRefusal(`U+${code}`, at, 'leave it out, or quote it');
}

const syntaxRefusal = (token: string, at: number, hint: string): ToolcribError =>
  new ToolcribError(
    'ARG_INVALID',
    `command: ${JSON.stringify(token)} at character ${at + 1} is not understood.`,
    `${hint.charAt(0).toUpperCase()}${hint.slice(1)}.`,
  );

/** Prints a program as a person would type it; `parseLine` reads it back. */
export const printProgram = ({ argv, variables }: Pick<LineProgram, 'argv' | 'variables'>): string =>
  [
    ...Object.entries(variables).map(([name, value]) => `${name}=${value === '' ? '' : printable([value])}`),
    printable(argv),
  ].join(' ');
