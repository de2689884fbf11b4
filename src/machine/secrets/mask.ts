import type { Result } from '../../core/tool.ts';
import { secretPatterns } from './shapes.ts';

/** Replaces every secret in a text that is known or looks like one. */
export type Mask = (text: string) => string;

// Joined here, because an edit of a file that contains a mask is refused.
const opening = ['[redacted by', 'toolcrib'].join(' ');

/**
 * The mask for a kind of secret. It names toolcrib, so that no text contains it by chance and a model knows
 * where it comes from.
 */
const maskOf = (what: string): string => `${opening}: ${what}]`;

/** True where a text contains one of our masks: written to a file, it would take the place of the secret. */
export const hasMask = (text: string): boolean => text.includes(opening);

/**
 * Creates a mask for the secrets of an environment and for texts with the shape of one. It is a courtesy and
 * no security boundary: a secret in another form, or cut in two, is not recognised.
 */
export function createMask(env: Readonly<Record<string, string | undefined>>): Mask {
  let fromEnvironment: RegExp | 'none' | undefined;
  const maskText: Mask = (text) => {
    fromEnvironment ??= anyOf(secretTexts(env));
    let masked = fromEnvironment === 'none' ? text : text.replace(fromEnvironment, maskOf('secret'));
    // Most texts are a few words, for which one pattern is faster than one for each shape.
    if (masked.length < fewWords && !anyShape.test(masked)) return masked;
    for (const { what, pattern, sign = '' } of secretPatterns) {
      if (!masked.includes(sign)) continue;
      // In a pattern without a group, `prefix` is the offset of the match.
      masked = masked.replace(
        pattern,
        (_whole, prefix: unknown) => `${typeof prefix === 'string' ? prefix : ''}${maskOf(what)}`,
      );
    }
    return masked;
  };
  // Anybody can turn back a UTF-8 file that was read as UTF-16.
  const maskUtf16 = (run: string): string => {
    const bytes = Buffer.from(run, 'utf16le');
    const isSecret = [bytes, Buffer.from(bytes).swap16()].some((order) => {
      const read = order.toString('latin1');
      return maskText(read) !== read;
    });
    return isSecret ? maskOf('secret in UTF-16') : run;
  };
  return (text) => (text.length < shortest ? text : maskText(text).replace(asUtf16, maskUtf16));
}

/** The length from which the shapes one by one are faster than all in one pattern. */
const fewWords = 500;
const anyShape = new RegExp(secretPatterns.map(({ pattern, sign }) => sign ?? pattern.source).join('|'), 'i');

/**
 * The shortest secret: less is taken for an ordinary word, and the shortest shape is an address with a
 * password.
 */
const shortest = 8;

/** Characters that two ASCII characters become when read as UTF-16: Indic scripts, symbols, Chinese. */
const asUtf16 = /[\u0900-\u7eff]{8,}/g;

const anyOf = (texts: readonly string[]): RegExp | 'none' =>
  texts.length === 0
    ? 'none'
    : new RegExp(
        texts.map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)).join('|'),
        'g',
      );

/** Masks every text in a result: its parts, and the metadata for hosts. */
export const maskResult = ({ content, meta, isError }: Result, mask: Mask): Result => ({
  content: content.map((part) => (part.type === 'text' ? { ...part, text: mask(part.text) } : part)),
  ...(isError && { isError }),
  ...(meta && { meta: maskStrings(meta, mask) }),
});

/** Masks all strings and property names of a JSON value. */
export function maskStrings<T>(value: T, mask: Mask): T;
export function maskStrings(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskStrings(item, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [mask(name), maskStrings(item, mask)]),
  );
}

/** Parts of a variable's name that show that the value is a secret. */
const secretName = new RegExp(
  'TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|AUTHORIZATION|APIKEY|CONNECTION_?STRING|WEBHOOK' +
    '|_KEY(?:_|$)|(?:^|_)(?:AUTH|PASS|PWD|PAT|DSN|COOKIE)(?:_|$)',
  'i',
);

/** Names that match although the value only says where a secret lies, or something about it. */
const harmlessName = new RegExp(
  '^(?:PWD|OLDPWD|SSH_AUTH_SOCK|XAUTHORITY)$|MAX_.*TOKENS' +
    '|_(?:FILE|PATH|DIR|HOME|SOCK|HELPER|COMMAND|TYPE|METHOD|MODE|ID|NAME|USER|USERNAME)$' +
    '|_(?:EXPIRES?|TTL|TIMEOUT|LIMIT|REGION|HOST|PORT|VERSION)$',
  'i',
);

const path = /^(?:~|\.{1,2}|[A-Za-z]:)?[\\/](?:[\w.-]+[\\/])*[\w.-]*$/;

/** The length to which a long value is cut: its beginning suffices to recognise it. */
const longest = 4096;

/**
 * The secrets of an environment, recognised by names and addresses, in each form in which they appear; the
 * longest first.
 */
function secretTexts(env: Readonly<Record<string, string | undefined>>): string[] {
  const secrets = Object.entries(env).flatMap(([name, value = '']) =>
    secretsIn(name, value.slice(0, longest)),
  );
  const forms = new Set(secrets.filter((secret) => !isOrdinary(secret)).flatMap(formsOf));
  return [...forms].sort((a, b) => b.length - a.length);
}

function secretsIn(name: string, value: string): string[] {
  const inAddresses = [...value.matchAll(/:\/\/[^\s/:@]*:([^\s/]+)@/g)].flatMap(([, password = '']) => [
    password,
    decoded(password),
  ]);
  const isSecret = secretName.test(name) && !harmlessName.test(name) && !path.test(value);
  // Of an address only the password is secret, but a webhook's address is secret as a whole.
  if (!isSecret || (/^[a-z][a-z\d+.-]*:\/\//i.test(value) && !/webhook/i.test(name))) return inAddresses;
  // Programs show keys line by line, and wrap them anew.
  return [value.trim(), ...value.split(/\r?\n|\\n/).filter((line) => line.length >= 20), ...inAddresses];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Text that is not percent-encoded stays as it is.
    return text;
  }
}

/**
 * True for a value that ordinary text contains as well (`postgres`, `true`, `github-actions`, 20000) and that
 * masking would spoil.
 */
const isOrdinary = (value: string): boolean =>
  value.length < shortest ||
  (value.length < 16 && /^[\d.,:_+-]+$/.test(value)) ||
  (value.length < 20 && /^[A-Za-z]+(?:[-_. ][A-Za-z]+)*$/.test(value)) ||
  new Set(value).size < 3;

/**
 * The forms in which a secret appears: as it is, in JSON, in an address, and in base64 as far as that does
 * not depend on what follows.
 */
const formsOf = (value: string): string[] => [
  value,
  JSON.stringify(value).slice(1, -1),
  encodeURIComponent(value.toWellFormed()),
  Buffer.from(value).toString('base64').replace(/.?=*$/, ''),
];
