import * as fc from 'fast-check';
import { expect, it, vi, onTestFinished } from 'vitest';
import { createAdmission, createFairTurns, type EndTurn } from '../../src/machine/fair-limits.ts';

/** Lets everything that has been resolved go on. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

it('goes round between owners, however many each one has waiting', async () => {
  const turns = createFairTurns(1);
  const first = await turns.take({ owner: 'a' });
  const order: string[] = [];
  const ask = async (owner: string, name: string) => {
    const end = await turns.take({ owner });
    order.push(name);
    end?.();
  };
  for (let index = 0; index < 100; index++) void ask('a', `a${index}`);
  void ask('b', 'b0');
  void ask('b', 'b1');
  void ask('c', 'c0');
  expect(turns.waiting('a')).toBe(100);
  first?.();
  await settle();
  expect(order.slice(0, 6)).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'a2']);
  expect(order).toHaveLength(103);
  expect(turns.waiting('a')).toBe(0);
});

it('does not keep all else waiting while turns go round that take a moment each', async () => {
  const turns = createFairTurns(1);
  const first = await turns.take({ owner: 'a' });
  let between = 0;
  const all = Array.from({ length: 1000 }, async () => {
    const end = await turns.take({ owner: 'a' });
    const until = performance.now() + 0.1;
    while (performance.now() < until);
    end?.();
  });
  const timer = setInterval(() => between++, 1);
  first?.();
  await Promise.all(all);
  clearInterval(timer);
  // 100 ms in all, of which others get their turn every 10.
  expect(between).toBeGreaterThan(4);
});

it('gives nothing twice when a turn is ended twice', async () => {
  const turns = createFairTurns(1);
  const end = await turns.take({ owner: 'a' });
  end?.();
  end?.();
  const second = await turns.take({ owner: 'a' });
  const third = turns.take({ owner: 'a' });
  await settle();
  expect(turns.waiting('a')).toBe(1);
  second?.();
  expect(await third).toBeTypeOf('function');
});

it('lets go who is cancelled or out of patience, at once and without a trace', async () => {
  const turns = createFairTurns(1);
  const end = await turns.take({ owner: 'a' });
  const controller = new AbortController();
  const cancelled = turns.take({ owner: 'b', signal: controller.signal });
  const impatient = turns.take({ owner: 'c', timeoutMs: 1 });
  const patient = turns.take({ owner: 'd', timeoutMs: 60_000 });
  controller.abort();
  expect(await cancelled).toBeUndefined();
  expect(await impatient).toBeUndefined();
  expect([turns.waiting('b'), turns.waiting('c'), turns.waiting('d')]).toEqual([0, 0, 1]);
  expect(await turns.take({ owner: 'b', signal: controller.signal })).toBeUndefined();
  end?.();
  expect(await patient).toBeTypeOf('function');
});

it('loses no turn and serves every owner in the round, whatever comes, ends and is cancelled', async () => {
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ take: fc.constantFrom('a', 'b', 'c') }) },
    { weight: 3, arbitrary: fc.record({ end: fc.nat(50) }) },
    { weight: 1, arbitrary: fc.record({ cancel: fc.nat(50) }) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(step, { maxLength: 60 }),
      async (most, steps) => {
        const turns = createFairTurns(most);
        const running: { owner: string; end: EndTurn }[] = [];
        const waiting: { owner: string; controller: AbortController; passedBy: Map<string, number> }[] = [];
        const come = async (place: (typeof waiting)[number]) => {
          const { owner, controller } = place;
          const end = await turns.take({ owner, signal: controller.signal });
          waiting.splice(waiting.indexOf(place), 1);
          if (!end) return;
          running.push({ owner, end });
          for (const other of waiting)
            if (other.owner !== owner) other.passedBy.set(owner, (other.passedBy.get(owner) ?? 0) + 1);
        };
        for (const one of steps) {
          if ('take' in one) {
            const controller = new AbortController();
            const place = { owner: one.take, controller, passedBy: new Map<string, number>() };
            waiting.push(place);
            void come(place);
          } else if ('end' in one) running.splice(one.end % (running.length || 1), 1)[0]?.end();
          else waiting[one.cancel % (waiting.length || 1)]?.controller.abort();
          await settle();
          expect(running.length).toBeLessThanOrEqual(most);
          if (waiting.length > 0) expect(running).toHaveLength(most);
          // While the first of an owner waits, no other owner has had two turns more than it.
          for (const owner of ['a', 'b', 'c']) {
            const first = waiting.find((place) => place.owner === owner);
            for (const times of first?.passedBy.values() ?? []) expect(times).toBeLessThanOrEqual(most + 1);
          }
        }
        for (let index = 0; index < 200 && running.length > 0; index++) {
          running.shift()?.end();
          await settle();
        }
        expect(waiting).toEqual([]);
      },
    ),
    { numRuns: 150 },
  );
});

it('ATTACK 112: lets 1,000 calls through that come at once, so many at a time', async () => {
  const admission = createAdmission({ calls: 16, callsPerSecond: 200 });
  let now = 0;
  let highest = 0;
  await Promise.all(
    Array.from({ length: 1000 }, async () => {
      const end = await admission.admit('a');
      highest = Math.max(highest, ++now);
      await settle();
      now--;
      end();
    }),
  );
  expect(highest).toBe(16);
});

it('does not let a client that floods keep another one waiting', async () => {
  const admission = createAdmission({ calls: 2, callsPerSecond: 10_000 });
  const order: string[] = [];
  const call = async (owner: string) => {
    const end = await admission.admit(owner);
    await settle();
    order.push(owner);
    end();
  };
  const flood = Array.from({ length: 500 }, () => call('loud'));
  await settle();
  await call('quiet');
  expect(order.length).toBeLessThan(12);
  await Promise.all(flood);
});

/** The clock of timers and of performance.now(), moved by hand. */
function ownClock() {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
}

it('slows down who calls too often, and drops nothing', async () => {
  ownClock();
  const admission = createAdmission({ calls: 1000, callsPerSecond: 10 });
  let done = 0;
  for (let index = 0; index < 80; index++) void admission.admit('a').then((end) => (done++, end()));
  await settle();
  expect(done).toBe(50);
  await vi.advanceTimersByTimeAsync(1000);
  expect(done).toBe(60);
  await vi.advanceTimersByTimeAsync(2000);
  expect(done).toBe(80);
  expect(vi.getTimerCount()).toBe(0);
  // Each owner has an allowance of its own.
  (await admission.admit('b'))();
});

it('refuses more than may wait, with the way out, and takes cancelled ones out of the count', async () => {
  ownClock();
  const admission = createAdmission({ calls: 1, callsPerSecond: 1, mostWaiting: 10 });
  const controller = new AbortController();
  const first = await admission.admit('a');
  const waiting = Array.from({ length: 10 }, () => admission.admit('a', controller.signal));
  const results = Promise.allSettled(waiting);
  await expect(admission.admit('a')).rejects.toMatchObject({
    code: 'BUSY',
    message: expect.stringContaining('budgets.calls'),
  });
  const other = admission.admit('b');
  controller.abort();
  for (const result of await results) expect(result).toMatchObject({ reason: { code: 'CANCELLED' } });
  expect(vi.getTimerCount()).toBe(0);
  await expect(admission.admit('a', controller.signal)).rejects.toMatchObject({ code: 'CANCELLED' });
  first();
  (await other)();
});

it('forgets owners that are gone', async () => {
  ownClock();
  const admission = createAdmission({ calls: 16, callsPerSecond: 100 });
  for (let index = 0; index < 1000; index++) (await admission.admit(`client ${index}`))();
  vi.advanceTimersByTime(60_000);
  for (let index = 0; index < 500; index++) (await admission.admit('the last'))();
  expect(admission.owners).toBe(1);
});
