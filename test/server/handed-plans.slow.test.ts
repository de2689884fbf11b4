import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../tools/files/folder.ts';
import { program } from '../support/server.ts';

const key = 'ab'.repeat(32);

interface Result {
  readonly content: readonly { readonly text: string }[];
  readonly _meta?: { readonly 'toolcrib/plan'?: Record<string, unknown> };
}

/** A server with a key, spoken to line by line: `first` is what it gets before anything else. */
async function keyedServer(first = key) {
  const [cwd, state] = [await temporaryFolder(), await temporaryFolder()];
  writeFileSync(join(cwd, 'package.json'), '{"scripts":{"test":"node test.js"}}');
  writeFileSync(join(cwd, 'test.js'), "require('fs').appendFileSync('ran.log', 'x');\n");
  const child = spawn(process.execPath, [program, 'serve', '--root', cwd, '--key-fd=0'], {
    cwd,
    env: { ...process.env, XDG_STATE_HOME: state },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const answers = new Map<number, (result: Result) => void>();
  const asked: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, method, result } = JSON.parse(line) as { id: number; method?: string; result: Result };
    if (method === undefined) answers.get(id)?.(result);
    else asked.push(method);
  });
  child.stdin.write(`${first}\n`);
  let id = 0;
  const request = (method: string, params: object) =>
    new Promise<Result>((resolve) => {
      answers.set(++id, resolve);
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  void request('initialize', {
    protocolVersion: '2025-11-25',
    capabilities: { elicitation: {} },
    clientInfo: { name: 'test', version: '1' },
  });
  return {
    asked,
    ran: () => (existsSync(join(cwd, 'ran.log')) ? readFileSync(join(cwd, 'ran.log'), 'utf8').length : 0),
    async call(meta: object, name = 'npm_test', args: object = {}) {
      const result = await request('tools/call', { name, arguments: args, _meta: meta });
      return { text: result.content[0]?.text ?? '', plan: result._meta?.['toolcrib/plan'] };
    },
  };
}

it('hands out a plan for the key, runs it on its ticket once, and asks nobody', async () => {
  const { call, ran, asked } = await keyedServer();
  const planned = await call({ 'toolcrib/key': key, 'toolcrib/plan': true });
  expect(planned.plan).toMatchObject({
    decision: 'ask',
    subject: 'npm test',
    effects: expect.arrayContaining(['execute']),
    question: expect.stringMatching(
      /^Trust .*\?\nIts code may run.*\nFor npm test: it runs code of this folder.*$/,
    ),
  });
  expect((await call({})).text).toContain('NEEDS_CONFIRM');
  expect((await call({ 'toolcrib/key': key })).text).toContain('NEEDS_CONFIRM');
  expect(ran()).toBe(0);
  const said = { 'toolcrib/key': key, 'toolcrib/ticket': planned.plan?.['ticket'], 'toolcrib/said': 'once' };
  await call(said);
  expect(ran()).toBe(1);
  // Nothing is kept of that, and the ticket is used.
  expect((await call(said)).text).toContain('NOT_CONFIRMED');
  expect((await call({})).text).toContain('NEEDS_CONFIRM');
  expect([ran(), asked]).toEqual([1, []]);
});

it('takes no ticket for another call, and none without the key', async () => {
  const { call, ran } = await keyedServer();
  const ticketed = async () => {
    const { plan } = await call({ 'toolcrib/key': key, 'toolcrib/plan': true });
    return { 'toolcrib/ticket': plan?.['ticket'], 'toolcrib/said': 'yes' };
  };
  const command = { command: 'node', args: ['test.js'] };
  const other = await call({ ...(await ticketed()), 'toolcrib/key': key }, 'run', command);
  expect(other.text).toContain('NOT_CONFIRMED');
  expect((await call(await ticketed())).text).toContain('NEEDS_CONFIRM');
  const wrong = 'cd'.repeat(32);
  expect((await call({ ...(await ticketed()), 'toolcrib/key': wrong })).text).toContain('NEEDS_CONFIRM');
  expect((await call({ 'toolcrib/key': wrong, 'toolcrib/plan': true })).plan).toBeUndefined();
  expect(ran()).toBe(0);
  await call({ ...(await ticketed()), 'toolcrib/key': key });
  await call({});
  expect(ran()).toBe(2);
});

it('does not start where there is no key', async () => {
  const child = spawn(process.execPath, [program, 'serve', '--key-fd=0'], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text: Buffer) => {
    said += text.toString();
  });
  child.stdin.end('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  expect(await new Promise((resolve) => child.once('close', resolve))).toBe(2);
  expect(said).toBe('toolcrib: --key-fd=0: there is no key in it.\n');
});
