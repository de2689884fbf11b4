import type { Result } from '../../core/tool.ts';
import { secretPatterns } from './shapes.ts';

/** A text with every secret that is known or looks like one replaced by a mask. */
export type Mask = (text: string) => string;

// Put together, so that it does not stand in this file: an edit of that would be refused.
const opening = ['[redacted by', 'toolcrib'].join(' ');

/** Names us, so that no text has it by chance and a model knows who did it. */
const maskOf = (what: string): string => `${opening}: ${what}]`;

/** Whether a text has one of our masks in it: written to a file, it would take the place of the secret. */
export const hasMask = (text: string): boolean => text.includes(opening);

/**
 * Masks the secrets of an environment, and what has the shape of one. It is courtesy and no border: a secret that was
 * written in another form, or cut in two, is not known for one.
 */
export function createMask(env: Readonly<Record<string, string | undefined>>): Mask {
  let known: RegExp | 'none' | undefined;
  const maskText: Mask = (text) => {
    known ??= anyOf(secretTexts(env));
    let masked = known === 'none' ? text : text.replace(known, maskOf('secret'));
    // Most texts are a few words: one look instead of one for each shape.
    if (masked.length < fewWords && !anyShape.test(masked)) return masked;
    // Without a group, `kept` is the place of the match.
    for (const { what, pattern, sign = '' } of secretPatterns)
      if (masked.includes(sign))
        masked = masked.replace(
          pattern,
          (_whole, kept: unknown) => `${typeof kept === 'string' ? kept : ''}${maskOf(what)}`,
        );
    return masked;
  };
  // A file of UTF-8 that was read as UTF-16 can be turned back by anybody.
  return (text) =>
    text.length < shortest
      ? text
      : maskText(text).replace(asUtf16, (run) => {
          const bytes = Buffer.from(run, 'utf16le');
          const isMasked = [bytes, Buffer.from(bytes).swap16()].some((each) => {
            const read = each.toString('latin1');
            return maskText(read) !== read;
          });
          return isMasked ? maskOf('secret in UTF-16') : run;
        });
}

/** In longer texts the shapes one by one are found sooner than all at once. */
const fewWords = 500;
const anyShape = new RegExp(secretPatterns.map(({ pattern, sign }) => sign ?? pattern.source).join('|'), 'i');

/** No secret is shorter: less is taken for an ordinary word, and the shortest shape is an address with a password. */
const shortest = 8;

/** Two ASCII characters read as one of UTF-16 are one of these: Indic scripts, symbols, Chinese. */
const asUtf16 = /[\u0900-\u7eff]{8,}/g;

const anyOf = (texts: readonly string[]): RegExp | 'none' =>
  texts.length === 0
    ? 'none'
    : new RegExp(
        texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)).join('|'),
        'g',
      );

/** What leaves the server of a result, with every text in it masked: its parts, and what is said for hosts. */
export const maskResult = ({ content, meta, isError }: Result, mask: Mask): Result => ({
  content: content.map((part) => (part.type === 'text' ? { ...part, text: mask(part.text) } : part)),
  ...(isError && { isError }),
  ...(meta && { meta: maskStrings(meta, mask) }),
});

/** A JSON value with all its strings and names masked. */
export function maskStrings<T>(value: T, mask: Mask): T;
export function maskStrings(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskStrings(item, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [mask(name), maskStrings(item, mask)]),
  );
}

/** Parts of names of environment variables that say that the value is a secret. */
const secretName = new RegExp(
  'TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTHORIZATION|APIKEY|CONNECTION_?STRING|WEBHOOK' +
    '|_KEY(?:_|$)|(?:^|_)(?:AUTH|PASS|PWD|PAT|DSN|COOKIE)(?:_|$)',
  'i',
);

/** Such names of what only says where a secret lies, or something about it. */
const harmlessName = new RegExp(
  '^(?:PWD|OLDPWD|SSH_AUTH_SOCK|XAUTHORITY)$|MAX_.*TOKENS' +
    '|_(?:FILE|PATH|DIR|HOME|SOCK|HELPER|COMMAND|TYPE|METHOD|MODE|ID|NAME|USER|USERNAME)$' +
    '|_(?:EXPIRES?|TTL|TIMEOUT|LIMIT|REGION|HOST|PORT|VERSION)$',
  'i',
);

const path = /^(?:~|\.{1,2}|[A-Za-z]:)?[\\/](?:[\w.-]+[\\/])*[\w.-]*$/;

/** A value that is longer is known by its beginning. */
const longest = 4096;

/** The secrets of an environment, as names or addresses say, each in the forms it is found in; the longest first. */
function secretTexts(env: Readonly<Record<string, string | undefined>>): string[] {
  const found = new Set<string>();
  for (const [name, value = ''] of Object.entries(env))
    for (const secret of secretsIn(name, value.slice(0, longest)))
      if (!isOrdinary(secret)) for (const form of formsOf(secret)) found.add(form);
  return [...found].sort((a, b) => b.length - a.length);
}

function secretsIn(name: string, value: string): string[] {
  const inAddresses = [...value.matchAll(/:\/\/[^\s/:@]*:([^\s/]+)@/g)].flatMap(([, password = '']) => [
    password,
    decoded(password),
  ]);
  const isSecret = secretName.test(name) && !harmlessName.test(name) && !path.test(value);
  // Of an address the password is the secret, but a webhook's is one as a whole.
  if (!isSecret || (/^[a-z][a-z\d+.-]*:\/\//i.test(value) && !/webhook/i.test(name))) return inAddresses;
  // Keys are shown line by line, and wrapped anew.
  return [value.trim(), ...value.split(/\r?\n|\\n/).filter((line) => line.length >= 20), ...inAddresses];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // No percent-encoding: as it stands.
    return text;
  }
}

/** Stands in ordinary text as well (`postgres`, `true`, `github-actions`, 20000): masked, it would spoil that. */
const isOrdinary = (value: string): boolean =>
  value.length < shortest ||
  (value.length < 16 && /^[\d.,:_+-]+$/.test(value)) ||
  (value.length < 20 && /^[A-Za-z]+(?:[-_. ][A-Za-z]+)*$/.test(value)) ||
  new Set(value).size < 3;

/** As it is, in JSON, in an address, and in base64 as far as that does not depend on what follows. */
const formsOf = (value: string): string[] => [
  value,
  JSON.stringify(value).slice(1, -1),
  encodeURIComponent(value.toWellFormed()),
  Buffer.from(value).toString('base64').replace(/.?=*$/, ''),
];
