import { EventEmitter } from 'node:events';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeHome, type Home } from '../journeys/home.ts';
import { megabytes } from '../journeys/process-table.ts';
import type { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { connect, eras, initialize, startRaw } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { until } from '../support/until.ts';
import { makeSoakProject } from './soak-calls.ts';

/** The number of programs, and of calls, that may go on at a time. */
const atOnce = 16;
/** Calls that may wait. */
const mostWaiting = 5000;
/** The most memory that a server may ever have: it idles at some 80 MB. */
const mostMegabytes = 350;

/** Notes when it begins and when it ends: one line each, written in one piece. */
const noting = `#!/bin/sh
echo + >> ../noted
sleep 0.02
echo "number $1"
echo - >> ../noted
`;
/** Goes on when it may. */
const holding = `#!/bin/sh
echo "$1" >> ../held
while [ ! -e ../go ]; do sleep 0.05; done
echo released
`;

let home: Home;
beforeAll(() => {
  // Each call of this client that waits for its pipe listens to it.
  EventEmitter.defaultMaxListeners = 0;
  home = makeHome({ rules: { run: 'allow' }, budgets: { calls: atOnce } }, ['--no-checkpoints']);
  makeSoakProject(home);
  for (const [name, text] of [
    ['noting.sh', noting],
    ['holding.sh', holding],
  ] as const) {
    writeFileSync(join(home.project, name), text);
    chmodSync(join(home.project, name), 0o755);
  }
});
afterAll(() => home.end());

const linesOf = (name: string): string[] => {
  const path = join(home.folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
};
/** The standard error of the server, which is empty. */
function complaintsOf(client: Client): () => string {
  const { stderr } = client.transport as StdioClientTransport;
  let said = '';
  stderr?.on('data', (chunk: Buffer) => {
    said += String(chunk);
  });
  return () => said;
}
const pidOf = (client: Client) => (client.transport as StdioClientTransport).pid ?? 0;

/** The n-th of many calls, and what only its own answer says. */
function callAt(at: number): { name: string; given: Record<string, unknown>; says: RegExp } {
  const [kind, page] = [at % 20, at % 20];
  if (kind < 2)
    return {
      name: 'run',
      given: { command: './noting.sh', args: [String(at)] },
      says: new RegExp(`^number ${at}$`),
    };
  if (kind === 2) return { name: 'git_log', given: { limit: 1 + (at % 2) }, says: /All of it/ };
  if (kind === 3) return { name: 'grep', given: { pattern: 'page 7$', path: 'docs' }, says: /docs\/7\.txt/ };
  if (kind === 4) return { name: 'read_output', given: { id: `none${at}` }, says: /^NOT_FOUND/ };
  if (kind === 5)
    return { name: 'read_file', given: { path: `docs/missing-${at}` }, says: new RegExp(`missing-${at}`) };
  return { name: 'read_file', given: { path: `docs/${page}.txt` }, says: new RegExp(`^1\\tpage ${page}\\n`) };
}

it.each(eras)('answers 1,000 calls at the same time, a few at a time, in %s', async (era) => {
  writeFileSync(join(home.folder, 'noted'), '');
  const client = await connect(era, home.options);
  try {
    const complaints = complaintsOf(client);
    const wrong: string[] = [];
    await Promise.all(
      Array.from({ length: 1000 }, async (_, at) => {
        const { name, given, says } = callAt(at);
        const said = textOf(await client.callTool({ name, arguments: given }, { timeout: 60_000 }));
        if (!says.test(said)) wrong.push(`${at} ${name}: ${said.slice(0, 200)}`);
      }),
    );
    expect(wrong).toEqual([]);
    expect(complaints()).toBe('');
    let [running, most] = [0, 0];
    const noted = linesOf('noted');
    for (const line of noted) {
      running += line === '+' ? 1 : -1;
      most = Math.max(most, running);
    }
    expect(noted).toHaveLength(200);
    expect(most).toBeLessThanOrEqual(atOnce);
    expect(most).toBeGreaterThan(1);
    if (process.platform === 'linux') expect(megabytes(pidOf(client), 'VmHWM')).toBeLessThan(mostMegabytes);
  } finally {
    await client.close();
  }
});

// A flood takes half a minute of two processors: one revision here, both in CI.
it.each(process.env['CI'] ? eras : eras.slice(0, 1))(
  'refuses calls beyond what can wait, and answers the rest, in %s',
  async (era) => {
    const [held, go] = [`held by ${era}`, join(home.folder, 'go')];
    rmSync(go, { force: true });
    const client = await connect(era, home.options);
    const call = (name: string, given: Record<string, unknown>) =>
      client.callTool({ name, arguments: given }, { timeout: 60_000 }).then(textOf);
    try {
      // All turns are taken by what does not end.
      const first = Array.from({ length: atOnce }, () =>
        call('run', { command: './holding.sh', args: [held] }),
      );
      await until(() => linesOf('held').filter((line) => line === held).length === atOnce);
      const more = 200;
      let busy = 0;
      const rest = Array.from({ length: mostWaiting + more }, async (_, at) => {
        const said = await call('read_file', { path: `docs/none${at}` });
        if (said.startsWith('BUSY')) busy++;
        return said;
      });
      await until(() => busy === more);
      // Who waits is not in the way of what others have to say: what is running can still be looked at.
      expect((await client.listTools()).tools.length).toBeGreaterThan(20);
      writeFileSync(go, '');
      expect(new Set(await Promise.all(first))).toEqual(new Set(['released']));
      const said = await Promise.all(rest);
      expect(said.filter((text) => text.startsWith('PATH_NOT_FOUND'))).toHaveLength(mostWaiting);
      expect(said.find((text) => text.startsWith('BUSY'))).toMatch(
        /^BUSY: 5000 calls are waiting already\. .*budgets\.calls/,
      );
      expect(await call('read_file', { path: 'docs/3.txt' })).toMatch(/^1\tpage 3\n/);
      if (process.platform === 'linux') expect(megabytes(pidOf(client), 'VmHWM')).toBeLessThan(mostMegabytes);
    } finally {
      writeFileSync(go, '');
      await client.close();
    }
  },
);

it('gives a client that is slow to read every answer, and complains about nothing', async () => {
  const server = startRaw(home.options);
  try {
    await initialize(server);
    let complaints = '';
    server.child.stderr.on('data', (chunk: Buffer) => {
      complaints += String(chunk);
    });
    server.child.stdout.pause();
    const page = 'long line\n'.repeat(600);
    writeFileSync(join(home.project, 'long.txt'), page);
    const ids = Array.from({ length: 300 }, (_, at) => at + 100);
    const params = { name: 'read_file', arguments: { path: 'long.txt' } };
    for (const id of ids) server.send({ id, method: 'tools/call', params });
    // A line of the audit for each: all have been made, and their answers wait.
    const audit = () =>
      home.files('state', 'toolcrib', 'audit').find((name) => name.endsWith(`-${server.child.pid}.jsonl`));
    const audited = () => linesOf(join('state/toolcrib/audit', audit() ?? 'none'));
    await until(() => audited().length === ids.length);
    server.child.stdout.resume();
    const answers = await Promise.all(ids.map((id) => server.next((message) => message.id === id)));
    const said = new Set(answers.map(({ result }) => textOf(result)));
    expect(said.size).toBe(1);
    expect([...said][0]).toContain('\n600\tlong line');
    expect(complaints).toBe('');
    server.child.stdin.end();
    expect(await server.ended).toBe(0);
  } finally {
    server.child.kill('SIGKILL');
  }
});
