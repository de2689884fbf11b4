import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { PermitRequest } from '../../src/core/tool.ts';
import { approvalFixture, type ApprovalFixture } from '../support/approval-fixture.ts';
import { askedIn } from '../support/person.ts';
import { startRaw, type RawServer } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

let fixture: ApprovalFixture;
beforeAll(async () => {
  fixture = await approvalFixture();
});
afterAll(() => fixture.end());
beforeEach(() => fixture.forget());

const reset: PermitRequest = {
  effects: ['destroy'],
  folder: '/work/project',
  command: 'git reset --hard',
};

/** What a call is answered, as it comes. */
interface Result {
  readonly resultType?: string;
  readonly inputRequests?: { readonly approval: { readonly params: object } };
  readonly requestState?: string;
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
}
interface Failure {
  readonly code: number;
  readonly message: string;
}

const envelope = (elicitation: object | undefined = {}) => ({
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'raw', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation },
});
const yes = { approval: { action: 'accept', content: { decision: 'yes' } } };

/** A client of 2026-07-28 without an SDK, which sends what it likes. */
function modern(server: RawServer) {
  let id = 0;
  return async (params: object = {}): Promise<Result & { readonly error?: Failure }> => {
    const mine = ++id;
    server.send({
      id: mine,
      method: 'tools/call',
      params: { name: 'tool', arguments: { a: 1 }, _meta: envelope(), ...params },
    });
    const answer = await server.next((message) => message.id === mine);
    const { result, error } = answer as { result?: Result; error?: Failure };
    return { ...result, ...(error && { error }) };
  };
}

const started: RawServer[] = [];
afterAll(() => started.forEach(({ child }) => child.kill()));
function start(): RawServer {
  const server = startRaw(fixture.options);
  started.push(server);
  return server;
}

describe('an answer', () => {
  let call: ReturnType<typeof modern>;
  beforeAll(() => {
    call = modern(start());
  });

  it('lets what was asked about happen once', async () => {
    fixture.world({ requests: [reset] });
    const asked = await call();
    expect(asked).toMatchObject({ resultType: 'input_required' });
    expect(askedIn(asked.inputRequests?.approval.params).message).toContain('git reset --hard');
    const answer = { requestState: asked.requestState, inputResponses: yes };
    expect(textOf(await call(answer))).toBe('done');
    expect(textOf(await call(answer))).toMatch(/^NOT_CONFIRMED: .*used already/);
    expect(fixture.done()).toHaveLength(1);
  });

  it('counts once when it comes twice at the same time', async () => {
    fixture.world({ requests: [reset] });
    const { requestState } = await call();
    const all = await Promise.all(
      Array.from({ length: 10 }, () => call({ requestState, inputResponses: yes })),
    );
    expect(all.filter((one) => textOf(one) === 'done')).toHaveLength(1);
    expect(fixture.done()).toHaveLength(1);
  });

  it.each([
    ['other arguments', { arguments: { a: 2 } }],
    ['more arguments', { arguments: { a: 1, force: true } }],
    ['no arguments', { arguments: undefined }],
    ['another tool', { name: 'other' }],
  ])('to one call is none to %s, nor to the first one after that', async (_, swapped) => {
    fixture.world({ requests: [reset] });
    const { requestState } = await call();
    const answer = { requestState, inputResponses: yes };
    expect(textOf(await call({ ...answer, ...swapped }))).toMatch(/^NOT_CONFIRMED: .*something else/);
    expect(textOf(await call(answer))).toMatch(/^NOT_CONFIRMED: .*used already/);
    expect(fixture.done()).toEqual([]);
  });

  it('holds when the same arguments come in another order', async () => {
    fixture.world({ requests: [reset] });
    const { requestState } = await call({ arguments: { a: { x: 1, y: 2 }, b: 3 } });
    const again = { arguments: { b: 3, a: { y: 2, x: 1 } }, requestState, inputResponses: yes };
    expect(textOf(await call(again))).toBe('done');
  });

  it('of one client is none of another', async () => {
    fixture.world({ requests: [reset] });
    const { requestState } = await call();
    fixture.world({ requests: [reset], client: 'another' });
    const taken = await call({ requestState, inputResponses: yes });
    expect(textOf(taken)).toMatch(/^NOT_CONFIRMED: .*something else/);
    expect(fixture.done()).toEqual([]);
  });

  it('that comes too late is told so', async () => {
    fixture.world({ requests: [reset], lifetimeSeconds: -2 });
    const late = modern(start());
    const { requestState } = await late();
    expect(textOf(await late({ requestState, inputResponses: yes }))).toMatch(/^NOT_CONFIRMED: .*too late/);
    expect(fixture.done()).toEqual([]);
  });

  it('to a question that nobody asked is refused', async () => {
    fixture.world({ requests: [reset] });
    expect(textOf(await call({ inputResponses: yes }))).toMatch(/^NOT_CONFIRMED: .*no question/);
    expect(fixture.done()).toEqual([]);
  });

  it('with a state that was changed, made up or signed by another server is an error of the protocol', async () => {
    fixture.world({ requests: [reset] });
    const other = modern(start());
    const { requestState: state = '' } = await call();
    const { requestState: foreign } = await other();
    const [version, body = '', signature] = state.split('.');
    const payload = JSON.parse(Buffer.from(body, 'base64url').toString()) as { p: object };
    const forged = { ...payload, p: { ...payload.p, settled: [] }, exp: 9_999_999_999 };
    const changed = [version, Buffer.from(JSON.stringify(forged)).toString('base64url'), signature].join('.');
    for (const requestState of [changed, `${state}A`, state.slice(0, -2), '', 'v1.e30.e30', foreign, 7]) {
      const { error } = await call({ requestState, inputResponses: yes });
      expect(error).toMatchObject({ code: -32602 });
    }
    expect(fixture.done()).toEqual([]);
    // None of that used the real one up.
    expect(textOf(await call({ requestState: state, inputResponses: yes }))).toBe('done');
  });

  it.each([
    ['of another kind', { roots: [] }],
    ['that is wrapped', { method: 'elicitation/create', result: yes.approval }],
    ['that says yes elsewhere', { action: 'decline', content: { decision: 'yes' } }],
    ['with a list', { action: 'accept', content: { decision: ['yes'] } }],
    ['in capitals', { action: 'accept', content: { decision: 'YES' } }],
    [
      'that inherits its yes',
      { action: 'accept', content: JSON.parse('{"__proto__":{"decision":"yes"}}') as object },
    ],
    ['that was not offered', { action: 'accept', content: { decision: 'trust' } }],
    ['of true', { action: 'accept', content: { decision: true } }],
  ])('%s is a no', async (_, approval) => {
    fixture.world({ requests: [reset] });
    const { requestState } = await call();
    const answered = await call({ requestState, inputResponses: { approval } });
    expect(answered.error ?? textOf(answered)).toEqual(expect.stringMatching(/^NOT_CONFIRMED/));
    expect(fixture.done()).toEqual([]);
  });

  it('is asked for again when a call comes back without it', async () => {
    fixture.world({ requests: [reset] });
    const { requestState } = await call();
    expect(await call({ requestState })).toMatchObject({ resultType: 'input_required' });
    expect(fixture.done()).toEqual([]);
  });

  it('to the first of two questions does not count for the second', async () => {
    fixture.world({ requests: [reset, { ...reset, command: 'git clean -fdx' }] });
    const first = await call();
    const second = await call({ requestState: first.requestState, inputResponses: yes });
    expect(askedIn(second.inputRequests?.approval.params).message).toContain('git clean');
    const replayed = await call({ requestState: first.requestState, inputResponses: yes });
    expect(textOf(replayed)).toMatch(/^NOT_CONFIRMED/);
    expect(fixture.done()).toEqual([]);
    expect(textOf(await call({ requestState: second.requestState, inputResponses: yes }))).toBe('done');
  });
});

describe('with an older client', () => {
  /** A client of before 2026-07-28 without an SDK. */
  async function legacy(version = '2025-11-25', elicitation: object = {}) {
    const server = start();
    const clientInfo = { name: 'raw', version: '1' };
    const params = { protocolVersion: version, capabilities: { elicitation }, clientInfo };
    server.send({ id: 1, method: 'initialize', params });
    await server.next((message) => message.id === 1);
    server.send({ method: 'notifications/initialized' });
    const call = (id: number, more: object = {}) => {
      server.send({ id, method: 'tools/call', params: { name: 'tool', arguments: { a: 1 }, ...more } });
      return server.next((message) => message.id === id);
    };
    const question = () => server.next((message) => message.method === 'elicitation/create');
    return { server, call, question };
  }

  it('an answer that nobody asked for is refused', async () => {
    fixture.world({ requests: [reset] });
    const { call } = await legacy();
    const answer = await call(2, { inputResponses: yes });
    expect(textOf(answer.result)).toMatch(/^NOT_CONFIRMED: .*no question/);
    expect(fixture.done()).toEqual([]);
  });

  it('a call that is cancelled while somebody is asked takes the question back, and does nothing', async () => {
    fixture.world({ requests: [reset] });
    const { server, call, question } = await legacy();
    void call(2);
    const { id = 0 } = (await question()) as { id?: number };
    server.send({ method: 'notifications/cancelled', params: { requestId: 2, reason: 'enough' } });
    const taken = await server.next((message) => message.method === 'notifications/cancelled');
    expect(taken).toMatchObject({ params: { requestId: id } });
    // The answer that was on its way.
    server.send({ id, result: { action: 'accept', content: { decision: 'yes' } } });
    fixture.world({ requests: [] });
    expect(textOf((await call(3)).result)).toBe('done');
    expect(fixture.done()).toHaveLength(1);
  });

  it('nothing happens when it fails to ask', async () => {
    fixture.world({ requests: [reset] });
    const { server, call, question } = await legacy();
    const answer = call(2);
    const { id = 0 } = (await question()) as { id?: number };
    server.send({ id, error: { code: -32603, message: 'no window' } });
    expect((await answer).result).toMatchObject({ isError: true });
    expect(fixture.done()).toEqual([]);
  });

  it('choices are listed as it knows them', async () => {
    fixture.world({ requests: [reset] });
    const { call, question } = await legacy('2025-06-18');
    void call(2);
    const { params } = await question();
    expect((params as unknown as { requestedSchema: object }).requestedSchema).toMatchObject({
      properties: {
        decision: {
          enum: ['yes', 'always', 'no'],
          enumNames: ['Yes, this time', 'Yes, and always: tool in this project', 'No'],
        },
      },
    });
  });
});
