import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { headOf, tailOf } from '../../src/core/cut-text.ts';
import { headAndTail } from '../../src/machine/sanitize.ts';
import { createMask, hasMask, maskResult } from '../../src/machine/secrets/mask.ts';
import { processorMs } from '../support/processor-ms.ts';
import { random, tokens } from '../support/tokens.ts';

const mask = createMask({});

it.each(tokens)('ATTACK 95: masks a text that looks like a secret: %s', (_, token, secret) => {
  for (const text of [token, `x = '${token}'`, `a\n${token}\nb`, JSON.stringify({ a: `line\n${token}\n` })]) {
    expect(hasMask(mask(text)), text).toBe(true);
    expect(mask(text)).not.toContain(secret);
    expect(mask(mask(text))).toBe(mask(text));
  }
});

it.each([
  'commit 3f2a9c1d4e5b6a7988c0d1e2f3a4b5c6d7e8f901',
  '"integrity": "sha512-z5ZfTKbTDrVJZX3kTfyvTQ0eDmyo0eKiXJnoyHVYJzpZ6Pn8bCj8KpmjcfgDhvqsqJiOQXG4dlUyYw5wLzcQlw=="',
  'docker://alpine:3.18@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  'http://localhost:8080,admin@example.com http://localhost:8080/a@b git@github.com:owner/name.git',
  'export OPENAI_API_KEY=sk-... GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx',
  'headers: { Authorization: `Bearer ${token}` } Authorization: Bearer YOUR_API_KEY',
  'postgres://user:password@localhost/db https://${USER}:${PASSWORD}@example.org',
  'class="sk-folding-cube sk-cube-container-large"',
  "if (text.includes('-----BEGIN PRIVATE KEY-----')) throw new Error('no keys');",
  '-----BEGIN CERTIFICATE-----\nMIIB0zCCAX2gAwIBAgIJAI/M7BYjwB+uMA0GCSqGSIb3DQEBBQUAMEUxCzAJBgNV\n-----END CERTIFICATE-----',
  'npm_config_registry=https://registry.npmjs.org/ npm_package_name_of_a_very_long_kind',
  '時刻表示の設定を変更してください。東京都千代田区の天気予報',
])('leaves a text that only resembles one: %s', (text) => {
  expect(mask(text)).toBe(text);
});

it('leaves the code of this project and of its packages as it is', () => {
  for (const folder of ['src', 'docs', 'node_modules/zod/v4', 'node_modules/yaml/dist', 'node_modules/pg'])
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!/\.(?:ts|js|md|json|map)$/.test(name)) continue;
      const text = readFileSync(`${folder}/${name}`, 'utf8');
      expect(mask(text) === text, `${folder}/${name}`).toBe(true);
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
    ['in JSON in JSON', JSON.stringify({ key: JSON.stringify({ key }) })],
    ['with line numbers', key.replaceAll(/^/gm, '  17\t')],
    ['in a diff', key.replaceAll(/^/gm, '+')],
    ['with the line ends of Windows', key.replaceAll('\n', '\r\n')],
    ['in source code', `'${key.split('\n').join("\\n' +\n  '")}'`],
    ['encrypted', key.replace('-----\n', '-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0102\n\n')],
    ['of a kubeconfig', `client-key-data: ${Buffer.from(key).toString('base64')}`],
  ])('are masked %s', (_, text) => {
    const shown = mask(`before\n${text}\nafter`);
    expect(leaks(shown)).toBe(false);
    expect(shown.startsWith('before\n') && shown.endsWith('\nafter')).toBe(true);
    expect(shown.match(/\[redacted/g)).toHaveLength(1);
  });

  it('are searched for in linear time only', () => {
    const started = process.cpuUsage();
    const plus = '+'.repeat(400);
    for (const text of [plus, `-----END ${plus}`, `-----END ${`\\n${'a'.repeat(50)}`.repeat(60)}`])
      expect(mask(text)).toBe(text);
    expect(processorMs(started)).toBeLessThan(10_000);
  });

  it('are masked wherever they are cut, and public keys are not', () => {
    for (let cut = 50; cut < key.length; cut += 7) {
      expect(leaks(mask(key.slice(0, cut)))).toBe(false);
      expect(leaks(mask(`text above\n${key.slice(cut)}\ntext below`))).toBe(false);
    }
    expect(mask(publicKey)).toBe(publicKey);
  });
});

describe('the values of the server’s own variables', () => {
  const secret = 'p/ä+"ss\\wörd?1&x';
  const known = createMask({ MY_API_TOKEN: secret, HTTPS_PROXY: 'http://me:pr0xy%2Fpass@proxy:3128' });

  it.each([
    ['as it is', secret],
    ['in JSON', JSON.stringify(secret)],
    ['in an address', encodeURIComponent(secret)],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['of an address in another variable', 'pr0xy/pass'],
    ['of that as it stands there', 'pr0xy%2Fpass'],
  ])('are masked %s', (_, form) => {
    expect(hasMask(known(`x ${form} y`))).toBe(true);
    expect(mask(`x ${form} y`)).toBe(`x ${form} y`);
  });

  it('are left as they are where they are ordinary words', () => {
    const text = 'postgres true /run/secrets/token osxkeychain-helper1 development keyboard-cat 12345678';
    const names =
      'POSTGRES_PASSWORD USE_TOKEN TOKEN_FILE GIT_CREDENTIAL_HELPER SECRET_KEY_BASE SESSION_SECRET';
    const env = Object.fromEntries(names.split(' ').map((name, at) => [name, text.split(' ')[at]]));
    const others = {
      API_TOKEN: '12345678',
      AUTH_URL: 'https://auth.example.org/login',
      PWD: '/home/me-and-you',
    };
    const ordinary = createMask({ ...env, ...others });
    expect(ordinary(`${text} ${Object.values(others).join(' ')}`)).not.toContain('redacted');
  });
});

it('cuts a text between words, so that no half of a token is shown', () => {
  const token = `ghp_${random(36)}`;
  const words = 'some words of a log '.repeat(40);
  for (let at = 0; at < 400; at += 3) {
    const text = `${words.slice(0, 600 + at)}"${token}"${words}`;
    for (const cut of [headOf(text, 800), tailOf(text, 800), headAndTail(text, 800)])
      expect(mask(cut)).not.toContain(token.slice(-8));
  }
  expect(headOf('x'.repeat(50), 10)).toBe('x'.repeat(10));
  expect(tailOf('x'.repeat(50), 10)).toBe('x'.repeat(10));
  expect(headOf('👍'.repeat(20), 9)).toBe('👍'.repeat(4));
});

it('masks every text of a result', () => {
  const token = `npm_${random(36)}`;
  const masked = maskResult(
    {
      content: [{ type: 'text', text: token }],
      data: { list: [{ [token]: token }], n: 1, none: null },
      meta: { 'toolcrib/x': token },
    },
    mask,
  );
  expect(JSON.stringify(masked)).not.toContain(token);
});
