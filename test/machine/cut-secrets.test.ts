import { generateKeyPairSync } from 'node:crypto';
import { expect, it } from 'vitest';
import { actionResult, failureOf } from '../../src/machine/actions/action-result.ts';
import { readerOf } from '../../src/machine/databases/postgres-values.ts';
import { valueOf } from '../../src/machine/databases/mysql-values.ts';
import { collect } from '../../src/machine/output.ts';
import type { Outcome } from '../../src/machine/processes/process.ts';
import { createRedactor } from '../../src/machine/redact/redactor.ts';
import { toldLines } from '../../src/machine/redact/told-lines.ts';
import { temporaryFolder } from '../support/repository.ts';
import { connect, eras, inherited } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

const secret = 'q8Zr3mXw7Lp2Vt9Kc4Hn6Bs1Jd5Fg0Ty8Ua3Ei7o';
const { redactPart: hides } = createRedactor({ env: { MY_API_TOKEN: secret } });
const telling = { notes: [], handle: 'abc', hides };
/** Five characters of it are more than chance brings. */
const pieces = Array.from({ length: secret.length - 5 }, (_, at) => secret.slice(at, at + 6));
const leaks = (text: unknown) => pieces.filter((piece) => JSON.stringify(text).includes(piece));

const action = {
  title: '',
  description: '',
  effects: ['execute'],
  params: {},
  argv: [],
  example: { runs: '' },
} as const;

function outcome(stdout: string, stderr = '', exitCode = 0): Outcome {
  const kept = (text: string) => {
    const collector = collect(8 * 1024 * 1024);
    collector.add(Buffer.from(text));
    return collector.finish();
  };
  return {
    ended: 'exited',
    exitCode,
    stdout: kept(stdout),
    stderr: kept(stderr),
    durationMs: 1,
    command: `tool ${'x'.repeat(180)}${secret}${'y'.repeat(900)}`,
  } as unknown as Outcome;
}

it('ATTACK 95: a secret is hidden before the text it stands in is cut', async () => {
  for (let shift = 0; shift <= secret.length; shift += 3) {
    for (const rest of [20_000, 600_000]) {
      const atHead = `${'x'.repeat(8000 - shift)}${secret}${'y'.repeat(rest)}`;
      const atTail = `${'x'.repeat(rest)}${secret}${'y'.repeat(8000 - shift)}`;
      for (const text of [atHead, atTail]) {
        const run = outcome(text);
        expect(leaks(await actionResult(action, run.stdout.text, telling, run))).toEqual([]);
        expect(leaks(await failureOf(outcome('', text, 1), {}, undefined, telling))).toEqual([]);
        expect(leaks(await failureOf(outcome(text, '', 1), {}, undefined, telling))).toEqual([]);
      }
    }
    const value = `${'x'.repeat(4000 - shift)}${secret}${'y'.repeat(5000)}`;
    const parsed = { ...action, parse: () => ({ value, list: [value] }) };
    expect(leaks(await actionResult(parsed, '', telling))).toEqual([]);
  }
});

it('ATTACK 95: a value of a database is cut after its secrets are hidden', () => {
  const cell = { cell: 8000, hides };
  for (let shift = 0; shift <= secret.length; shift += 3) {
    const value = `${'x'.repeat(8000 - shift)}${secret}${'y'.repeat(5000)}`;
    for (const type of ['text', 'json', 'text[]']) expect(leaks(readerOf(type, cell)(value))).toEqual([]);
    expect(leaks(valueOf(value, 'varchar', cell))).toEqual([]);
    const bytes = Buffer.from(`${'x'.repeat(256 - shift)}${secret}${'y'.repeat(500)}`);
    const shown = String(valueOf(bytes, 'blob', cell));
    expect(leaks(Buffer.from(shown.slice(2, 514), 'hex').toString('latin1'))).toEqual([]);
  }
});

/** What is told of an output that comes in pieces. */
function toldOf(output: string, piece = 1000): string[] {
  const lines: string[] = [];
  const collector = collect(1000, toldLines({ hides, progress: (line) => lines.push(line) }));
  for (let at = 0; at < output.length; at += piece) collector.add(Buffer.from(output.slice(at, at + piece)));
  return lines;
}

it('ATTACK 95: a line of progress is hidden whole, and cut afterwards', () => {
  for (let shift = 0; shift <= secret.length; shift += 3) {
    const [line] = toldOf(`${'x'.repeat(500 - shift)}${secret}${'y'.repeat(900)}\n`);
    expect(leaks(line)).toEqual([]);
    expect(line?.length).toBeLessThanOrEqual(500);
  }
  // Longer than is kept of one, cut anywhere.
  for (const length of [11_990, 15_980, 16_000, 20_000, 50_000])
    expect(leaks(toldOf(`${'x'.repeat(30_000)}${secret}${'y'.repeat(length)}\n`))).toEqual([]);
});

it('ATTACK 95: a private key is hidden that comes line by line', () => {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
  const body = privateKey.trim().split('\n').slice(1, -1);
  const [begin, end] = ['-----BEGIN RSA PRIVATE KEY-----', '-----END RSA PRIVATE KEY-----'];
  const forms = [
    [begin, ...body, end],
    [begin, 'Proc-Type: 4,ENCRYPTED', 'DEK-Info: AES-128-CBC,0102', '', ...body, end],
    [
      'PuTTY-User-Key-File-2: ssh-rsa',
      'Encryption: none',
      `Private-Lines: ${body.length}`,
      ...body,
      'Private-MAC: 00',
    ],
  ];
  for (const form of forms) {
    const lines = toldOf(`before\n${form.join('\n')}\nafter\n`);
    for (const line of body) expect(lines.join('\n')).not.toContain(line.slice(0, 20));
    expect([lines[0], lines.at(-1)]).toEqual(['before', 'after']);
  }
});

it.each(eras)('ATTACK 95: neither a result nor progress shows a part of a secret (%s)', async (era) => {
  const folder = temporaryFolder();
  const client = await connect(era, {
    roots: [folder],
    args: ['--when-unasked', 'allow', '--no-checkpoints'],
    env: { ...inherited(), MY_API_TOKEN: secret },
  });
  const said: string[] = [];
  const run = async (code: string) => {
    const call = {
      name: 'run_command',
      arguments: { program: 'node', args: ['-e', code.replaceAll('SECRET', parts)] },
    };
    return textOf(await client.callTool(call, { onprogress: ({ message }) => said.push(message ?? '') }));
  };
  // The server does not give the variable to what it runs.
  const parts = `(${JSON.stringify([...secret])}.join(''))`;
  try {
    said.push(await run(`console.log('x'.repeat(7961) + SECRET + 'y'.repeat(20000))`));
    said.push(await run(`console.log('x'.repeat(20000) + SECRET + 'y'.repeat(7961))`));
    said.push(
      await run(`console.error('x'.repeat(20000) + SECRET + 'y'.repeat(7961)); process.exitCode = 1`),
    );
    said.push(
      await run(`console.log('x'.repeat(465) + SECRET + 'y'.repeat(900)); setTimeout(() => {}, 150)`),
    );
    expect(said.length).toBeGreaterThan(4);
    expect(leaks(said)).toEqual([]);
    expect(said.join('\n')).toContain('characters left out');
    // Once, this took minutes, in which nobody was answered.
    const binary = await run(
      `process.stdout.write(Buffer.concat([Buffer.from([255]), Buffer.alloc(8388607)]))`,
    );
    expect(binary).toContain('ÿ');
  } finally {
    await client.close();
  }
});
