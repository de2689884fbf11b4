import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/repository.ts';
import { connect, eras, inherited } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

const editors = Array.from({ length: 50 }, (_, index) => index);
const lines = editors.map((index) => `line ${index} is free\n`);

async function clientsFor(count: number, era: (typeof eras)[number], folder: string): Promise<Client[]> {
  const env = { ...inherited(), XDG_STATE_HOME: temporaryFolder() };
  const clients = await Promise.all(
    Array.from({ length: count }, () => connect(era, { roots: [folder], env })),
  );
  onTestFinished(async () => {
    await Promise.all(clients.map((client) => client.close()));
  });
  return clients;
}

async function edit(client: Client, index: number): Promise<string> {
  const edit = { old_string: `line ${index} is free`, new_string: `line ${index} is taken` };
  return textOf(await client.callTool({ name: 'edit_file', arguments: { path: 'a.txt', ...edit } }));
}

it.each(eras)('loses no edit of 50 editors at once, in %s', async (era) => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'a.txt'), lines.join(''));
  const [client] = await clientsFor(1, era, folder);
  await client!.callTool({ name: 'read_file', arguments: { path: 'a.txt' } });
  const answers = await Promise.all(editors.map((index) => edit(client!, index)));
  expect(answers.filter((answer) => !answer.startsWith('Edited a.txt: +1 -1'))).toEqual([]);
  expect(readFileSync(join(folder, 'a.txt'), 'utf8')).toBe(lines.join('').replaceAll('free', 'taken'));
});
