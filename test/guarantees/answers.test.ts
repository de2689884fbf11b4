import { reading } from './person.ts';
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rawClient, saidIn, type Answer, type RawClient } from '../attacks/raw-client.ts';
import { initialize, startRaw, type RawServer, type ServerOptions } from '../support/server.ts';
import { also, readFile, resetHard, runProgram, startJob, type Act } from './acts.ts';
import { leavesAMark, makeWorld } from './world.ts';

const world = makeWorld(leavesAMark);
afterAll(() => world.end());
const options = (): ServerOptions => ({
  roots: [world.project],
  args: ['--no-checkpoints'],
  env: { ...world.env },
});
function ran(): string {
  const said = world.has('ran') ? world.read('ran') : '';
  rmSync(join(world.project, 'ran'), { force: true });
  return said;
}
beforeEach(() => {
  ran();
});
const writeTool = (says: string) => world.write('tool.sh', `#!/bin/sh\nprintf ${says} >> ran\n`, 0o755);

const act = runProgram('env', 'node', 'run.mjs', 'once');
const other = runProgram('env', 'node', 'run.mjs', 'other');
const tool = runProgram('./tool.sh', '/');
const { name } = act;
const yes = { approval: { action: 'accept' } };

describe('an answer that a client of 2026-07-28 brings with the call', () => {
  let client: RawClient;
  /** Other clients, to be ended. */
  const others: RawClient[] = [];
  const another = async () => {
    const other = await rawClient('2026-07-28', options(), { form: {} });
    others.push(other);
    return other;
  };
  beforeAll(async () => {
    client = await another();
  });
  afterAll(() => Promise.all(others.map((one) => one.end())));
  const call = (more: object = {}, { name: tool, arguments: given }: Act = act) =>
    client.call(tool, given, { ...more });
  const state = async (about = act) => {
    const { result } = await call({}, about);
    expect(result).toMatchObject({ resultType: 'input_required' });
    await reading();
    return result?.requestState;
  };

  it('carries out what was asked about once, also when it comes ten times at once', async () => {
    const requestState = await state();
    const answer = { requestState, inputResponses: yes };
    const all = await Promise.all(Array.from({ length: 10 }, () => call(answer)));
    expect(all.filter(({ result }) => result?.isError !== true)).toHaveLength(1);
    expect(ran()).toBe('once');
    expect(saidIn(await call(answer))).toMatch(/^NOT_CONFIRMED: .*used already/);
    expect(ran()).toBe('');
  });

  it.each<[string, Act]>([
    ['other arguments', other],
    ['more arguments', also(act, { cwd: '.' })],
    ['another tool', resetHard()],
    ['a job', startJob(act)],
  ])('is refused for %s, and after that for the first call too', async (_, swapped) => {
    const answer = { requestState: await state(), inputResponses: yes };
    expect(saidIn(await call(answer, swapped))).toMatch(/^NOT_CONFIRMED: .*something else/);
    expect(saidIn(await call(answer))).toMatch(/^NOT_CONFIRMED: .*used already/);
    expect(ran()).toBe('');
  });

  it('is accepted when the same arguments come in another order', async () => {
    const requestState = await state();
    const again = { name, arguments: Object.fromEntries(Object.entries(act.arguments).toReversed()) };
    expect(saidIn(await call({ requestState, inputResponses: yes }, again))).not.toMatch(/^N/);
    expect(ran()).toBe('once');
  });

  it('is a protocol error under a foreign, changed or made-up name, and uses nothing up', async () => {
    const given = String(await state());
    const { result } = await (await another()).call(name, act.arguments);
    const made = [randomUUID(), `${given}A`, given.slice(0, -2), given.toUpperCase(), '', 'v1.e30.e30', 7];
    const wrong = [result?.requestState, ...made];
    for (const requestState of wrong) {
      const { error } = await call({ requestState, inputResponses: yes });
      expect(error, String(requestState)).toMatchObject({ code: -32602 });
    }
    expect(ran()).toBe('');
    await call({ requestState: given, inputResponses: yes });
    expect(ran()).toBe('once');
  });

  it('is refused when nobody asked, and a call without an answer asks again', async () => {
    expect(saidIn(await call({ inputResponses: yes }))).toMatch(/^NOT_CONFIRMED: .*no question/);
    expect((await call({ requestState: await state() })).result?.resultType).toBe('input_required');
    expect(ran()).toBe('');
  });

  it.each<[string, unknown]>([
    ['of another kind', { roots: [] }],
    ['that is wrapped', { method: 'elicitation/create', result: yes.approval }],
    ['that says yes elsewhere', { action: 'decline', content: { always: 'always: yes' } }],
    ['in capitals', { action: 'ACCEPT' }],
    ['of true', true],
  ])('is no yes when it is an answer %s', async (_, approval) => {
    await call({ requestState: await state(), inputResponses: { approval } });
    expect(ran()).toBe('');
  });

  it('is refused when what the call would do has changed meanwhile', async () => {
    writeTool('good');
    const answer = { requestState: await state(tool), inputResponses: yes };
    writeTool('evil');
    expect(saidIn(await call(answer, tool))).toMatch(/^NOT_CONFIRMED: .*changed/);
    expect(ran()).toBe('');
  });
});

describe('a question to a client of 2025-11-25', () => {
  const servers: RawServer[] = [];
  afterAll(() => servers.forEach(({ child }) => child.kill()));
  async function legacy() {
    const server = startRaw(options());
    servers.push(server);
    await initialize(server, { elicitation: {} });
    const call = (id: number, more: object = {}): Promise<Answer> => {
      server.send({ id, method: 'tools/call', params: { ...act, ...more } });
      return server.next((message) => message.id === id && !message.method) as Promise<Answer>;
    };
    const asked = server.next((message) => message.method === 'elicitation/create');
    return { server, call, asked: asked as Promise<{ id?: number }> };
  }

  it('is asked although an answer comes with the call', async () => {
    const { call, asked } = await legacy();
    void call(2, { inputResponses: yes });
    await asked;
    expect(ran()).toBe('');
  });

  it('is taken back by a call that is cancelled meanwhile, and nothing happens', async () => {
    const { server, call, asked } = await legacy();
    void call(2);
    const { id } = await asked;
    server.send({ method: 'notifications/cancelled', params: { requestId: 2, reason: 'enough' } });
    const taken = await server.next((message) => message.method === 'notifications/cancelled');
    expect(taken).toMatchObject({ params: { requestId: id } });
    // The answer that was on its way.
    server.send({ id, result: { action: 'accept' } });
    await call(3, { ...readFile('README.md') });
    expect(ran()).toBe('');
  });

  it('lets nothing happen when the client fails to ask', async () => {
    const { server, call, asked } = await legacy();
    const answer = call(2);
    server.send({ id: (await asked).id, error: { code: -32603, message: 'no window' } });
    expect((await answer).result?.isError).toBe(true);
    expect(ran()).toBe('');
  });
});

describe('a server whose host has the key and asks by itself', () => {
  const key = 'ab'.repeat(32);
  let server: RawServer;
  let id = 10;
  beforeAll(async () => {
    server = startRaw({ ...options(), key });
    await initialize(server, { elicitation: {} });
  });
  afterAll(() => server.child.kill());
  const call = (meta: object, about = act): Promise<Answer> => {
    const mine = ++id;
    const params = { ...about, _meta: meta };
    server.send({ id: mine, method: 'tools/call', params });
    return server.next((message) => message.id === mine && !message.method) as Promise<Answer>;
  };
  const planOf = async (about?: Act) =>
    (await call({ 'toolcrib/key': key, 'toolcrib/plan': true }, about)).result?._meta?.['toolcrib/plan'] as {
      ticket: string;
    };
  const said = (ticket: string, more: object = {}) => ({
    'toolcrib/key': key,
    'toolcrib/ticket': ticket,
    ...more,
  });

  it('returns the plan of a call with a ticket, and does nothing', async () => {
    expect(await planOf(other)).toMatchObject({
      decision: 'ask',
      subject: 'env node run.mjs other',
      folder: world.project,
      takenBack: false,
      question: expect.stringContaining(`\nIn ${world.project}`) as string,
      ticket: expect.any(String) as string,
    });
    expect(ran()).toBe('');
  });

  it('runs a plan once for its ticket, and never asks', async () => {
    const { ticket } = await planOf();
    expect(saidIn(await call(said(ticket)))).not.toMatch(/^N/);
    expect(ran()).toBe('once');
    expect(saidIn(await call(said(ticket)))).toMatch(/^NOT_CONFIRMED/);
    expect(server.lines.join('\n')).not.toContain('elicitation/create');
  });

  it('does nothing without the ticket or the key, for another act, or when the act has changed', async () => {
    expect(saidIn(await call({ 'toolcrib/key': key }))).toMatch(/^NEEDS_CONFIRM/);
    expect(saidIn(await call({}))).toMatch(/^NEEDS_CONFIRM/);
    const { ticket } = await planOf();
    for (const wrong of ['', 'x', `${key}x`])
      expect(saidIn(await call({ ...said(ticket), 'toolcrib/key': wrong }))).toMatch(/^NEEDS_CONFIRM/);
    expect((await call({ 'toolcrib/plan': true })).result?._meta).toBeUndefined();
    expect(saidIn(await call(said(ticket), other))).toMatch(/^NOT_CONFIRMED/);
    expect(saidIn(await call(said(ticket)))).toMatch(/^NOT_CONFIRMED/);
    writeTool('good');
    const changing = await planOf(tool);
    writeTool('evil');
    expect(saidIn(await call(said(changing.ticket), tool))).toMatch(/^NOT_CONFIRMED/);
    expect(ran()).toBe('');
  });

  it('shows its key to no program and no other process of the machine', async () => {
    const environment = runProgram('env');
    const { ticket } = await planOf(environment);
    expect(saidIn(await call(said(ticket), environment))).not.toContain(key);
    if (process.platform === 'linux')
      expect(readFileSync(`/proc/${server.child.pid}/cmdline`, 'utf8')).not.toContain(key);
  });
});
