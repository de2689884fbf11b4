import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { chatPlace, leave, openChat } from '../support/chat.ts';

const noting = fileURLToPath(new URL('../fixtures/noting-modules.cjs', import.meta.url));

/** Words that a library has and we have not, and minifying leaves. */
const libraries = {
  zod: 'invalid_union',
  'the MCP SDK': 'notifications/roots/list_changed',
  'the SDK of OpenAI': 'X-Stainless-Lang',
  'the SDK of Anthropic': 'anthropic-beta',
  ajv: 'strictTypes',
  yaml: 'YAMLParseError',
};

it.each([
  ['the chat alone, when nothing is configured', [], ['--model', 'openai/gpt-5.4'], 120_000],
  ['the chat and what reads the configuration, when there is one', ['zod', 'yaml'], [], 320_000],
] as const)('loads before the prompt only %s', async (_what, wanted, args, most) => {
  const place = await chatPlace();
  const file = join(place.home, 'ran.json');
  if (wanted.length === 0) rmSync(join(place.home, '.config', 'toolcrib', 'chat.yaml'));
  const env = {
    ...place.env,
    NODE_OPTIONS: `--require=${JSON.stringify(noting)}`,
    RAN: file,
    OPENAI_API_KEY: 'none',
  };
  const chat = openChat({ ...place, env }, [...args]);
  await chat.sees(/^>$/m);
  await leave(chat);
  const ran = readFileSync(file, 'latin1');
  const found = Object.entries(libraries).flatMap(([library, word]) => (ran.includes(word) ? [library] : []));
  expect(found).toEqual(wanted);
  // A program that grows by as much has taken in something else.
  expect(ran.length).toBeGreaterThan(60_000);
  expect(ran.length).toBeLessThan(most);
});
