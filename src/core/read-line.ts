import * as z from 'zod';
import type { Line, Values } from './command-line.ts';
import { partsOf, type LinePart, type SlotPart } from './line-parts.ts';
import type { Params } from './parameter.ts';
import { bare, definitionOf, isList, mayBeAbsent } from './schema.ts';

/** A line of an action that can be read back. */
export interface ReadLine {
  /** Its fixed words before everything else, by which the lines of a program are told apart: `remote add`. */
  readonly leading: readonly string[];
  /** It ends with words for another program, and no `--` stands before them: `node FILE …`. */
  readonly handsOn: boolean;
  /**
   * The values from which the line would be written, as the schemas make them. Undefined where the words are
   * none of this line: an unknown option, a word too many, a value that its schema refuses. Nothing is
   * guessed.
   */
  read(argv: readonly string[]): Values | undefined;
}

export interface ReadingOptions {
  /** The characters that begin an option; `-` when left out. */
  readonly marks?: string | undefined;
  /** The program does not know `--`. */
  readonly dashes?: false | undefined;
  /** Options stand before the operands only: what stands behind is another program's. */
  readonly isStrict?: boolean;
  /** The folder of the files that are made for a call; without one, a line that names some is not read. */
  readonly freshFolder?: string | undefined;
}

/** The part of a line that has been read. */
interface Progress {
  /** The next word. */
  readonly at: number;
  readonly values: Values;
  /** A `--` has been read. */
  readonly isClosed: boolean;
}

/** More words are no line that anybody types, and reading them takes time in their square. */
const mostWords = 400;

/** Prepares one line of an action to be read: the inverse of what `compileLine` writes. */
export function compileReading(params: Params, line: Line<never>, options: ReadingOptions = {}): ReadLine {
  const reader = new Reader(params, partsOf(params, line, options), options);
  const { leading, handsOn } = reader;
  return { leading, handsOn, read: (argv) => reader.read(argv) };
}

/** A text as the value that a schema takes, or an item of it. */
export function textValue(text: string, schema: z.ZodType): unknown {
  const inner = bare(schema);
  const { type, element } = definitionOf(inner);
  if (type === 'array' && element) return textValue(text, element);
  const isNumber = /^-?\d+(?:\.\d+)?$/.test(text);
  if (type === 'number') return isNumber ? Number(text) : text;
  if (type === 'boolean') return { true: true, false: false }[text] ?? text;
  const mayBeNumber = type === 'union' || type === 'enum';
  return mayBeNumber && isNumber && !z.safeParse(inner, text).success ? Number(text) : text;
}

const startsWith = (argv: readonly string[], at: number, words: readonly string[]): boolean =>
  words.length > 0 && words.every((word, offset) => argv[at + offset] === word);

/** Reads one line: each word is tried in all places where it could stand, and everything has to fit. */
class Reader {
  readonly leading: readonly string[];
  readonly handsOn: boolean;
  readonly #params: Params;
  readonly #parts: readonly LinePart[];
  /** Options: they stand anywhere behind the leading words. */
  readonly #options: readonly SlotPart[];
  readonly #schema: z.ZodObject;
  readonly #marks: string;
  readonly #isStrict: boolean;

  constructor(params: Params, all: readonly LinePart[], { marks = '-', isStrict = false }: ReadingOptions) {
    this.#params = params;
    this.#marks = marks;
    this.#isStrict = isStrict;
    this.#options = all.filter((part): part is SlotPart => this.#isOption(part));
    this.#parts = all.filter((part) => !this.#isOption(part));
    const end = this.#parts.findIndex((part) => part.is !== 'word' || this.#isMarked(part.word));
    const first = end < 0 ? this.#parts : this.#parts.slice(0, end);
    this.leading = first.flatMap((part) => (part.is === 'word' ? [part.word] : []));
    this.handsOn =
      this.#parts.some((part) => this.#isRest(part)) && this.#parts.every((part) => part.is !== 'dashes');
    const schemas = Object.entries(params).map(([name, { schema }]) => [name, schema]);
    this.#schema = z.object(Object.fromEntries(schemas));
  }

  read(argv: readonly string[]): Values | undefined {
    if (argv.length > mostWords) return undefined;
    const end = this.#from(argv, 0, { at: 0, values: {}, isClosed: false });
    const values = end && this.#withAbsent(end.values);
    return values && (this.#schema.safeParse(values).data as Values | undefined);
  }

  #isMarked(word: string): boolean {
    return word !== '' && word !== '-' && this.#marks.includes(word.charAt(0));
  }

  /** True for a parameter whose words all begin like options: its place in the line is no matter. */
  #isOption(part: LinePart): boolean {
    if (part.is !== 'slot' || part.param.place !== 'option') return false;
    const { option, meanings = [] } = part.param.reading;
    const areMarked = meanings.every(([, [first]]) => first === undefined || this.#isMarked(first));
    return option === undefined ? areMarked : this.#isMarked(option);
  }

  /** The end of a line that is read from here on; undefined where it does not fit. */
  #from(argv: readonly string[], index: number, progress: Progress): Progress | undefined {
    const part = this.#parts[index];
    const isLate = this.#isStrict && this.#hasOperand(progress.values);
    if (!progress.isClosed && index >= this.leading.length && !isLate && !this.#isRest(part)) {
      const option = this.#option(argv, progress);
      const end = option && this.#from(argv, index, option);
      if (end) return end;
    }
    if (!part) return progress.at === argv.length ? progress : undefined;
    for (const [next, after] of this.#ways(argv, index, part, progress)) {
      const end = this.#from(argv, next, after);
      if (end) return end;
    }
    return undefined;
  }

  #hasOperand(values: Values): boolean {
    return Object.keys(values).some((name) => this.#params[name]?.place === 'operand');
  }

  #isRest(part: LinePart | undefined): boolean {
    return part?.is === 'slot' && part.param.place === 'words';
  }

  /** The ways in which a part can stand at this word: the part that comes next, and what is read then. */
  *#ways(
    argv: readonly string[],
    index: number,
    part: LinePart,
    progress: Progress,
  ): Generator<readonly [number, Progress]> {
    const word = argv[progress.at];
    const next = { ...progress, at: progress.at + 1 };
    if (part.is === 'word') {
      if (word === part.word) yield [index + 1, next];
    } else if (part.is === 'dashes') {
      if (word === '--' && !progress.isClosed) yield [index + 1, { ...next, isClosed: true }];
      if (part.mayMiss) yield [index + 1, progress];
    } else if (part.is === 'glued') {
      const glued = word === undefined ? undefined : this.#glued(word, part, next);
      if (glued) yield [index + 1, glued];
      const isOptional = part.names.length > 0 && part.names.every((name) => this.#mayBeAbsent(name));
      if (isOptional) yield [index + 1, progress];
    } else if (this.#isRest(part)) {
      // Without the `--` that stands before them the program itself would read them.
      const isOwn = this.#parts[index - 1]?.is === 'dashes' && !progress.isClosed;
      if (isOwn && word !== undefined && this.#isMarked(word)) return;
      const values = { ...progress.values, [part.name]: argv.slice(progress.at) };
      yield [index + 1, { ...progress, at: argv.length, values }];
    } else yield* this.#slot(argv, index, part, progress);
  }

  #mayBeAbsent(name: string): boolean {
    const schema = this.#params[name]?.schema;
    return schema !== undefined && mayBeAbsent(schema);
  }

  #glued(word: string, { pattern, names }: Extract<LinePart, { is: 'glued' }>, next: Progress) {
    const match = pattern.exec(word);
    if (!match) return undefined;
    let progress: Progress | undefined = next;
    for (const [group, name] of names.entries()) {
      const text = match[group + 1];
      if (text !== undefined && progress) progress = this.#withText(progress, name, text);
    }
    return progress;
  }

  /** A parameter with a place of its own: words that stand for its value, or operands. */
  *#slot(
    argv: readonly string[],
    index: number,
    { name, param }: SlotPart,
    progress: Progress,
  ): Generator<readonly [number, Progress]> {
    const { meanings } = param.reading;
    for (const [value, words] of meanings ?? []) {
      if (!startsWith(argv, progress.at, words)) continue;
      const after = this.#withValue({ ...progress, at: progress.at + words.length }, name, value);
      if (after) yield [index + 1, after];
    }
    const word = argv[progress.at];
    const isOperand = param.place === 'operand' && word !== undefined;
    if (isOperand && (progress.isClosed || !this.#isMarked(word))) {
      const after = this.#withText({ ...progress, at: progress.at + 1 }, name, word);
      if (after && isList(param.schema) && !param.reading.unspell) yield [index, after];
      if (after) yield [index + 1, after];
    }
    const option = param.reading.option !== undefined && word !== undefined;
    const named = option ? this.#named(argv, progress, { is: 'slot', name, param }) : undefined;
    if (named) yield [isList(param.schema) ? index : index + 1, named];
    const isUnsaid = meanings?.some(([, words]) => words.length === 0) ?? this.#mayBeAbsent(name);
    // The word that is no value of it would be taken for what is handed on.
    const isRefused =
      isOperand && this.#isRest(this.#parts[index + 1]) && progress.values[name] === undefined;
    if (isRefused) return;
    const isUnwritten = param.place === 'aside' || param.place === 'input';
    if (isUnsaid || isUnwritten || progress.values[name] !== undefined) yield [index + 1, progress];
  }

  /** An option that stands at this word. */
  #option(argv: readonly string[], progress: Progress): Progress | undefined {
    for (const slotted of this.#options) {
      const { name, param } = slotted;
      const longestFirst = [...(param.reading.meanings ?? [])].sort(
        ([, one], [, other]) => other.length - one.length,
      );
      for (const [value, words] of longestFirst)
        if (startsWith(argv, progress.at, words))
          return this.#withValue({ ...progress, at: progress.at + words.length }, name, value);
      const found = this.#named(argv, progress, slotted);
      if (found) return found;
    }
    return undefined;
  }

  /** An option with its value: `--jobs 4`, `--jobs=4`, `-j4`. */
  #named(argv: readonly string[], progress: Progress, { name, param }: SlotPart): Progress | undefined {
    const { option } = param.reading;
    const word = argv[progress.at];
    if (option === undefined || word === undefined) return undefined;
    const own = option.replace(/[=:]$/, '');
    const value = argv[progress.at + 1];
    // MSBuild's `/p:` has no other form.
    if (word === own && !option.endsWith(':') && value !== undefined) {
      const apart = this.#withText({ ...progress, at: progress.at + 2 }, name, value);
      if (apart) return apart;
    }
    const glued = gluedName(option);
    if (glued === undefined || word === own || !word.startsWith(glued)) return undefined;
    return this.#withText({ ...progress, at: progress.at + 1 }, name, word.slice(glued.length));
  }

  #withText(progress: Progress, name: string, text: string): Progress | undefined {
    const param = this.#params[name];
    if (!param) return undefined;
    const { unspell } = param.reading;
    if (unspell) {
      const value = unspell(text);
      return value === undefined ? undefined : this.#withValue(progress, name, value);
    }
    const schema = bare(param.schema);
    const { element } = definitionOf(schema);
    const value = textValue(text, schema);
    if (!z.safeParse(element ?? schema, value).success) return undefined;
    return this.#withValue(progress, name, value, element !== undefined);
  }

  /** Adds a value; of what is said twice only an item of a list, or the same again. */
  #withValue(progress: Progress, name: string, value: unknown, isItem = false): Progress | undefined {
    const before = progress.values[name];
    if (isItem) {
      const items = [...((before ?? []) as readonly unknown[]), value];
      return { ...progress, values: { ...progress.values, [name]: items } };
    }
    if (before !== undefined) return before === value ? progress : undefined;
    return { ...progress, values: { ...progress.values, [name]: value } };
  }

  /** The values with what it means that none of the words of a parameter stands there. */
  #withAbsent(read: Values): Values | undefined {
    const values: Record<string, unknown> = { ...read };
    for (const part of [...this.#options, ...this.#parts]) {
      if (part.is !== 'slot' || values[part.name] !== undefined) continue;
      const { meanings } = part.param.reading;
      if (!meanings) continue;
      const silent = meanings.filter(([, words]) => words.length === 0).map(([value]) => value);
      if (silent.length === 0) return undefined;
      const usual = z.safeParse(part.param.schema, undefined).data;
      values[part.name] = silent.includes(usual) ? usual : silent[0];
    }
    return values;
  }
}

/** The beginning of a word in which the value is glued to the name of its option. */
function gluedName(option: string): string | undefined {
  if (/[=:]$/.test(option)) return option;
  if (option.startsWith('--')) return `${option}=`;
  return /^-\w$/.test(option) ? option : undefined;
}
