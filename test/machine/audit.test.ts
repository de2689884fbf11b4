import { execFileSync, fork } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { expect, it } from 'vitest';
import { createAudit, type AuditedCall } from '../../src/machine/audit/audit.ts';
import { createAuditReader } from '../../src/machine/audit/read-audit.ts';
import { createRedactor } from '../../src/machine/redact/redactor.ts';
import { temporaryFolder } from '../support/repository.ts';

const secret = 'kZ8-very-secret-4711';
const redactor = createRedactor({ env: { MY_TOKEN: secret } });

const call = (more: Partial<AuditedCall> = {}): AuditedCall => ({
  client: 'c1',
  tool: { name: 'git_log', effects: ['read'] },
  params: { cwd: '/w', limit: 3 },
  roots: ['/w'],
  decided: {},
  result: { content: [{ type: 'text', text: 'hello' }] },
  durationMs: 12.34,
  ...more,
});

/** An audit in a folder of its own, what it warned of, and what it has written. */
function audited(options: { rotateAt?: number; folder?: string } = {}) {
  const folder = options.folder ?? temporaryFolder();
  const warnings: string[] = [];
  const audit = createAudit({ ...options, folder, redactor, warn: (message) => warnings.push(message) });
  const file = join(folder, 'audit', 'audit.jsonl');
  const lines = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { folder, file, audit, warnings, lines };
}

const errorResult = (text: string) => ({ isError: true, content: [{ type: 'text' as const, text }] });

it('writes one line a call, into a file that nobody else can open', () => {
  const { audit, file, folder, lines } = audited();
  expect(existsSync(file)).toBe(false);
  audit.record(call({ clientInfo: { name: 'test', version: '1' } }));
  expect(lines()).toEqual([
    {
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      pid: process.pid,
      client: { id: 'c1', name: 'test', version: '1' },
      tool: 'git_log',
      effects: ['read'],
      decision: 'allow',
      outcome: 'ok',
      ms: 12.3,
      characters: 5,
      roots: ['/w'],
      arguments: { cwd: '/w', limit: 3 },
    },
  ]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'audit')).mode & 0o777).toBe(0o700);
  expect(audit.state).toBe('on');
  audit.close();
});

it.each([
  [
    errorResult('EFFECT_DENIED: git_push is not allowed: effects.network is "deny".'),
    { decision: 'denied', outcome: 'EFFECT_DENIED', setting: 'effects.network is "deny"' },
  ],
  [
    errorResult('NEEDS_CONFIRM: not run. The operator can allow it: whenUnasked.destroy "allow".'),
    { decision: 'denied', outcome: 'NEEDS_CONFIRM', setting: 'whenUnasked.destroy' },
  ],
  [
    errorResult('NOT_CONFIRMED: x was not run: the person was asked'),
    { decision: 'asked:no', outcome: 'NOT_CONFIRMED' },
  ],
  [
    errorResult('PROGRAM_FAILED: exit code 3 from: npm test'),
    { decision: 'allow', outcome: 'PROGRAM_FAILED', exitCode: 3 },
  ],
  [errorResult('something else'), { outcome: 'failed' }],
  [
    { content: [], meta: { 'toolcrib/job': 'j1', 'toolcrib/output': 'o1' } },
    { outcome: 'ok', job: 'j1', output: 'o1' },
  ],
])('says what became of a call: %j', (result, expected) => {
  const { audit, lines } = audited();
  audit.record(call({ result }));
  expect(lines()).toMatchObject([expected]);
});

it('writes down what was decided, and by what', () => {
  const { audit, lines } = audited();
  audit.record(call({ decided: { decision: 'asked:always', setting: 'rules "git_*"', folder: '/w/a' } }));
  expect(lines()).toMatchObject([{ decision: 'asked:always', setting: 'rules "git_*"', folder: '/w/a' }]);
});

it('ATTACK 84: writes no secret, be it in a value, in a name, or where a text is cut', () => {
  const { audit, file } = audited();
  const token = `ghp_${'a1B2c3D4e5F6'.repeat(3)}`;
  audit.record(
    call({
      params: { password: secret, [secret]: 1, deep: [{ url: `postgres://me:${secret}@h/d` }], token },
    }),
  );
  for (let before = 150; before < 210; before += 3)
    audit.record(call({ params: { text: 'x'.repeat(before) + secret + token } }));
  audit.record(
    call({ client: secret, tool: { name: secret, effects: [] }, decided: { folder: `/${secret}` } }),
  );
  const written = readFileSync(file, 'utf8');
  for (const part of [secret, secret.slice(0, 8), token.slice(0, 12)]) expect(written).not.toContain(part);
});

it.each([
  ['a long text', { content: 'x'.repeat(1_000_000) }],
  ['many items', Array.from({ length: 100_000 }, (_, index) => `item ${index}`)],
  [
    'many names',
    Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`n${index}`, 'x'.repeat(500)])),
  ],
  ['long names', { ['n'.repeat(100_000)]: { ['m'.repeat(100_000)]: 1 } }],
  [
    'wide and deep',
    Array.from({ length: 50 }, () => Array.from({ length: 50 }, () => ({ a: ['漢'.repeat(300)] }))),
  ],
  ['what JSON writes longer', '\u0001"\\'.repeat(100_000)],
  ['hidden characters', '\u{e0041}\u202e'.repeat(100_000)],
])('writes at most 4 KB, as one line: %s', (_, params) => {
  const { audit, file, lines } = audited();
  const before = performance.now();
  audit.record(call({ params, client: 'c'.repeat(9000), decided: { setting: 's'.repeat(9000) } }));
  expect(performance.now() - before).toBeLessThan(200);
  expect(statSync(file).size).toBeLessThanOrEqual(4096);
  expect(lines()).toMatchObject([{ tool: 'git_log', ms: 12.3 }]);
});

it('ATTACK 44: writes nothing that commands a terminal or hides', () => {
  const { audit, file, lines } = audited();
  const hostile = '\u001b]52;c;x\u0007 \u009b31m \u202e \u200b \u{e0041} \u2028 \ud800';
  audit.record(call({ params: { text: hostile } }));
  expect(readFileSync(file, 'utf8')).not.toMatch(/[\p{Cf}\p{Zl}\p{Cs}]|(?!\n)\p{Cc}/u);
  expect(lines()).toMatchObject([{ arguments: { text: hostile } }]);
});

it.runIf(process.platform !== 'win32').each([
  ['a symbolic link', (file: string, victim: string) => symlinkSync(victim, file)],
  ['a symbolic link to nothing', (file: string, victim: string) => symlinkSync(`${victim}.new`, file)],
  ['a second name of another file', (file: string, victim: string) => linkSync(victim, file)],
  ['a pipe', (file: string) => execFileSync('mkfifo', [file])],
  ['a folder', (file: string) => mkdirSync(file)],
])('ATTACK 71: does not write through %s, says so once, and fails no call', (_, plant) => {
  const { audit, folder, file, warnings } = audited();
  const victim = join(folder, 'victim');
  writeFileSync(victim, 'mine\n');
  mkdirSync(join(folder, 'audit'), { mode: 0o700 });
  plant(file, victim);
  for (let index = 0; index < 5; index++) audit.record(call());
  expect(readFileSync(victim, 'utf8')).toBe('mine\n');
  expect(existsSync(`${victim}.new`)).toBe(false);
  expect(warnings).toEqual([expect.stringMatching(/^toolcrib: calls are not recorded: .+\n$/)]);
  expect(audit.state).toEqual({ broken: expect.any(String) });
});

it.runIf(process.platform !== 'win32')(
  'ATTACK 71: does not write into a folder that others can look into',
  () => {
    const { audit, folder, warnings } = audited();
    mkdirSync(join(folder, 'audit'));
    writeFileSync(join(folder, 'audit', 'other'), '');
    chmodSync(join(folder, 'audit'), 0o777);
    audit.record(call());
    expect(warnings).toHaveLength(1);
    expect(readdirSync(join(folder, 'audit'))).toEqual(['other']);
  },
);

it('notices a link that takes the place of the file while it is open', () => {
  const { audit, folder, file, warnings } = audited();
  audit.record(call());
  writeFileSync(join(folder, 'victim'), 'mine\n');
  rmSync(file);
  symlinkSync(join(folder, 'victim'), file);
  audit.record(call());
  expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('mine\n');
  expect(warnings).toHaveLength(1);
});

it('goes on in a new file when somebody removes it', () => {
  const { audit, file, lines } = audited();
  audit.record(call());
  rmSync(file);
  audit.record(call({ client: 'second' }));
  expect(lines()).toMatchObject([{ client: { id: 'second' } }]);
});

it('begins on a new line after one that was cut off', () => {
  const { audit, file, folder } = audited();
  audit.record(call());
  audit.close();
  truncateSync(file, statSync(file).size - 10);
  const next = audited({ folder });
  next.audit.record(call({ client: 'after' }));
  expect(createAuditReader(join(folder, 'audit')).more(() => true)).toMatchObject([
    { client: { id: 'after' } },
  ]);
});

it.runIf(existsSync('/dev/full'))(
  'loses lines and no call when the disk is full, and says how many',
  async () => {
    // A limit on the size of files stands for a disk: the write ends in the middle of a line.
    const folder = temporaryFolder();
    const script = join(folder, 'writer.mjs');
    buildWriter(script);
    const run = (size: string) =>
      execFileSync(
        'bash',
        ['-c', `trap '' XFSZ; ulimit -f ${size}; exec '${process.execPath}' '${script}' '${folder}' 20`],
        {
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
    expect(run('2')).toBe('done 20\n');
    expect(statSync(join(folder, 'audit', 'audit.jsonl')).size).toBe(2048);
    expect(run('unlimited')).toBe('done 20\n');
    const read = createAuditReader(join(folder, 'audit')).more(() => true);
    expect(read.length).toBeGreaterThan(20);
    expect(read.length).toBeLessThan(40);
  },
);

it('is off without a state folder', () => {
  const audit = createAudit({ folder: undefined, redactor });
  audit.record(call());
  expect(audit.state).toBe('off');
});

it('begins a new file at its size, and keeps five old ones', () => {
  const { audit, folder } = audited({ rotateAt: 2000 });
  for (let index = 0; index < 200; index++) audit.record(call({ client: `n${index}` }));
  expect(readdirSync(join(folder, 'audit'))).toHaveLength(6);
  const read = createAuditReader(join(folder, 'audit')).more(() => true);
  const numbers = read.map(({ client }) => Number((client as { id: string }).id.slice(1)));
  // The last ones, in order, without a gap.
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => 200 - numbers.length + index));
  expect(numbers.length).toBeGreaterThan(30);
});

/** A program that records a number of calls: a server, as far as the audit can tell. */
function buildWriter(script: string): void {
  buildSync({
    stdin: {
      contents: `
        import { createAudit } from './src/machine/audit/audit.ts';
        import { createRedactor } from './src/machine/redact/redactor.ts';
        const [folder, count, rotateAt] = process.argv.slice(2);
        const audit = createAudit({ folder, redactor: createRedactor({ env: {} }), ...(rotateAt && { rotateAt: Number(rotateAt) }) });
        for (let index = 0; index < Number(count); index++)
          audit.record({ client: process.pid + '-' + index, tool: { name: 'a', effects: [] }, params: { text: 'x'.repeat(index % 190) }, roots: [], decided: {}, result: {}, durationMs: 1 });
        console.log('done ' + count);`,
      resolveDir: process.cwd(),
      loader: 'ts',
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: script,
    logLevel: 'error',
  });
}

it('takes whole lines of several servers at once, also while a new file is begun', async () => {
  const folder = temporaryFolder();
  const script = join(folder, 'writer.mjs');
  buildWriter(script);
  const reader = createAuditReader(join(folder, 'audit'));
  const seen: string[] = [];
  const look = () => seen.push(...reader.more(() => true).map(({ client }) => (client as { id: string }).id));
  const ended = Array.from(
    { length: 4 },
    () =>
      new Promise((resolve) => {
        fork(script, [folder, '500', '250000'], { stdio: 'ignore', execArgv: [] }).once('exit', resolve);
      }),
  );
  const timer = setInterval(look, 5);
  expect(await Promise.all(ended)).toEqual([0, 0, 0, 0]);
  clearInterval(timer);
  look();
  expect(new Set(seen).size).toBe(2000);
  expect(seen).toHaveLength(2000);
  expect(readdirSync(join(folder, 'audit')).length).toBeGreaterThan(2);
});
