import { pathToFileURL } from 'node:url';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, expect, it } from 'vitest';
import { textOf } from '../support/text-of.ts';
import { readFile } from './acts.ts';
import { program } from './session.ts';
import { makeWorld } from './world.ts';

const world = makeWorld({ '.toolcrib.json': '{ "roots": ["docs"] }', 'docs/a.txt': 'a', 'app/b.txt': 'b' });
afterAll(() => world.end());

it("narrows the operator's root also where the client has opened a folder below it", async () => {
  const client = new Client({ name: 'guarantees', version: '1' }, { capabilities: { roots: {} } });
  const uri = pathToFileURL(join(world.project, 'app')).href;
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri }] }));
  const args = [program, 'serve', '--root', world.project];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env: { ...world.env } }));
  const result = await client.callTool({ ...readFile('b.txt') });
  await client.close();
  expect(result.isError).toBe(true);
  expect(textOf(result)).not.toMatch(/^b$/m);
});
