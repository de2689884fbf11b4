import { readdirSync } from 'node:fs';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeHome, type Home } from '../journeys/home.ts';
import {
  below,
  commandOf,
  endNow,
  isThere,
  megabytes,
  openFiles,
  type Seen,
} from '../journeys/process-table.ts';
import { openRaw, waysToVanish } from '../journeys/raw-client.ts';
import { connect, eras, type Era } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { until } from '../support/until.ts';
import { chains, makeSoakProject, pick, randomFrom, stepsOf, type Call } from './soak-calls.ts';

/** Enough to notice; CALLS=10000 before a release. */
const calls = Number(process.env['CALLS'] ?? 600);
const seed = Number(process.env['SEED'] ?? 7);
/** Calls of one client at a time. */
const atOnce = 6;
/** One in so many calls is the first of several that belong together. */
const chainEvery = 60;
const killEvery = 40;
const lookEvery = 50;
/** Until then, what is loaded and kept grows to its bounds. */
const warmUp = 0.4;
/** Megabytes a server may have grown by from there to the end. Its heap breathes by some 10; with few calls it has not filled up yet. */
const mostGrowth = calls < 5000 ? 40 : 25;

let home: Home;
beforeAll(() => {
  home = makeHome({
    rules: { run: 'allow', npm_run: 'allow' },
    budgets: { callSeconds: 1 },
  });
  makeSoakProject(home);
});
afterAll(() => {
  for (const left of orphans) endNow(left);
  home.end();
});

const options = (more: readonly string[]) => ({ ...home.options, args: more });

/** A record of what happened, to be judged in the end. */
const made = { calls: 0, asExpected: 0, cancelled: 0, odd: [] as string[], kills: 0, vanished: 0 };
/** The result of a call that was given up, or will never be answered. */
const gone = 'gone';
/** The processes below a server when it, or its client, was killed. */
const orphans: Seen[] = [];

/** Makes calls until it is over, so many at a time, with its own row of random numbers. */
async function makeCalls(call: Call, random: () => number, client: string, isOver: () => boolean) {
  const next = stepsOf(random, client);
  const one = async () => {
    if (random() * chainEvery < 1) return pick(random, chains)(call, client, random);
    const { name, given, says, impatient } = next();
    const said = await call(name, given, impatient);
    if (said === gone) return;
    // On a busy machine anything may take longer than a call.
    if (says.test(said) || /^\S+ is running for /.test(said)) made.asExpected++;
    else made.odd.push(`${name} ${JSON.stringify(given)}: ${said.slice(0, 300)}`);
  };
  const worker = async () => {
    while (!isOver()) await one();
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const callOf =
  (client: Client): Call =>
  async (name, given, impatient) => {
    made.calls++;
    const cancelling = new AbortController();
    const cancelAfter = impatient && 'cancelAfterMs' in impatient ? impatient.cancelAfterMs : undefined;
    const timer =
      cancelAfter === undefined ? undefined : setTimeout(() => cancelling.abort('enough'), cancelAfter);
    const timeout = impatient && 'timeoutMs' in impatient ? impatient.timeoutMs : 60_000;
    try {
      return textOf(
        await client.callTool(
          { name, arguments: given as Record<string, unknown> },
          { signal: cancelling.signal, timeout },
        ),
      );
    } catch (error) {
      if (!impatient) throw error;
      made.cancelled++;
      return gone;
    } finally {
      clearTimeout(timer);
    }
  };

interface Look {
  readonly at: number;
  readonly memory: number;
}

/** A client that stays, with a server whose programs are killed now and then. What is known of it, over time. */
async function stay(era: Era, most: number): Promise<Look[]> {
  const random = randomFrom(seed + era.length + most);
  const client = await connect(era, options(['--no-checkpoints']));
  const pid = (client.transport as unknown as { pid: number }).pid;
  const looks: Look[] = [];
  let opened = Infinity;
  let done = 0;
  const call = callOf(client);
  const counted: Call = async (...given) => {
    done++;
    if (done % killEvery === 0) killOne(pid, random);
    if (done % lookEvery === 0) looks.push({ at: done, memory: megabytes(pid, 'VmRSS') });
    if (done % lookEvery === 0) opened = Math.min(opened, keptFiles(pid).length);
    return call(...given);
  };
  await makeCalls(counted, random, era, () => done >= most);
  // What was cancelled is being ended; a watchdog of its own may stay.
  const programs = () => below(pid).filter(({ name }) => name !== 'node' && name !== 'MainThread');
  await until(() => programs().length === 0).catch(() => expect(programs().map(commandOf)).toEqual([]));
  await expectNoZombies(pid);
  // Now and then /proc is read, with many files open at a time.
  await until(() => keptFiles(pid).length <= opened + 2).catch(() => expect(keptFiles(pid)).toEqual(opened));
  orphans.push(...below(pid));
  await client.close();
  return looks;
}

/** Waits for zombies to go: a process that has just ended is one until its parent has looked. */
async function expectNoZombies(pid: number): Promise<void> {
  const zombies = () => below(pid).filter(({ state }) => state === 'Z');
  await until(() => zombies().length === 0).catch(() => expect(zombies().map(commandOf)).toEqual([]));
}

/**
 * Pipes and sockets of programs come and go; what is open for longer shows in the end, when none runs. Large outputs are
 * kept open as long as they can be asked for, within their own limits.
 */
const keptFiles = (pid: number): string[] =>
  openFiles(pid).filter((file) => !/^(?:pipe|socket):|\/outputs\//.test(file));

/** Kills a program that a server has started, if it has one just now; not those whose own programs would be left to nobody. */
function killOne(server: number, random: () => number): void {
  const victims = below(server).filter(
    (one) => one.state !== 'Z' && !/family|^\d+ \S+ \S*node /.test(commandOf(one)),
  );
  const victim = victims.length > 0 ? pick(random, victims) : undefined;
  if (!victim) return;
  try {
    process.kill(victim.pid, 'SIGKILL');
    made.kills++;
  } catch {
    // It was faster.
  }
}

/** A client that vanishes in the middle of its calls, or whose server does. */
async function vanish(random: () => number, most: number): Promise<void> {
  const [era, way] = [pick(random, eras), pick(random, waysToVanish)];
  const client = await openRaw(era, options(random() < 0.2 ? [] : ['--no-checkpoints']), way);
  let left = most;
  let isOver = false;
  let end = () => {};
  const over = new Promise<string>((resolve) => {
    end = () => resolve(gone);
  });
  const call: Call = (name, given) => {
    if (isOver) return over;
    made.calls++;
    left -= 1;
    if (left > 0) return Promise.race([client.call(name, given), over]);
    void client.call(name, given);
    isOver = true;
    orphans.push(client.server, ...below(client.server.pid));
    client.vanish();
    made.vanished++;
    end();
    return over;
  };
  await makeCalls(call, random, `gone-${made.vanished}`, () => isOver);
  // Who cannot say any more that it is there is not waited for.
  if (way === 'output') client.kill();
  await until(() => !isThere(client.server));
}

/** Least squares: by how much it grows from the first look to the last. */
function growthOf(looks: readonly Look[]): number {
  const [first, last] = [looks[0]?.at ?? 0, looks.at(-1)?.at ?? 0];
  const mean = (of: (one: Look) => number) => looks.reduce((sum, one) => sum + of(one), 0) / looks.length;
  const [at, memory] = [mean((one) => one.at), mean((one) => one.memory)];
  const over = looks.reduce((sum, one) => sum + (one.at - at) * (one.memory - memory), 0);
  const under = looks.reduce((sum, one) => sum + (one.at - at) ** 2, 0);
  return under === 0 ? 0 : (over / under) * (last - first);
}

it.runIf(process.platform === 'linux')(
  `leaves nothing and grows nowhere in ${calls} calls, with clients, servers and programs killed at random`,
  { timeout: 120_000 + calls * 200 },
  async () => {
    const startedAt = performance.now();
    const vanishing = Math.max(4, Math.round(calls / 400));
    const eachVanishing = Math.round((calls * 0.2) / vanishing);
    const random = randomFrom(seed);
    const vanishAll = async () => {
      for (let at = 0; at < vanishing; at++)
        await vanish(random, 1 + Math.floor(random() * 2 * eachVanishing));
    };
    const stays = eras.map((era) => stay(era, Math.round(calls * 0.4)));
    const [stayed] = await Promise.all([Promise.all(stays), vanishAll()]);

    const left = () => [...orphans.filter(isThere).map(commandOf), ...home.programs()];
    await until(() => left().length === 0).catch(() => expect(left()).toEqual([]));
    await expectNoZombies(process.pid);

    const about = `seed ${seed}`;
    // Whose program was killed fails, and nothing else does.
    expect(made.odd.length, `${about}\n${made.odd.slice(0, 20).join('\n')}`).toBeLessThanOrEqual(
      2 * made.kills,
    );
    // A client that is killed takes the calls along that it had under way.
    expect(made.calls, about).toBeGreaterThanOrEqual(calls * 0.5);
    const growths = stayed.map((looks) => growthOf(looks.filter(({ at }) => at > calls * 0.4 * warmUp)));
    for (const growth of growths) expect(growth, about).toBeLessThan(mostGrowth);

    // The next server tidies up after those that were killed.
    const last = await openRaw('2025-11-25', options([]));
    expect(await last.call('write_file', { path: 'made/last.txt', content: 'last\n' })).toMatch(/^Wrote/);
    expect(await last.call('git_status', {})).toMatch(/^on main at \w+; /);
    await last.close();
    expect(home.files('cache', 'toolcrib', 'outputs'), about).toEqual([]);
    expect(home.files('temporary'), about).toEqual([]);
    const temporary = readdirSync(home.project, { recursive: true, encoding: 'utf8' });
    expect(
      temporary.filter((name) => /\.toolcrib-|\.lock$/.test(name)),
      about,
    ).toEqual([]);
    expect(
      home.files('state', 'toolcrib').filter((name) => /\.tmp$|\/locks\//.test(name)),
      about,
    ).toEqual([]);

    if (calls < 5000) return;
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const memory = stayed.map((looks) => looks.map((one) => Math.round(one.memory)));
    console.error(
      `${about}: ${JSON.stringify({ ...made, odd: made.odd.length, seconds, growths: growths.map(Math.round), memory })}`,
    );
  },
);
