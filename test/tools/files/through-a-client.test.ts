import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect } from '../../support/server.ts';
import { textOf } from '../../support/text-of.ts';
import { put, temporaryFolder } from './folder.ts';

let root: string;
let client: Client;

beforeAll(async () => {
  root = await temporaryFolder();
  client = await connect('2025-11-25', { roots: [root] });
});
afterAll(() => client.close());

const call = async (name: string, given: object): Promise<string> =>
  textOf(await client.callTool({ name, arguments: { ...given } }));

it.each(['constructor', '__proto__', 'toString'])('refuses the encoding %s as unknown', async (encoding) => {
  writeFileSync(join(root, 'a.txt'), 'caf\u00e9\n');
  const unknown = /^ARG_INVALID: encoding: .*is not known/;
  expect(await call('read_file', { path: 'a.txt', encoding })).toMatch(unknown);
  expect(await call('write_file', { path: 'new.txt', content: '\u00e9', encoding })).toMatch(unknown);
  expect(await call('edit_file', { path: 'a.txt', old_string: 'caf', new_string: 'x', encoding })).toMatch(
    unknown,
  );
  expect(await call('grep', { pattern: 'caf', encoding })).toMatch(unknown);
  expect(existsSync(join(root, 'new.txt'))).toBe(false);
});

it('leaves files out of its notes that were not searched because it stopped ripgrep itself', async () => {
  await put(root, { 'logs/a.log': 'match\n'.repeat(200_000), 'logs/b.log': 'match\n'.repeat(200_000) });
  expect(await call('grep', { pattern: 'match', path: 'logs', limit: 3 })).toMatch(
    /^logs\/a\.log\n1:match\n2:match\n3:match\n\[3 matching lines, there are more; narrow it by path or glob\]$/,
  );
});

it('walks once for all pages of a glob', async () => {
  const names = Array.from({ length: 30 }, (_, index) => `many/${10 + index}.ts`);
  await put(root, Object.fromEntries(names.map((name) => [name, ''])));
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const given = { glob: 'many/*.ts', limit: 7, ...(cursor ? { cursor } : {}) };
    const lines = (await call('list_files', given)).split('\n');
    cursor = /cursor ([\w-]+)\]$/.exec(lines.pop() ?? '')?.[1];
    found.push(...lines);
    // What is made between two pages belongs to the next walk.
    await put(root, { [`many/99-${found.length}.ts`]: '' });
  } while (cursor);
  expect(found).toEqual(names);
});

it('returns nothing of what was written into a new file', async () => {
  const content = 'a line of a new file\n'.repeat(400);
  const answer = await call('write_file', { path: 'deep/new.txt', content });
  expect(answer).toMatch(/^Wrote deep\/new\.txt, a new file: \+400 -0 \(change [\w-]+\)\n?$/);
  expect(readFileSync(join(root, 'deep/new.txt'), 'utf8')).toBe(content);
});

it.each([
  [
    { name: 'x', scripts: { test: 'vitest' } },
    '{\n  "name": "x",\n  "scripts": {\n    "test": "vitest"\n  }\n}\n',
  ],
  [['a'], '[\n  "a"\n]\n'],
])('writes content that is not text as its JSON: %j', async (content, written) => {
  expect(await call('write_file', { path: 'made/package.json', content })).toMatch(/^(?:Wrote|NOT_READ)/);
  await call('write_file', { path: 'made/package.json', content });
  expect(readFileSync(join(root, 'made/package.json'), 'utf8')).toBe(written);
});
