import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { rawClient, saidIn, type RawClient } from '../attacks/raw-client.ts';
import { resetHard, runFile, type Act } from './acts.ts';
import { questionIn, says } from './person.ts';
import { makeWorld } from './world.ts';

const world = makeWorld({
  'run.mjs': "import { appendFileSync } from 'node:fs';\nappendFileSync('ran', `${process.argv[2]}\\n`);\n",
});
/** Makes up what it sends. */
let client: RawClient;
beforeAll(async () => {
  client = await rawClient('2026-07-28', { roots: [world.project], env: { ...world.env } }, { form: {} });
});
beforeEach(() => rmSync(join(world.project, 'ran'), { force: true }));
afterAll(async () => {
  await client.end();
  await world.end();
});

interface Asked {
  readonly requestState: string;
  readonly inputResponses: Readonly<Record<string, unknown>>;
}

/** Makes a call that is asked about: what a client would send with it to say yes. */
async function askedAbout({ name, arguments: given }: Act): Promise<Asked> {
  const { result } = await client.call(name, given);
  const { requestState = '', inputRequests = {} } = (result ?? {}) as {
    requestState?: string;
    inputRequests?: Record<string, { params: unknown }>;
  };
  const [[key = '', { params } = { params: {} }] = []] = Object.entries(inputRequests);
  return { requestState, inputResponses: { [key]: await says.yes(questionIn(params)) } };
}
const call = async ({ name, arguments: given }: Act, more: object) =>
  saidIn(await client.call(name, given, { ...more }));
const ran = () => (world.has('ran') ? world.read('ran') : '');

it('lets an answer count once', async () => {
  const act = runFile('run.mjs', 'once');
  const answer = await askedAbout(act);
  await call(act, answer);
  expect(ran()).toBe('once\n');
  await call(act, answer);
  expect(ran()).toBe('once\n');
});

it('lets an answer count once when it comes ten times together', async () => {
  const act = runFile('run.mjs', 'together');
  const answer = await askedAbout(act);
  await Promise.all(Array.from({ length: 10 }, () => call(act, answer)));
  expect(ran()).toBe('together\n');
});

it('lets an answer count for nothing but the call that was asked about', async () => {
  await call(runFile('run.mjs', 'evil'), await askedAbout(runFile('run.mjs', 'good')));
  world.write('src/a.txt', 'changed\n');
  await call(resetHard(), await askedAbout(runFile('run.mjs', 'good')));
  expect(ran()).toBe('');
  expect(world.read('src/a.txt')).toBe('changed\n');
});

it('believes no state that it has not signed, and no answer that it has not asked for', async () => {
  const act = runFile('run.mjs', 'forged');
  const { requestState, inputResponses } = await askedAbout(act);
  const [version = '', body = '', signature = ''] = requestState.split('.');
  const changed = Buffer.from(JSON.stringify({ ...decoded(body), exp: 9_999_999_999 })).toString('base64url');
  for (const state of [
    `${requestState}A`,
    [version, changed, signature].join('.'),
    '',
    'v1.e30.e30',
    undefined,
  ])
    await call(act, { inputResponses, ...(state !== undefined && { requestState: state }) });
  expect(ran()).toBe('');
});

it('takes nothing for a yes but an answer that accepts', async () => {
  const act = runFile('run.mjs', 'unclear');
  for (const reply of [
    { action: 'decline' },
    { action: 'cancel' },
    { action: 'ACCEPT' },
    {},
    null,
    true,
    'accept',
  ]) {
    const { requestState, inputResponses } = await askedAbout(act);
    const keys = Object.keys(inputResponses);
    await call(act, { requestState, inputResponses: Object.fromEntries(keys.map((key) => [key, reply])) });
  }
  expect(ran()).toBe('');
});

const decoded = (body: string): object => {
  try {
    return JSON.parse(Buffer.from(body, 'base64url').toString()) as object;
  } catch {
    return {};
  }
};
