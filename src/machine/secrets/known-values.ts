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
export function secretTexts(env: Readonly<Record<string, string | undefined>>): string[] {
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
  value.length < 8 ||
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
