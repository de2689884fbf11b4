import { live } from '../text/inert.ts';

/** Something that may be a file, a folder or a resource: `@name` or `@"name with spaces"`. */
export interface Mention {
  /** What it may mean, best first: what follows a name in a sentence is not always part of it. */
  readonly names: readonly string[];
  /** Written in quotes: surely meant as a name. */
  readonly quoted: boolean;
}

/** More are not looked at, nor longer ones: a file of prompts may be full of them. */
const most = 200;
const mostChars = 1024;

/** The mentions in a text, each once. The `@` of an e-mail address, inside a word, is none, nor one that is `inert`. */
export function mentionsIn(text: string): readonly Mention[] {
  const found = new Map<string, Mention>();
  // U+FE0E is the mark of inert.ts: only the beginning of a name has to be the person's own.
  for (const [whole, quoted, plain = ''] of text.matchAll(
    /(?<![\w@./+-])@(?!\ufe0e)(?:"([^"\r\n]+)"|([^\s"@]+(?:(?<=[!-~])@[^\s"@]+){0,8}))/g,
  )) {
    if (found.size === most) break;
    const names = quoted === undefined ? shorter(live(plain).slice(0, mostChars)) : [live(quoted)];
    found.set(whole, { names, quoted: quoted !== undefined });
  }
  return [...found.values()];
}

/** The name without what may follow it in a sentence: punctuation, or text of a script that needs no spaces. */
function shorter(name: string): string[] {
  const rest = name.replace(/(?:[.,;:!?)\]}>'`*]|[^\0-\x7f]+)$/, '');
  // `@.` and `@...` are marks of a sentence; the folder is written `@./`.
  if (/^\.*$/.test(name)) return [];
  return rest === name ? [name] : [name, ...shorter(rest)];
}
