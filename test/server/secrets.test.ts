import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, inherited } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { tokens } from '../support/tokens.ts';

const known = 'kZ8-very-secret-4711';
const all = [...tokens.map(([, , secret]) => secret), known];
const text = [...tokens.map(([, token]) => token), `value ${known}`].join('\n');

let client: Client;
const base = mkdtempSync(join(tmpdir(), 'toolcrib-test-'));
const folder = join(base, 'project');
beforeAll(async () => {
  mkdirSync(folder);
  writeFileSync(join(folder, 'secrets.txt'), `${text}\n`);
  writeFileSync(join(folder, 'odd.txt'), `x${text}\n`);
  const rows = Array.from({ length: 200 }, () => text.split('\n'));
  writeFileSync(join(folder, 'minified.json'), JSON.stringify(rows));
  const env = { ...inherited(), MY_API_TOKEN: known, XDG_STATE_HOME: join(base, 'state') };
  client = await connect('2025-11-25', { roots: [folder], env });
});
afterAll(async () => {
  await client.close();
  rmSync(base, { recursive: true, force: true });
});

const call = async (name: string, given: Record<string, unknown>) =>
  JSON.stringify(await client.callTool({ name, arguments: given }));
const expectMasked = (result: string) => {
  expect(result).toContain('[redacted by');
  for (const secret of all) expect(result).not.toContain(secret);
};

it.each([
  ['read_file', { path: 'secrets.txt' }],
  ['read_file', { path: 'minified.json' }],
  ['read_file', { paths: ['secrets.txt', 'odd.txt'] }],
  ['grep', { pattern: '.', path: 'secrets.txt' }],
  ['grep', { pattern: 'value', path: 'minified.json' }],
  ['read_file', { path: `nowhere/${known}` }],
])('ATTACK 95: shows no secret by %s %j', async (name, given) => {
  expectMasked(await call(name, given));
});

it('ATTACK 95: masks a secret of a database in data', async () => {
  const made = spawnSync('sqlite3', [
    join(folder, 'data.db'),
    `create table t(a); insert into t values('${known}')`,
  ]);
  if (made.status !== 0) return;
  expectMasked(await call('sqlite3_query', { database: 'data.db', sql: 'select a, a as b from t' }));
});

// The bytes of UTF-8, read as UTF-16, are other characters, from which anybody can have them back.
it.each(['utf-16le', 'utf-16be'])(
  'ATTACK 95: gives no way round by a wrong encoding: %s',
  async (encoding) => {
    for (const path of ['secrets.txt', 'odd.txt']) {
      for (const [name, given] of [
        ['read_file', { path, encoding }],
        ['grep', { pattern: '.', path, encoding }],
      ] as const) {
        const shown = textOf(await client.callTool({ name, arguments: given }));
        for (const view of [Buffer.from(shown, 'utf16le'), Buffer.from(shown, 'utf16le').swap16()])
          for (const secret of all) expect(view.toString('latin1')).not.toContain(secret);
      }
    }
  },
);

it('ATTACK 95: has no parameter of grep that writes matches in another form', async () => {
  const { tools } = await client.listTools();
  const { properties = {} } = tools.find(({ name }) => name === 'grep')?.inputSchema ?? {};
  expect(Object.keys(properties)).not.toContain('replace');
  expect(await call('grep', { pattern: '(gh)(p_.*)', replace: '$1-$2' })).toContain('ARG_INVALID');
});

it('leaves a masked file as it is, and writes no mask into it', async () => {
  writeFileSync(join(folder, 'edited.txt'), `token: ${known}\nname: a\n`);
  const shown = textOf(await client.callTool({ name: 'read_file', arguments: { path: 'edited.txt' } }));
  const [line = ''] = shown.replaceAll(/^\d+\t/gm, '').split('\n');
  expect(line).toMatch(/^token: \[redacted by/);
  const edit = (old: string, to: string) =>
    call('edit_file', { path: 'edited.txt', old_string: old, new_string: to });
  expect(await edit(line, 'x')).toContain('ARG_INVALID');
  expect(await edit('name: a', line)).toContain('ARG_INVALID');
  expect(await edit('name: a', 'name: b')).not.toContain('isError":true');
});

it('writes the control characters of data out, and notes that it does', async () => {
  const sql = "select 'a' || char(27) || '[31m' || char(8238) || char(13) || 'b' as v, 'plain' as w";
  writeFileSync(join(folder, 'empty.db'), '');
  const result = await client.callTool({ name: 'sqlite3_query', arguments: { database: 'empty.db', sql } });
  if (result.isError && textOf(result).startsWith('PROGRAM_NOT_FOUND')) return;
  expect(textOf(result)).toContain('a\\u001b[31m\\u202e b\tplain');
});
