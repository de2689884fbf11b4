import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { serverFolder, startServer, type Server } from '../discoverers/postgres-server.ts';
import { temporaryRepository } from '../support/repository.ts';
import { eras, type Era } from '../support/server.ts';
import { until } from '../support/until.ts';
import { makeHome, type Home } from './home.ts';
import { below, commandOf, endNow, isThere, type Seen } from './process-table.ts';
import { openRaw, waysToVanish, type RawClient, type Way } from './raw-client.ts';

/** A program with children and grandchildren, some of which leave its session and want to stay. */
const family = `#!/bin/sh
trap '' TERM
cd "$1"
sleep 300 & echo $! > child
(setsid sh -c 'trap "" TERM HUP; echo $$ > grandchild; while :; do sleep 1; done' &)
env -i /usr/bin/setsid /bin/sh -c 'echo $$ > stranger; exec sleep 300' &
while [ ! -s grandchild ] || [ ! -s stranger ]; do sleep 0.01; done
echo ready > ready
echo ready
while :; do sleep 1; done
`;
const half = 40_000;
const bigLines = (word: string) =>
  `${`${word} of a long file\n`.repeat(half)}the middle\n${'after it\n'.repeat(half)}`;
const [before, after] = [bigLines('before'), bigLines('before').replace('the middle', 'something else')];
const kept = 120;

/** Everything that can be in the middle of something. Those that begin are awaited by `begin`. */
interface Scene {
  readonly home: Home;
  readonly client: RawClient;
  /** The id of what has changed the kept files. */
  readonly command: string;
}
type Kind =
  | 'run'
  | 'job'
  | 'input'
  | 'wait'
  | 'ask'
  | 'query'
  | 'read'
  | 'grep'
  | 'edit'
  | 'write'
  | 'restore';

let database: Server | undefined;
/** Each scene has a role of its own. */
const roles = Array.from({ length: 40 }, (_, at) => `role_${at}`);
let scenes = 0;
const isAsking = ({ home }: Scene): boolean =>
  database?.ask(
    `SELECT count(*) FROM pg_stat_activity WHERE usename = '${home.options.env['PGUSER']}' AND state = 'active'`,
  ) === '1';

beforeAll(() => {
  if (serverFolder()) database = startServer(roles.map((role) => `CREATE ROLE ${role} LOGIN;`).join(''));
});
afterAll(() => database?.stop());

/** Starts the family in a folder of its own, and waits for all of it. */
async function familyIn({ home }: Scene, name: string, start: (args: string[]) => unknown): Promise<void> {
  const folder = join(home.folder, name);
  mkdirSync(folder);
  start([folder]);
  await until(() => existsSync(join(folder, 'ready')));
}
const lasting = (args: string[]) => ({ command: './family.sh', args });
const jobIn = (text: string): string =>
  /^([\w-]+-\d+) is running/.exec(text)?.[1] ?? expect.fail(`no job: ${text}`);

/** Begins a call of each kind; what takes long is in the middle of it when this resolves. */
const begin: Readonly<Record<Kind, (scene: Scene) => unknown>> = {
  run: (scene) => familyIn(scene, 'of-run', (args) => scene.client.send('run', lasting(args))),
  job: (scene) =>
    familyIn(scene, 'of-job', (args) => scene.client.call('run', { ...lasting(args), background: true })),
  async input({ client }) {
    jobIn(await client.call('run', { command: 'cat', background: true }));
  },
  async wait({ client }) {
    const id = jobIn(await client.call('run', { command: 'sleep 300', background: true }));
    client.send('read_output', { id, wait_for: 'never' });
  },
  async ask({ client }) {
    expect(await client.ask('git_reset_hard', { ref: 'HEAD' })).toContain('can lose work');
  },
  async query(scene) {
    if (!database) return;
    scene.client.send('psql_query', { sql: 'SELECT pg_sleep(299)' });
    await until(() => isAsking(scene));
  },
  read: ({ client }) => client.send('read_file', { path: 'big.txt', offset: half }),
  grep: ({ client }) => client.send('grep', { pattern: 'l.*e', path: 'kept' }),
  edit: ({ client }) =>
    client.send('edit_file', { path: 'big.txt', old_string: 'the middle', new_string: 'something else' }),
  write: ({ client }) => client.send('write_file', { path: 'new.txt', content: after }),
  restore: ({ client, command }) => client.send('undo', { since: command, paths: ['kept'] }),
};
const isShort = (kind: Kind) => ['read', 'grep', 'edit', 'write', 'restore'].includes(kind);
const kinds = Object.keys(begin) as Kind[];

const keptNames = Array.from({ length: kept }, (_, at) => `${at}.txt`);
/** The contents of the files of the project, by their names. */
const contents = ({ project }: Home, folder: string, names: readonly string[]) =>
  names.map((name) => readFileSync(join(project, folder, name), 'utf8'));
const write = ({ project }: Home, names: readonly string[], text: string) => {
  for (const name of names) writeFileSync(join(project, 'kept', name), text);
};

async function prepare(era: Era, way: Way): Promise<Scene> {
  const home = makeHome({
    rules: { run: 'allow' },
    // What only closes our output is noticed when there is something to say.
    budgets: { callSeconds: way === 'output' ? 3 : 45 },
  });
  const ofDatabase = { PGDATABASE: 'postgres', PGUSER: roles[scenes++] ?? '', DATABASE_URL: '' };
  Object.assign(home.options.env, database?.env, ofDatabase);
  mkdirSync(join(home.project, 'kept'));
  write(home, keptNames, 'as it was\n');
  writeFileSync(join(home.project, 'family.sh'), family);
  chmodSync(join(home.project, 'family.sh'), 0o755);
  temporaryRepository(home.project);
  writeFileSync(join(home.project, 'src', 'a.txt'), 'changed\n');
  writeFileSync(join(home.project, 'big.txt'), before);
  const client = await openRaw(era, home.options, way);
  const script = 'for file in kept/*; do echo as it is > "$file"; done';
  await client.call('run', { command: 'sh', args: ['-c', script] });
  const said = await client.call('undo', {});
  const command = /^[\w-]+(?=.* ran sh )/.exec(said)?.[0] ?? expect.fail(said);
  await client.call('read_file', { path: 'big.txt', offset: 1, limit: 10 });
  return { home, client, command };
}

/** Checks what must be so whoever has gone in the middle of whatever. */
async function expectNothingLeft(scene: Scene, descendants: readonly Seen[]): Promise<void> {
  const { home, client } = scene;
  const left = () => [client.server, ...descendants].filter(isThere).map(commandOf);
  await until(() => left().length === 0 && home.programs().length === 0).catch(() =>
    expect([...left(), ...home.programs()]).toEqual([]),
  );
  await until(() => !isAsking(scene));
  expect([before, after]).toContain(readFileSync(join(home.project, 'big.txt'), 'utf8'));
  for (const text of contents(home, 'kept', keptNames)) expect(['as it was\n', 'as it is\n']).toContain(text);
  expect(readFileSync(join(home.project, 'src', 'a.txt'), 'utf8')).toBe('changed\n');
  expect(home.files('cache', 'toolcrib', 'outputs')).toEqual([]);
  expect(home.files('temporary')).toEqual([]);
}

/** The next server finds everything as it should be, finishes what was begun, and can go on. */
async function expectUsable({ home, command }: Scene, next: RawClient): Promise<void> {
  await next.call('read_file', { path: 'big.txt', offset: half, limit: 3 });
  const text = readFileSync(join(home.project, 'big.txt'), 'utf8');
  const middle = text === before ? 'the middle' : 'something else';
  const edited = await next.call('edit_file', { path: 'big.txt', old_string: middle, new_string: 'at last' });
  const change = /change ([\w-]+)/.exec(edited)?.[1] ?? expect.fail(edited);
  await next.call('undo', { since: change });
  expect(readFileSync(join(home.project, 'big.txt'), 'utf8')).toBe(text);
  const [restored, again] = [
    await next.call('undo', { since: command, paths: ['kept'] }),
    await next.call('undo', { since: command, paths: ['kept'], dry_run: true }),
  ];
  expect(restored).not.toMatch(/^[A-Z_]+: /);
  expect(again).toMatch(/^Nothing to take back/);
  expect(new Set(contents(home, 'kept', keptNames))).toEqual(new Set(['as it was\n']));
  if (existsSync(join(home.project, 'new.txt')))
    expect(readFileSync(join(home.project, 'new.txt'), 'utf8')).toBe(after);
  expect(await next.call('git_status')).toMatch(/^on main at \w+; /);
  expect(await next.call('run', { command: 'echo', args: ['hi'] })).toMatch(/^hi/);
  expect(await next.call('read_output')).not.toMatch(/running/);
  await next.close();
  const temporary = readdirSync(home.project, { recursive: true, encoding: 'utf8' });
  expect(temporary.filter((name) => /\.toolcrib-|index\.lock$/.test(name))).toEqual([]);
  const state = home.files('state', 'toolcrib');
  expect(state.filter((name) => /\.tmp$|\/locks\//.test(name))).toEqual([]);
}

async function vanishing(era: Era, way: Way, wanted: readonly Kind[]): Promise<void> {
  const scene = await prepare(era, way);
  let next: RawClient | undefined;
  let descendants: readonly Seen[] = [];
  try {
    // What may be over in a moment comes last.
    await Promise.all(wanted.filter((kind) => !isShort(kind)).map((kind) => begin[kind](scene)));
    for (const kind of wanted.filter(isShort)) void begin[kind](scene);
    // What was written last is on its way.
    await setImmediate();
    descendants = below(scene.client.server.pid);
    scene.client.vanish();
    await expectNothingLeft(scene, descendants);
    next = await openRaw(era, scene.home.options);
    await expectUsable(scene, next);
  } finally {
    for (const client of [scene.client, next]) client?.kill();
    for (const left of descendants) endNow(left);
    scene.home.end();
  }
}

describe.skipIf(process.platform !== 'linux')('an end in the middle of everything at once', () => {
  it.concurrent.each(waysToVanish.flatMap((way) => eras.map((era) => [way, era] as const)))(
    'leaves nothing behind when this vanishes: %s, in %s',
    (way, era) => vanishing(era, way, kinds),
  );
});

// What one kind does wrong another one may make good, when both are in the middle: in CI, each is alone as well.
const alone = process.env['CI'] ? kinds : (['run', 'wait', 'query', 'edit'] as const);
describe.skipIf(process.platform !== 'linux')('an end in the middle of one call', () => {
  it.concurrent.each(alone.map((kind, at) => [kind, eras[at % 2]!] as const))(
    'leaves nothing behind when a client is killed: %s, in %s',
    (kind, era) => vanishing(era, 'client', [kind]),
  );
});

describe.skipIf(process.platform !== 'linux')('an end at the moment when a program starts', () => {
  it.concurrent.each(eras)('leaves nothing behind when a server is killed, in %s', async (era) => {
    const home = makeHome({ rules: { run: 'allow' } }, ['--no-checkpoints']);
    const client = await openRaw(era, home.options, 'server');
    const { pid } = client.server;
    let started: readonly Seen[] = [];
    try {
      client.send('run', { command: 'sleep', args: ['300'] });
      while (!started.some(({ name }) => name === 'sleep')) {
        started = below(pid);
        await setImmediate();
      }
      client.vanish();
      await until(() => home.programs().length === 0 && !started.some(isThere));
    } finally {
      client.kill();
      for (const left of started) endNow(left);
      home.end();
    }
  });
});
