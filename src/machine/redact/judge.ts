/** What stands for a secret in examples, templates and code. */
const standIn =
  /^(?:[*x.•#-]+|\$?[<{[(].*|\$[A-Za-z_]+|%[A-Za-z_]+%?|pass(?:word|wd|phrase)?|pwd?|secret|token|key|change-?me|example|none|null|undefined|true|false|redacted|hidden)$/i;
/** Words of instructions (`your-api-key`, `MY_TOKEN_HERE`, `accessToken`), and what a template puts in. */
const instruction =
  /your[-_ ]?|[-_]here\b|example|placeholder|\$\{|\{\{|^(?:[a-z]+[-_]?)?(?:token|secret|password|jwt|api_?key)s?$/i;

/** Whether a text was made by chance, as tokens are: letters and digits, and many different ones. */
export function looksRandom(text: string): boolean {
  // A long one need not be looked at whole.
  const head = text.slice(0, 80);
  // Of 32 random hexadecimal digits at least 9 are different, but for one text in a million.
  if (new Set(head).size < Math.min(9, head.length / 3)) return false;
  if (!/[A-Za-z]/.test(head)) return false;
  return /\d/.test(head) || (/[A-Z]{2}/.test(head) && /[a-z]/.test(head) && !/[_-]/.test(head));
}

/** Whether a text can be a password somebody has chosen, and is no stand-in for one. */
export const looksChosen = (text: string): boolean => !standIn.test(text) && !instruction.test(text);

/** What says where a value is to be had: a variable, a call, a member, a constant, an address, a version. */
const reference =
  /^[$%][\w{(]|\$[{(]|\{\{|^[\w.$]+\(|^[A-Za-z_$][\w$]*(?:(?:\?|!)?\.[A-Za-z_$][\w$]*)+[!;]?$|^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$|^[a-z][a-z\d+.-]*:\/\/|^[v^~<>=]*\d+\.\d+\.|^(?:change|replace|insert|enter|fake|dummy|sample|todo|fixme)|^!|^(?:file|env|vault|ref|secret|op|arn|aws|gcp|sm):|^@|^#|\.{3}|…|x{4}|\*{3}/i;
/** Words that stand in the place of a password, in development and in descriptions of data. */
const ordinary =
  /^(?:postgres(?:ql)?|mysql|mariadb|mongo|redis|development|production|test(?:ing)?|disabled|enabled|required|optional|default|undefined|inherit|string|boolean|integer|number|unknown|readonly|\*+)$/i;

/** Whether a text can be the value of a secret that somebody has set, and is no name, path or call in its place. */
export function looksSet(text: string): boolean {
  if (!looksChosen(text) && !/^(?!.*(?:your|example|placeholder))[a-z]{12,}$/.test(text)) return false;
  if (standIn.test(text) || reference.test(text) || ordinary.test(text) || isPath(text)) return false;
  if (/^[\d.,:_+-]+$/.test(text)) return text.length >= 8;
  if (new Set(text).size < 3) return false;
  return !/^[A-Za-z]+$/.test(text) || text.length >= 8;
}

/** Whether a text that may stand in code is a password: no ordinary word, name or sentence. */
export function looksLiteral(text: string): boolean {
  if (!looksSet(text) || isCommon(text)) return isShortLiteral(text);
  if (/^[\d.,:_+-]+$/.test(text)) return false;
  // Sentences, names of classes, keys of translations.
  if (/\s/.test(text)) return /\d/.test(text) && /[A-Za-z]/.test(text) && !/^[A-Z"'(][a-z]+\s/.test(text);
  if (/^[A-Za-z]+(?:[-_.:/][A-Za-z]+)*$/.test(text)) return /^[a-z]{15,40}$/.test(text);
  return /\d/.test(text) || /[^\w\s.:/-]/.test(text);
}

/** One of less than eight characters: letters and digits in turn. */
const isShortLiteral = (text: string): boolean =>
  text.length < 8 && looksSet(text) && /[A-Za-z]\d+[A-Za-z]|\d[A-Za-z]+\d/.test(text);

/** `src/auth/keys/v2/index.ts`, `src/**`: whose parts are words. Base64 has slashes as well. */
function isPath(text: string): boolean {
  if (!/[\\/]/.test(text)) return false;
  if (/^(?:~|\.{1,2}|[A-Za-z]:)?[\\/]{1,2}(?:[\w.-]+[\\/])+[\w.-]*$/.test(text) && !/[+=]/.test(text))
    return true;
  return text
    .split(/[\\/]/)
    .every((part) =>
      /^(?:[a-z]+(?:[-_][a-z]+)*|[A-Z]?[a-z]+\d?|v\d+|\.{0,2}|[\w.*-]*\*[\w.*-]*|[\w-]+(?:\.\w+)+)$/.test(
        part,
      ),
    );
}

/**
 * Whether a value is one that stands in ordinary text as well: masking it everywhere would spoil results, and would tell
 * what it is.
 */
export function isCommon(value: string): boolean {
  const text = value.trim();
  if (text.length < 8) return true;
  // Numbers up to the length of a telephone number or a time in milliseconds.
  if (/^[\d.,:_+-]+$/.test(text)) return text.length < 16;
  if (/^(?:[a-z]+|[A-Z]+|[A-Z][a-z]+)$/.test(text)) return text.length < 15;
  // A few words: `github-actions`, `LocalDevelopment`. A passphrase is longer.
  if (
    /^[A-Za-z][a-z]*(?:[A-Z][a-z]{2,}|[-_. ][A-Za-z][a-z]*)*$/.test(text) ||
    /^[A-Z]+(?:_[A-Z]+)*$/.test(text)
  )
    return text.length < 21;
  return standIn.test(text) || new Set(text).size < 3;
}
