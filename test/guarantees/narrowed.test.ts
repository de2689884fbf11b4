import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, expect, it } from 'vitest';
import { textOf } from '../support/text-of.ts';
import { readFile } from './acts.ts';
import { program } from './session.ts';
import { makeWorld } from './world.ts';

const world = makeWorld({ 'docs/a.txt': 'a', 'app/b.txt': 'b' });
afterAll(() => world.end());

it.each([
  [
    'a project has narrowed, also where a client opens a folder below it',
    '{ "roots": ["docs"] }',
    'app',
    'app/b.txt',
  ],
  ['the operator has given, also where a client opens all there is', '{}', '..', '../outside/secret.txt'],
])('ATTACK 56: opens no more than the roots that %s', async (_, settings, opened, path) => {
  world.write('.toolcrib.json', settings);
  const client = new Client({ name: 'guarantees', version: '1' }, { capabilities: { roots: {} } });
  const uri = pathToFileURL(join(world.project, opened)).href;
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri }] }));
  const args = [program, 'serve', '--root', world.project];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: { ...world.env } }));
  const result = await client.callTool({ ...readFile(join(world.project, path)) });
  await client.close();
  expect(result.isError).toBe(true);
  expect(textOf(result)).not.toMatch(/^1\tb$|the neighbour/m);
});
