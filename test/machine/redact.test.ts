import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, hasMask } from '../../src/machine/redact/redactor.ts';
import { shapes } from '../../src/machine/redact/shapes.ts';

const { redact, redactValue } = createRedactor({ env: {} });

const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
/** As random as a token is, and the same at each run. Put together here, so that no scanner takes it for a real one. */
function random(length: number, from = alphabet): string {
  let state = length * 2654435761;
  return Array.from({ length }, () => {
    state = (Math.imul(state ^ (state >>> 13), 1540483477) + 12345) >>> 0;
    return from[(state >>> 8) % from.length];
  }).join('');
}
const hex = (length: number): string => random(length, '0123456789abcdef');
const upper = (length: number): string => random(length, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567');

/** Tokens as the services make them. */
const tokens: readonly (readonly [what: string, token: string])[] = [
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((start) => ['GitHub', start + random(36)] as const),
  ['GitHub', `github_pat_${random(22)}_${random(59)}`],
  ['GitLab', `glpat-${random(20)}`],
  ['GitLab', `glpat-${random(27)}.01.${random(9)}`],
  ['Slack', `xoxb-${random(12, '0123456789')}-${random(13, '0123456789')}-${random(24)}`],
  ['Slack', `https://hooks.slack.com/services/T${upper(8)}/B${upper(8)}/${random(24)}`],
  ['Discord', `https://discord.com/api/webhooks/${random(18, '123456789')}/${random(68)}`],
  ['AWS', `AKIA${upper(16)}`],
  ['AWS', `ASIA${upper(16)}`],
  ['AWS', `aws_secret_access_key = ${random(40)}`],
  ['AWS', `"SecretAccessKey": "${random(20)}/${random(19)}"`],
  ['Google', `AIza${random(35)}`],
  ['Google', `GOCSPX-${random(28)}`],
  ['Google', `ya29.${random(120)}`],
  ['Stripe', `sk_live_${random(24)}`],
  ['Stripe', `rk_live_${random(99)}`],
  ['OpenAI', `sk-${random(48)}`],
  ['OpenAI', `sk-proj-${random(74)}_${random(20)}-${random(60)}`],
  ['Anthropic', `sk-ant-api03-${random(93)}-${random(6)}AA`],
  ['npm', `npm_${random(36)}`],
  ['PyPI', `pypi-AgEIcHlwaS5vcmc${random(150)}`],
  ['Docker', `dckr_pat_${random(27)}`],
  ['Hugging Face', `hf_${random(34)}`],
  ['SendGrid', `SG.${random(22)}.${random(43)}`],
  ['Twilio', `SK${hex(32)}`],
  ['JWT', `eyJ${random(33)}.eyJ${random(60)}.${random(43)}`],
  ['DigitalOcean', `dop_v1_${hex(64)}`],
  ['Azure', `Endpoint=x;AccountName=x;AccountKey=${random(86)}==;`],
  ['Databricks', `dapi${hex(32)}`],
  ['Linear', `lin_api_${random(40)}`],
  ['Shopify', `shpat_${hex(32)}`],
  ['Telegram', `${random(10, '123456789')}:AA${random(33)}`],
  ['Vault', `hvs.${random(90)}`],
  ['a URL', 'postgres://app:tr0ub4dor&3@db.example.org:5432/main'],
  ['a URL', 'https://x-access-token:s3cr3t%40Pw@git.example.org/a.git'],
  ['a URL', 'redis://:onlypass99@localhost'],
  ['a header', `Authorization: Bearer ${random(20)}`],
  ['a header', 'authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l'],
  ['a header', `-H "X-Api-Key: ${random(32)}"`],
  ['a header', `PRIVATE-TOKEN: ${random(20)}`],
  ['.npmrc', `//registry.npmjs.org/:_authToken=${random(36)}`],
  ['.netrc', 'machine api.example.org login me password n3tRcPa55'],
  ['.docker/config.json', '{"auths":{"x":{"auth": "YWxhZGRpbjpvcGVuc2VzYW1l"}}}'],
  ['.env', `DB_PASSWORD="${random(18)}"`],
  ['printenv', `AWS_SESSION_TOKEN=${random(200)}`],
];

/** The longest run of what a token is made of; prefixes, names and account numbers may stay. */
const secretIn = (token: string): string =>
  token.match(/[A-Za-z0-9%&+/]{8,}/g)!.reduce((best, one) => (one.length >= best.length ? one : best));

it.each(tokens)('ATTACK 95: hides what has the shape of a secret of %s: %s', (_, token) => {
  const surroundings = [token, `x = '${token}'`, `a\n${token}\nb`, JSON.stringify({ a: `line\n${token}\n` })];
  for (const text of surroundings) {
    const shown = redact(text);
    expect(hasMask(shown)).toBe(true);
    for (const piece of token.match(/[A-Za-z0-9]{20,}/g) ?? []) expect(shown).not.toContain(piece);
    if (!token.includes('://')) expect(shown).not.toContain(secretIn(token));
  }
});

const chosen = [
  'DB_PASSWORD=hunter2x9',
  'export DB_PASSWORD=hunter2',
  'POSTGRES_PASSWORD=mysecretpassword',
  'DB_PASSWORD=p@$$w0rd!Longer9',
  'DB_PASSWORD="a b c 12 longer9 secret"',
  '{"password":"hunter2x9"}',
  '{"password": "hunter2x9!"}',
  '{\\"password\\":\\"hunter2x9\\"}',
  '  password: hunter2x9\n',
  'password: "hunter2x9"',
  `token: ${hex(40)}\n`,
  `  token: '${hex(40)}'`,
  'host=db password=hunter2x9 user=me',
  'Server=db;Password=SqlServ3r!;',
  'curl -u admin:hunter2 https://x',
  'curl -s --user admin:hunter2x x',
  "SECRET_KEY = 'django-insecure-9x!k2j4h5'",
  'db_password = "hunter2x9"',
  'mysql --password=hunter2x9 -h x',
  'mysql --password=correcthorse',
  `https://${hex(40)}@github.com/a/b.git`,
  `//r/:_authToken = "${hex(40)}"`,
  'postgres://u:ab/c9x7z2q1@h/db',
  'jdbc:mysql://h/db?user=x&password=hunter2x9',
  'DB_PASSWORD=hunter2x9;',
  '"Env":["POSTGRES_PASSWORD=mysecretpassword"]',
  'PGPASSWORD=abc123def psql',
  'ConnectionString="Server=x;Pwd=Abc12345"',
  'postgres://u:p,ass9word@h/x',
  'MYSQL_ROOT_PASSWORD: hunter2x9y8z7w6v5\n',
  'DB_PASSWORD: hunter2x9\n',
  '$password = "hunter2x9";',
  "'password' => 'hunter2x9',",
  'os.environ["DB_PASSWORD"] = "hunter2x9"',
];

it.each(chosen)('ATTACK 95: hides a secret that a name says: %s', (text) => {
  const shown = redact(text);
  expect(hasMask(shown)).toBe(true);
  expect(shown).not.toMatch(
    /hunter2|mysecret|W0rd|Longer9|correcthorse|SqlServ3r|ab\/c9|k2j4h5|Abc12345|9word/i,
  );
});

it.each([
  'docker://alpine:3.18@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'http://localhost:8080,admin@example.com',
  'const TOKEN=process.env.OAUTH2_CLIENT_TOKEN',
  'TOKEN="com.acme.v2.TokenHandler"',
  'SEARCH_PAT=src/**/*.test2.ts',
  'AUTH_KEY=src/auth/keys/v2/index.ts',
  'password: string',
  'password: string;',
  'password = req.body.password',
  'password: z.string()',
  'password=""',
  'PASSWORD_MIN_LENGTH=12',
  'const password = "test"',
  'DB_PASSWORD=changeme',
  'DB_PASSWORD=xxxxxxxx',
  'DB_PASSWORD=<your password>',
  'DB_PASSWORD=${DB_PASSWORD}',
  'DB_PASSWORD=$DB_PASS',
  'DB_PASSWORD=',
  'DB_PASSWORD=postgres',
  'password=os.getenv("DB_PASSWORD2")',
  'DB_PASSWORD=getenv("X12345")',
  '"password": "Enter your password"',
  '"password": "Passwort"',
  'token: accessToken',
  'PASSWORD = "password"',
  'RESET_PASSWORD = "RESET_PASSWORD"',
  'password=password',
  'connect(user=user, password=password2)',
  'docker run -u 1000:1000 x',
  'http://localhost:8080/a@b',
  'TOKEN=$(cat file1234)',
  'password: required',
  '<input type="password" name="password" id="x">',
  'type=password class=abc123',
  '"token": "^3.1.0-beta.1"',
  'password: hash(pw1234)',
  'secret: process.env.SECRET2',
  'DB_PASSWORD=%DB_PASSWORD%',
  'password: !vault x',
  'password=args.password1',
])('leaves what stands for a secret, and code that has one by name: %s', (text) => {
  expect(redact(text)).toBe(text);
});

it('leaves what stands around a secret', () => {
  const token = `ghp_${random(36)}`;
  expect(redact(`before ${token}, after`)).toMatch(/^before \[redacted by toolcrib: GitHub token\], after$/);
  expect(redact('git clone https://me:hunter22@example.org/a.git')).toMatch(
    /^git clone https:\/\/me:\[redacted by toolcrib: password\]@example\.org\/a\.git$/,
  );
  // What was hidden once is not hidden again.
  expect(redact(redact(`${token} ${token}`))).toBe(redact(`${token} ${token}`));
});

it.each([
  'commit 3f2a9c1d4e5b6a7988c0d1e2f3a4b5c6d7e8f901',
  'de305d54-75b4-431b-adb2-eb6b9e546014',
  '"integrity": "sha512-z5ZfTKbTDrVJZX3kTfyvTQ0eDmyo0eKiXJnoyHVYJzpZ6Pn8bCj8KpmjcfgDhvqsqJiOQXG4dlUyYw5wLzcQlw=="',
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'export OPENAI_API_KEY=sk-...',
  'ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'Authorization: Bearer <token>',
  'headers: { Authorization: `Bearer ${token}` }',
  'Authorization: Bearer YOUR_API_KEY',
  'postgres://user:password@localhost/db',
  'https://${USER}:${PASSWORD}@example.org',
  'http://localhost:8080/a@b',
  'git@github.com:owner/name.git',
  'password: z.string().min(8)',
  'const token = await getToken(); TOKEN=$(cat file) SECRET=${SECRET}',
  'class="sk-folding-cube sk-cube-container-large"',
  "if (text.includes('-----BEGIN PRIVATE KEY-----')) throw new Error('no keys');",
  '-----BEGIN CERTIFICATE-----\nMIIB0zCCAX2gAwIBAgIJAI/M7BYjwB+uMA0GCSqGSIb3DQEBBQUAMEUxCzAJBgNV\n-----END CERTIFICATE-----',
  'machine learning is a login to the password of progress',
  'npm_config_registry=https://registry.npmjs.org/ npm_package_name_of_a_very_long_kind',
  'the token, the secret, the password and the API key',
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
])('leaves what only looks like one: %s', (text) => {
  expect(redact(text)).toBe(text);
});

it('leaves the code of this project, and of what it uses, as it is', () => {
  for (const folder of [
    'src',
    'docs',
    'node_modules/zod/v4',
    'node_modules/yaml/dist',
    'node_modules/execa',
  ]) {
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(?:ts|js|md|json|map)$/.test(name)) continue;
      const text = readFileSync(`${folder}/${name}`, 'utf8');
      expect(redact(text) === text, `${folder}/${name}`).toBe(true);
    }
  }
});

describe('private keys', () => {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const key = privateKey.trim();
  const lines = key.split('\n').slice(1, -1);
  const leaks = (text: string) => lines.some((line) => text.includes(line.slice(0, 20)));

  it.each([
    ['as it is', key],
    ['in JSON', JSON.stringify({ key })],
    ['in JSON in JSON', JSON.stringify({ key: JSON.stringify({ key }) })],
    ['with line numbers', key.replaceAll(/^/gm, '  17\t')],
    ['with line numbers of grep', key.replaceAll(/^/gm, '17-')],
    ['in a diff', key.replaceAll(/^/gm, '+')],
    ['quoted', key.replaceAll(/^/gm, '> ')],
    ['indented', key.replaceAll(/^/gm, '      ')],
    ['with the line ends of Windows', key.replaceAll('\n', '\r\n')],
    ['in source code', `'${key.split('\n').join("\\n' +\n  '")}'`],
    [
      'of PGP',
      `-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n${lines.join('\n')}\n=aB3x\n-----END PGP PRIVATE KEY BLOCK-----`,
    ],
    [
      'encrypted',
      `-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0102\n\n${lines.join('\n')}\n-----END RSA PRIVATE KEY-----`,
    ],
    ['of a kubeconfig', `client-key-data: ${Buffer.from(key).toString('base64')}`],
    [
      'of PuTTY',
      `PuTTY-User-Key-File-2: ssh-rsa\nEncryption: none\nPrivate-Lines: 9\n${lines.join('\n')}\nPrivate-MAC: 00`,
    ],
  ])('are hidden %s', (_, text) => {
    const shown = redact(`before\n${text}\nafter`);
    expect(leaks(shown)).toBe(false);
    expect(shown).not.toContain(Buffer.from(lines[2]!).toString('base64').slice(4, 30));
    expect(shown.startsWith('before\n') && shown.endsWith('\nafter')).toBe(true);
    expect(shown.match(/\[redacted/g)).toHaveLength(1);
  });

  it('are hidden wherever they are cut', () => {
    for (let cut = 40; cut < key.length; cut += 7) {
      expect(leaks(redact(key.slice(0, cut)))).toBe(false);
      expect(leaks(redact(`text above\n${key.slice(cut)}\ntext below`))).toBe(false);
    }
    const middle = `${key.slice(0, 500)}\n[… 700 characters left out here …]\n${key.slice(-500)}`;
    expect(redact(middle)).toMatch(
      /^\[redacted[^\]]*\]\n\[… 700 characters left out here …\]\n\[redacted[^\]]*\]$/,
    );
  });

  it('leave public keys alone', () => {
    expect(redact(publicKey)).toBe(publicKey);
    const encoded = Buffer.from(publicKey).toString('base64');
    expect(redact(encoded)).toBe(encoded);
  });
});

describe('values that are known', () => {
  const secret = 'p/ä+"ss\\wörd?1&x';
  const known = createRedactor({ env: { MY_API_TOKEN: secret } });

  it.each([
    ['as it is', secret],
    ['in JSON', JSON.stringify(secret)],
    ['in JSON in JSON', JSON.stringify(JSON.stringify(secret))],
    ['in an address', encodeURIComponent(secret)],
    ['in a form', new URLSearchParams({ a: secret }).toString()],
    ['in hexadecimal', Buffer.from(secret).toString('hex')],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in base64 of a login', Buffer.from(`user:${secret}`).toString('base64')],
    ['in base64 with more', Buffer.from(`ab${secret}cd`).toString('base64')],
    ['in base64 for addresses', Buffer.from(`abc${secret}`).toString('base64url')],
  ])('are hidden %s', (_, form) => {
    expect(hasMask(known.redact(`x ${form} y`))).toBe(true);
    expect(redact(`x ${form} y`)).toBe(`x ${form} y`);
  });

  it.each([
    ['GITHUB_TOKEN', 'localvalue-4711'],
    ['DB_PASSWORD', 'correct horse battery staple'],
    ['SENTRY_AUTH_TOKEN', 'abcd1234efgh'],
    ['STRIPE_KEY', 'x8Kq2mZp0wTn'],
    ['PGPASSWORD', 'hunter2hunter3'],
    ['REDIS_PASS', 'Zx81!spectrum'],
  ])('come from variables that say so: %s', (name, value) => {
    expect(createRedactor({ env: { [name!]: value } }).redact(`<${value}>`)).toMatch(
      /^<\[redacted[^\]]*\]>$/,
    );
  });

  it('come from addresses in any variable, and from JSON', () => {
    const { redact } = createRedactor({
      env: {
        HTTPS_PROXY: 'http://me:pr0xy%2Fpass@proxy:3128',
        DATABASE_URL: 'mysql://root:r00tr00t@db/x',
        GOOGLE_CREDENTIALS: JSON.stringify({
          type: 'service_account',
          private_key_id: 'x',
          client_secret: 'in-json-4711',
        }),
        ODBC_CONNECTION_STRING: 'Server=db;User=sa;Password=SqlServ3r!;',
      },
    });
    for (const secret of ['pr0xy/pass', 'pr0xy%2Fpass', 'r00tr00t', 'in-json-4711', 'SqlServ3r!'])
      expect(hasMask(redact(` ${secret} `)), secret).toBe(true);
    for (const text of ['service_account', 'proxy:3128', 'root', 'db/x', 'Server=db'])
      expect(redact(text)).toBe(text);
  });

  it('are not what stands in ordinary text as well', () => {
    const { redact } = createRedactor({
      env: {
        POSTGRES_PASSWORD: 'postgres',
        AUTH_MODE: 'disabled',
        USE_TOKEN: 'true',
        SSH_AUTH_SOCK: '/tmp/ssh-XXXX/agent.1234',
        TOKEN_FILE: '/run/secrets/token',
        GIT_CREDENTIAL_HELPER: 'osxkeychain-helper1',
        MAX_OUTPUT_TOKENS: '20000000000000000',
        SECRET_KEY_BASE: 'development',
        SESSION_SECRET: 'keyboard-cat',
        API_TOKEN: '12345678',
        AUTH_URL: 'https://auth.example.org/login',
        HOME: '/home/me',
      },
    });
    const text = `postgres disabled true /tmp/ssh-XXXX/agent.1234 /run/secrets/token osxkeychain-helper1
      20000000000000000 development keyboard-cat 12345678 https://auth.example.org/login /home/me`;
    expect(redact(text)).toBe(text);
  });

  it('can be added later', () => {
    const redactor = createRedactor({ env: {}, extra: ['first-4711-value'] });
    expect(hasMask(redactor.redact('a first-4711-value'))).toBe(true);
    expect(hasMask(redactor.redact('a second-4711-value'))).toBe(false);
    redactor.addSecret('second-4711-value');
    expect(hasMask(redactor.redact('a second-4711-value'))).toBe(true);
  });

  it('are hidden whole where they overlap each other and what has a shape', () => {
    const { redact } = createRedactor({
      env: { A_TOKEN: 'abcdefgh1234', B_TOKEN: '1234ijklmnop', C_TOKEN: `${random(30)}!tail-of-it` },
    });
    expect(redact('<abcdefgh1234ijklmnop>')).toMatch(/^<\[redacted[^\]]*\]>$/);
    expect(redact(`Authorization: Bearer ${random(30)}!tail-of-it.`)).toMatch(
      /^Authorization: Bearer \[redacted[^\]]*\]\.$/,
    );
  });

  it('are never shown, wherever they stand', () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 8, maxLength: 40, unit: 'grapheme-ascii' }),
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        (middle, before, after) => {
          const value = `q7${middle.trim()}Z9`;
          const { redact } = createRedactor({ env: { THE_SECRET: value } });
          expect(redact(`${before}${value}${after}`)).not.toContain(value);
          expect(redact(JSON.stringify([before, value, after]))).not.toContain(
            JSON.stringify(value).slice(1, -1),
          );
        },
      ),
      { numRuns: 150 },
    );
  });
});

it('hides in every string and key of a value, and leaves the others as they are', () => {
  const token = `npm_${random(36)}`;
  const plain = { a: [1, null, true, 'x'], b: { c: 'y' } };
  expect(redactValue(plain)).toBe(plain);
  const hidden = redactValue({ ...plain, list: [{ [token]: token }], n: 1, __proto__: null });
  expect(JSON.stringify(hidden)).not.toContain(token);
  expect(hidden).toMatchObject({ ...plain, n: 1 });
  const hostile = JSON.parse('{"__proto__": {"polluted": "npm_x"}, "k": "v"}') as object;
  expect(redactValue(hostile)).toBe(hostile);
  let deep: unknown = token;
  for (let index = 0; index < 50_000; index++) deep = [deep];
  expect(() => redactValue(deep)).not.toThrow();
});

it('leaves as many lines as there were, where it is told to', () => {
  const key = `-----BEGIN PRIVATE KEY-----\n${`${random(64)}\n`.repeat(20)}-----END PRIVATE KEY-----`;
  const { redactPart } = createRedactor({ env: {} });
  const lines = redactPart({ before: 'a\n', text: `b\n${key}\nc`, after: '\nd', keepsLines: true }).split(
    '\n',
  );
  expect(lines).toHaveLength(24);
  expect(lines.slice(1, -1).every((line) => /^\[redacted[^\]]*\]$/.test(line))).toBe(true);
  expect([lines[0], lines.at(-1)]).toEqual(['b', 'c']);
});

it('sees what a page cuts in two, when it is told what stands around it', () => {
  const token = `ghp_${random(36)}`;
  const { redactPart } = createRedactor({ env: {} });
  for (let cut = 0; cut <= token.length; cut++) {
    const [head, tail] = [token.slice(0, cut), token.slice(cut)];
    const first = redactPart({ before: '', text: `a ${head}`, after: tail });
    const second = redactPart({ before: `a ${head}`, text: `${tail} b`, after: '' });
    expect(first).toBe(cut === 0 ? 'a ' : redact(`a ${token}`));
    expect(second).toBe(cut === token.length ? ' b' : redact(`${token} b`));
  }
});

it('has a mask that no text has by chance', () => {
  expect(hasMask(redact(`a ${`npm_${random(36)}`}`))).toBe(true);
  for (const text of ['[redacted]', '[redacted: token]', 'redacted by hand', '<redacted>'])
    expect(hasMask(text)).toBe(false);
});

it('takes time linear to the text, whatever it says', { timeout: 60_000 }, () => {
  const starts = shapes.flatMap(({ starts }) => starts);
  const pieces = [
    ...starts,
    ...starts.map((start) => `${start}a1`),
    '-----BEGIN PRIVATE KEY-----',
    '-----BEGIN PRIVATE KEY-----\n',
    '-----END PRIVATE KEY-----',
    '-----END PRIVATE KEY-----\n',
    '-----BEGIN PRIVATE KEY-----\nAbc: d\n',
    'PRIVATE KEY',
    'LS0tLS1CRUdJTi',
    'PuTTY-User-Key-File-2: x\n',
    '-',
    '\\',
    '\\n',
    'a',
    ' ',
    '://a:b',
    'eyJ-',
    'eyJaaaaaaaaaa.',
    'machine a login b password ',
    '://a:b/c1',
    '://a:b1',
    'curl -u a:bbbb1',
    ' -u a',
    'curl ',
    'PASSWORD="a\\"',
    'PASSWORD="a\\',
    'password: "a\'',
    'password: abcdef1 ',
    'PASSWORD=a1.',
    'PASSWORD=src/',
    "token: 'aaaaaaaaaaaaaaaaaaaa1 ",
    'password=a1-',
  ];
  // The quickest of several, since the machine does other things as well. Usual are 5 to 15 ms; what is quadratic takes
  // seconds.
  for (const piece of pieces) {
    const text = piece.repeat(Math.ceil(150_000 / piece.length));
    let least = Infinity;
    for (let round = 0; round < 3 && least > 25; round++) {
      const before = performance.now();
      redact(text);
      least = Math.min(least, performance.now() - before);
    }
    expect(least, JSON.stringify(piece)).toBeLessThan(100);
  }
});
