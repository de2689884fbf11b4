import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectSocket } from 'node:net';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isRunningIn } from '../support/is-running.ts';
import { connect, connectV1, eras } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { until } from '../support/until.ts';
import { makeHome, type Home } from './home.ts';

interface Called {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}
type Arguments = Record<string, unknown>;

const textFrom = async (client: Called, name: string, given: Arguments = {}) =>
  textOf(await client.callTool({ name, arguments: given }));
const jobIn = (text: string): string =>
  /^([a-z]+-\d+) is running for /.exec(text)?.[1] ?? expect.fail(`no job: ${text}`);
/** The number of lines that a page of a job claims. */
const pageEnd = (text: string): number =>
  Number(/\[lines 1-\d+ of (\d+); it goes on\]$/.exec(text)?.[1] ?? NaN);

let home: Home;

/** The folder in which one build finds the sign to go on, and leaves what it did. */
function makeWork(name = `build-${++works}`) {
  const folder = join(home.folder, 'work', name);
  mkdirSync(folder, { recursive: true });
  const file = (one: string) => join(folder, one);
  return {
    name,
    folder,
    goOn: () => writeFileSync(file('go'), ''),
    hold: () => rmSync(file('go')),
    runs: () => (existsSync(file('runs')) ? readFileSync(file('runs'), 'utf8').split('\n').length - 1 : 0),
    hasBegun: () => existsSync(file('pid')) && readFileSync(file('pid'), 'utf8') !== '',
    isRunning: () => isRunningIn(file('pid')),
    build: { name: 'npm_run', arguments: { task: 'build', args: [folder] } },
  };
}
let works = 0;

beforeAll(() => {
  home = makeHome({ questions: 'host', rules: { npm_view: 'allow' }, budgets: { callSeconds: 1 } }, [
    '--no-checkpoints',
  ]);
  const scripts = { dev: 'node dev-server.mjs', build: 'node slow-build.mjs' };
  for (const name of ['dev-server.mjs', 'slow-build.mjs'])
    copyFileSync(join(import.meta.dirname, name), join(home.project, name));
  writeFileSync(join(home.project, 'package.json'), JSON.stringify({ name: 'shop', scripts }));
  // An npm that takes as long as its setting, when it is asked for data.
  mkdirSync(join(home.folder, 'bin'));
  const npm = execFileSync('which', ['npm'], { encoding: 'utf8' }).trim();
  writeFileSync(
    join(home.folder, 'bin', 'npm'),
    `#!/bin/sh
case " $* " in *' view '*) ;; *) exec '${npm}' "$@" ;; esac
for work; do case $work in shop-*) cd '${home.folder}/work' && cd "$work" && break ;; esac; done
echo run >> runs
while [ ! -e go ]; do sleep 0.05; done
echo '{"name":"shop","version":"1.0.0"}'
`,
  );
  chmodSync(join(home.folder, 'bin', 'npm'), 0o755);
  home.options.env['PATH'] = `${join(home.folder, 'bin')}:${process.env['PATH'] ?? ''}`;
});
afterAll(async () => {
  await until(() => home.programs().length === 0);
  home.end();
});

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connectSocket(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });

describe.concurrent.each(eras)('jobs, in %s', (era) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(era, home.options);
  });
  afterAll(() => client.close());
  const call = (name: string, given: Arguments = {}) => textFrom(client, name, given);

  it.concurrent('a dev server starts, is read, written to and stopped, and starts again', async () => {
    const start = (port: number) =>
      call('run', { command: `npm run dev -- --port ${port}`, background: true });
    /** A wait is over after a second here, which a busy machine may need for more than a start. */
    const waited = async (id: string, awaited: string, hasCome: RegExp) => {
      let said = '';
      await until(async () => {
        said = await call('read_output', { id, wait_for: awaited });
        return hasCome.test(said);
      });
      return said;
    };
    const id = jobIn(await start(0));
    expect(id).toMatch(/^dev-\d+$/);
    const ready = await waited(id, String.raw`Local:\s+http`, /^line/);
    expect(ready).toMatch(/^line \d+ matches; dev-\d+ is running for \d+ s \(npm run dev/);
    const port = Number(/http:\/\/127\.0\.0\.1:(\d+)/.exec(ready)?.[1]);
    await waited(id, `port ${port}`, /^port \d+ accepts connections; /);

    const before = pageEnd(await call('read_output', { id, start_line: 1 }));
    expect(await (await fetch(`http://127.0.0.1:${port}/cart`)).text()).toBe('<h1>It works</h1>');
    await waited(id, 'GET /cart', /^line/);
    const page = await call('read_output', { id, start_line: before + 1 });
    expect(page.split('\n')[0]).toBe('GET /cart');

    const send = (text: string, end = false) => call('control_job', { id, action: 'send', text, end });
    expect(await send('r\n')).toMatch(/^sent; dev-\d+ is running/);
    await waited(id, 'restarted', /^line \d+ matches/);
    expect(await call('read_output')).toContain(`${id} is running`);
    // A second one with the same port learns that it is not the one who listens.
    const taken = jobIn(
      await call('run', { command: 'node -e "setTimeout(() => 0, 60000)"', background: true }),
    );
    expect(await call('read_output', { id: taken, wait_for: `port ${port}` })).toContain(
      'before this job began',
    );
    await call('control_job', { id: taken, action: 'stop' });

    const stop = (one: string) => call('control_job', { id: one, action: 'stop' });
    await until(async () => /^dev-\d+ was stopped after/.test(await stop(id)));
    // The system closes a port, and forgets a process, some time after that has ended.
    await until(async () => !(await accepts(port)));
    await until(() => !home.programs().some((line) => line.includes('dev-server.mjs')));

    // The same port again: nothing of the first is left that holds it.
    const second = jobIn(await start(port));
    expect(second).not.toBe(id);
    await waited(second, `port ${port}`, /^port \d+ accepts connections; /);
    await call('control_job', { id: second, action: 'send', text: 'q\n', end: true });
    await waited(second, 'end', /^dev-\d+ is done after/);
    expect(await accepts(port)).toBe(false);
  });

  it.concurrent('a build that outlasts its client goes on, and the same call gets its result', async () => {
    const work = makeWork();
    // What clients do by themselves after a minute: a call that takes longer has failed for them.
    const build = async () => textOf(await client.callTool(work.build, { timeout: 30_000 }));
    const first = await build();
    expect(first).toMatch(/^build-\d+ is running for \d+ s \(npm run build /);
    const job = jobIn(first);
    const said = [first];
    await until(async () => {
      said.push(await build());
      return /\nstep \d+ of the build\n\[/.test(said.at(-1) ?? '');
    });
    expect(said.map(jobIn)).toEqual(said.map(() => job));

    work.goOn();
    await until(async () => (await build()).includes('built all of it'));
    expect(work.runs()).toBe(1);
    expect(await call('read_output', { id: job })).toMatch(/^build-\d+ is done after/);
    // The result has been given; to make the call again is to build again.
    await until(async () => (await build()).includes('built all of it'));
    expect(work.runs()).toBe(2);
  });

  it.concurrent('a result that nobody waited for is kept for the same call and for read_output', async () => {
    const work = makeWork();
    const { name, arguments: given } = work.build;
    const job = jobIn(await call(name, given));
    await until(work.hasBegun);
    work.goOn();
    await until(async () => (await call('read_output')).includes(`${job} is done`));
    const kept = await call(name, given);
    expect(kept).toContain('built all of it');
    expect(kept).toMatch(/\[this is build-\d+, which the same call began; it ended \d+ s ago/);
    expect(work.runs()).toBe(1);
    expect(await call('read_output', { id: job, wait_for: 'end' })).toContain('built all of it');
  });

  it.concurrent('cancelling the same call or a wait does not end what has become a job', async () => {
    const work = makeWork();
    const job = jobIn(textOf(await client.callTool(work.build)));
    await until(work.hasBegun);
    for (const given of [work.build, { name: 'read_output', arguments: { id: job, wait_for: 'end' } }]) {
      const late = new AbortController();
      const waiting = client.callTool(given, { signal: late.signal });
      late.abort('enough');
      await expect(waiting).rejects.toThrow();
    }
    expect(await call('read_output', { id: job })).toMatch(/^build-\d+ is running/);
    expect(work.isRunning()).toBe(true);
    await call('control_job', { id: job, action: 'stop' });
    await until(() => !work.isRunning());
  });

  it.concurrent('progress carries the last line that a job has printed', async () => {
    const work = makeWork();
    const told: string[] = [];
    const onprogress = ({ message = '' }: { message?: string | undefined }) => {
      told.push(message);
    };
    const job = jobIn(textOf(await client.callTool(work.build, { onprogress })));
    const wait = async () =>
      textOf(
        await client.callTool(
          { name: 'read_output', arguments: { id: job, wait_for: 'end' } },
          { onprogress },
        ),
      );
    await until(async () => {
      await wait();
      return told.some((line) => /^step \d+ of the build$/.test(line));
    });
    // The same call again, which joins the job, gets it as well.
    const joined: string[] = [];
    const onJoined = ({ message = '' }: { message?: string | undefined }) => {
      joined.push(message);
    };
    await until(async () => {
      await client.callTool(work.build, { onprogress: onJoined });
      return joined.some((line) => /^step \d+ of the build$/.test(line));
    });
    work.goOn();
    await until(async () => /^build-\d+ is done/.test(await wait()));
  });

  it.concurrent('a tool that reads its program names the job, and the same call gets it', async () => {
    const work = makeWork(`shop-${era}`);
    const view = () => client.callTool({ name: 'npm_view', arguments: { package: work.name } });
    const first = await view();
    expect(textOf(first)).toMatch(/^[a-z]+-\d+ is running for /);
    work.goOn();
    await until(async () => {
      const answer = textOf(await view());
      return !/^\S+ is running/.test(answer) && answer.includes('shop@1.0.0');
    });
    expect(work.runs()).toBe(1);
  });
});

it.concurrent('a client of the first SDK, which gives up by itself, gets its result as well', async () => {
  const work = makeWork('shop-v1');
  const client = await connectV1(home.options);
  const call = (one: Parameters<typeof client.callTool>[0]) =>
    client.callTool(one, undefined, { timeout: 30_000 });
  try {
    const view = () => call({ name: 'npm_view', arguments: { package: work.name } });
    const first = await view();
    expect(textOf(first)).toMatch(/^[a-z]+-\d+ is running for /);
    const job = jobIn(textOf(first));
    work.goOn();
    const wait = () => textFrom(client, 'read_output', { id: job, wait_for: 'end' });
    await until(async () => /^\S+ is done.*\nshop@1\.0\.0$/.test(await wait()));
    await until(async () => textOf(await view()).includes('shop@1.0.0'));
    expect(work.runs()).toBe(2);

    const builds = makeWork();
    expect(textOf(await call(builds.build))).toMatch(/^[a-z]+-\d+ is running for /);
    builds.goOn();
    await until(async () => textOf(await call(builds.build)).includes('built all of it'));
    expect(builds.runs()).toBe(1);
  } finally {
    await client.close();
  }
});
