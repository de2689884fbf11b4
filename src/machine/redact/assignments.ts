import type { Shape } from './shapes.ts';

const variables = [
  'PASSWORD',
  'PASSWD',
  'PASSPHRASE',
  'SECRET',
  'TOKEN',
  'API_KEY',
  'APIKEY',
  'PRIVATE_KEY',
  'SECRET_KEY',
  'ACCESS_KEY',
  'SECRET_KEY_BASE',
  'ENCRYPTION_KEY',
  'SIGNING_KEY',
  'AUTH_KEY',
] as const;
const passwords = ['password', 'passwd', 'passphrase', 'Password', 'Passwd', 'Passphrase'] as const;
const others = ['secret', 'token', 'api_key', 'apikey', 'apiKey', 'secretKey', 'secret_key'] as const;

/** What stands between a name and its value, which is in quotes: of JSON, YAML, TOML, code, perhaps in a string itself. */
const quoted = String.raw`\\{0,3}["']?\]?\s{0,4}(?:=>?|:=?)\s{0,20}\\{0,3}`;
const inDouble = (least: number) => String.raw`"((?:[^"\\\n]|\\[^"\n\\]){${least},1000})(?=\\{0,3}")`;
const inSingle = (least: number) => String.raw`'([^'\\\n]{${least},1000})(?=\\{0,3}')`;

/** Secrets that a name says: variables, settings, parameters of programs and connections. */
export const assignments: readonly Shape[] = [
  // Lines of an .env file, and what printenv prints. Whole where it is quoted.
  ...[String.raw`\\{0,3}${inDouble(6)}`, String.raw`\\{0,3}${inSingle(6)}`].map((rest): Shape => ({
    what: 'variable',
    starts: [...variables.map((name) => `${name}=`), '_PAT='],
    rest: new RegExp(rest, 'y'),
    must: 'set',
  })),
  {
    what: 'variable',
    starts: [...variables.map((name) => `${name}=`), '_PAT='],
    rest: /([^\s"'`;&|<>(){}[\],\\]{6,4000})(?![(\w])/y,
    must: 'set',
  },
  // Of code, JSON and settings.
  ...[inDouble(8), inSingle(8)].flatMap((value): Shape[] => [
    { what: 'password', starts: passwords, rest: new RegExp(quoted + value, 'y'), must: 'literal' },
    { what: 'secret', starts: variables, rest: new RegExp(quoted + value, 'y'), must: 'literal' },
  ]),
  ...[inDouble(16), inSingle(16)].map((value): Shape => ({
    what: 'secret',
    starts: others,
    rest: new RegExp(quoted + value, 'y'),
    must: 'literal',
  })),
  // A line of YAML or of settings without quotes.
  {
    what: 'password',
    starts: [...passwords, 'PASSWORD', 'PASSWD', 'PASSPHRASE'],
    rest: /: {1,8}([^\s"'`,;(){}[\]<>|&*!]{6,300})(?=[ \t]{0,20}(?:\r?\n|\\n|\\r|"|$|#))/y,
    must: 'literal',
  },
  {
    what: 'secret',
    starts: [...others, ...variables],
    rest: /: {1,8}([^\s"'`,;(){}[\]<>|&*!]{16,4000})(?=[ \t]{0,20}(?:\r?\n|\\n|\\r|"|$|#))/y,
    must: 'literal',
  },
  // Connections, forms and addresses.
  {
    what: 'password',
    starts: ['password=', 'Password=', 'passwd=', 'Pwd=', 'pwd='],
    rest: /\\{0,3}["']?([^\s"'`;&|<>(){}[\],\\]{6,300})(?=[\s;"'&\\]|$)/y,
    must: 'literal',
  },
  {
    what: 'password',
    starts: ['--password=', '--passphrase='],
    rest: /\\{0,3}["']?([^\s"'`;&|<>(){}[\],\\]{4,300})/y,
    must: 'set',
  },
];
