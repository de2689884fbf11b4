import { isCommon } from './judge.ts';
import { harmlessName, pathStart, secretName } from './shapes.ts';

/** Bounds of what is looked for; a value that is longer is looked for by its beginning. */
const mostValues = 500;
const longest = 4096;

/** The values of the environment that are secrets, as their names or forms say. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): string[] {
  const found = new Set<string>();
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value.length < 8 || found.size >= mostValues) continue;
    for (const secret of secretsIn(name, value)) if (!isCommon(secret)) found.add(secret);
  }
  return [...found];
}

function secretsIn(name: string, value: string): string[] {
  const inUrls = passwordsIn(value);
  const says = secretName.test(name) && !harmlessName.test(name);
  if (!says || pathStart.test(value)) return inUrls;
  // Of an address, the password is the secret; but that of a webhook is one as a whole.
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(value)) return /webhook/i.test(name) ? [value, ...inUrls] : inUrls;
  return [value.trim(), ...linesOf(value), ...leavesOf(value), ...connectionPassword(value)];
}

/** What stands between user and host of every address in a text, as it stands there and decoded. */
function passwordsIn(value: string): string[] {
  const found: string[] = [];
  for (const [, user = '', password] of value
    .slice(0, longest)
    .matchAll(/:\/\/([^\s/:@]{0,300})(?::([^\s/]{1,300}))?@/g)) {
    // A token may stand in the place of a user; other users are no secret.
    const secret = password ?? (user.length >= 20 ? user : '');
    if (secret !== '') found.push(secret, ...decoded(secret));
  }
  return found;
}

function decoded(text: string): string[] {
  try {
    return [decodeURIComponent(text)];
  } catch {
    // No percent-encoding: as it stands.
    return [];
  }
}

/** Keys and certificates are shown line by line, and by programs that wrap them anew. */
const linesOf = (value: string): string[] =>
  value.includes('\n') || value.includes('\\n')
    ? value.split(/\r?\n|\\n/).filter((line) => /^[A-Za-z0-9+/=_-]{20,}$/.test(line))
    : [];

/** The secrets of a JSON value, as service accounts and registries have them. */
function leavesOf(value: string): string[] {
  if (!value.trimStart().startsWith('{') || value.length > 65_536) return [];
  const found: string[] = [];
  try {
    JSON.parse(value, (key, leaf: unknown) => {
      if (typeof leaf === 'string' && (secretName.test(key) || key === 'auth'))
        found.push(leaf, ...linesOf(leaf));
      return leaf;
    });
  } catch {
    // It only began like JSON.
  }
  return found;
}

/** `host=db password=…` and `Server=db;Password=…`. */
const connectionPassword = (value: string): string[] =>
  [...value.slice(0, longest).matchAll(/\b(?:password|pwd)=([^\s;]{1,300})/gi)].map(
    ([, password = '']) => password,
  );

/**
 * A secret in the forms it is found in: as it is, in JSON, in an address, in hexadecimal, and in base64 also as a part of
 * something longer. Each is at least 8 characters long.
 */
export function formsOf(secret: string): string[] {
  const value = secret.slice(0, longest);
  const bytes = Buffer.from(value, 'utf8');
  const escaped = JSON.stringify(value).slice(1, -1);
  const encoded = encodeURIComponent(value.toWellFormed());
  const inHex = bytes.toString('hex');
  const inBase64 = [0, 1, 2].map((offset) => base64Within(bytes, offset));
  return [
    ...new Set([
      value,
      escaped,
      JSON.stringify(escaped).slice(1, -1),
      escaped.replaceAll('/', '\\/'),
      encoded,
      encoded.replaceAll('%20', '+'),
      encoded.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()),
      // What encodeURIComponent leaves alone, and others do not.
      encoded.replaceAll(/[!'()*]/g, (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`),
      encodeURI(value.toWellFormed()),
      inHex,
      inHex.toUpperCase(),
      ...inBase64,
      ...inBase64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
    ]),
  ].filter((form) => form.length >= 8);
}

/** The characters of base64 that are the same whatever stands before and after, at one of its three alignments. */
function base64Within(bytes: Buffer, offset: number): string {
  const text = Buffer.concat([Buffer.alloc(offset), bytes])
    .toString('base64')
    .replaceAll('=', '');
  const first = Math.ceil((offset * 8) / 6);
  const last = Math.floor(((offset + bytes.length) * 8) / 6);
  return text.slice(first, last);
}
