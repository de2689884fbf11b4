import { appendFileSync, existsSync, readFileSync, realpathSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdir, open, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { readContent } from '../../src/tools/files/reading/file-content.ts';
import { KnownFiles } from '../../src/machine/known-files.ts';
import { openWorkspace } from '../../src/machine/paths/workspace.ts';
import { processorMs } from '../support/processor-ms.ts';
import { initialize, startRaw } from '../support/server.ts';
import { callerFor, failureOf, put, temporaryFolder, textOf, type Caller } from '../tools/files/folder.ts';

const missing = /^PATH_NOT_FOUND: /;

let root: string;
let call: Caller;

beforeAll(async () => {
  root = await temporaryFolder();
  await put(root, { 'inside.txt': 'inside\n' });
  call = callerFor(root);
});

const thirtyGigabytes = 30 * 1024 ** 3;

/** A file of `size` bytes that begins and ends with some text and is a hole between. */
async function sparse(name: string, size: number, head: string, tail: string): Promise<void> {
  await writeFile(join(root, name), head);
  await truncate(join(root, name), size - tail.length);
  const handle = await open(join(root, name), 'r+');
  await handle.write(tail, size - tail.length);
  await handle.close();
}

describe('huge files', () => {
  /** Runs a call that must end soon without holding much memory. */
  async function cheaply(run: () => Promise<string>): Promise<string> {
    const [before, started] = [process.memoryUsage(), process.cpuUsage()];
    const text = await run();
    const after = process.memoryUsage();
    expect(processorMs(started)).toBeLessThan(2000);
    expect(after.arrayBuffers + after.heapUsed - before.arrayBuffers - before.heapUsed).toBeLessThan(32e6);
    return text;
  }

  it('ATTACK 68: a file of 30 GB without text is refused at once', async () => {
    await writeFile(join(root, 'hole'), '');
    await truncate(join(root, 'hole'), thirtyGigabytes);
    expect(await cheaply(() => failureOf(call('read_file', { path: 'hole' })))).toMatch(
      /^ENCODING: .*32,212,254,720 bytes/,
    );
  });

  it('ATTACK 68: the head and the tail of a log of 30 GB are shown at once', async () => {
    await sparse('huge.log', thirtyGigabytes, 'first\n'.repeat(20_000), '\nlast\n');
    expect(await cheaply(async () => textOf(await call('read_file', { path: 'huge.log' })))).toMatch(
      /^(\d+\tfirst\n)+\[lines 1–[\d,]+ of 32,212,254,720 bytes; next: start_line \d+\]$/,
    );
    expect(await cheaply(async () => textOf(await call('read_file', { path: 'huge.log', tail: 1 })))).toMatch(
      /^last\n\[the last 1 lines of/,
    );
  });

  it('ATTACK 68: a line of 600 MB is cut at once', async () => {
    const handle = await open(join(root, 'line.json'), 'w');
    const chunk = Buffer.alloc(8 * 1024 * 1024, 'x');
    await handle.write('{"a":"');
    for (let written = 0; written < 75; written++) await handle.write(chunk);
    await handle.close();
    expect(await cheaply(async () => textOf(await call('read_file', { path: 'line.json' })))).toMatch(
      /^1\t\{"a":"x+…\n\[line 1 of [^;]*; line 1 goes on for more than 1 MB/,
    );
    expect(
      await cheaply(async () => textOf(await call('read_file', { path: 'line.json', tail: 1 }))),
    ).toMatch(/^…x+\n\[the last line of/);
    await rm(join(root, 'line.json'));
  });

  it('ATTACK 68: the search for a line far away ends when the call is cancelled', async () => {
    const found = call('read_file', { path: 'huge.log', offset: 1_000_000 }, AbortSignal.timeout(100));
    expect(await cheaply(() => failureOf(found))).toMatch(/^CANCELLED/);
  });
});

describe('files that change while they are read', () => {
  const read = async (given: object) => textOf(await call('read_file', given));
  const line = (length: number) => `${'x'.repeat(length - 1)}\n`;

  /** Reads again and again while `change` goes on; returns what the calls brought. */
  async function whileChanging(change: (round: number) => void, attempts: (() => Promise<string>)[]) {
    const seen: string[] = [];
    for (let round = 0; round < 40; round++) {
      const reading = attempts.map((attempt) =>
        attempt().catch((error: Error) => `failed: ${error.message}`),
      );
      change(2 * round);
      await setImmediate();
      change(2 * round + 1);
      seen.push(...(await Promise.all(reading)));
    }
    return seen;
  }

  const ways = (path: string) => [
    () => read({ path }),
    () => read({ path, offset: 15_000, limit: 5 }),
    () => read({ path, tail: 3 }),
    async () => textOf(await call('read_file', { paths: [path, 'inside.txt'] })),
  ];

  it('shows a file that grows as it was when it was opened', async () => {
    await put(root, { 'grows.log': line(100).repeat(20_000) });
    const grow = () => appendFileSync(join(root, 'grows.log'), line(100).repeat(100));
    for (const text of await whileChanging(grow, ways('grows.log'))) {
      expect(text).not.toMatch(/^failed/);
      expect(text.replace(/^.*\[(?:lines?|the last) .*\n?/gm, '').replace(/^\d+\t/gm, '')).toMatch(
        /^(?:x{1,99}\n|==> [^\n]+ <==\n|inside\n|\n)*$/,
      );
    }
  });

  it('never hangs, crashes or invents text when a file shrinks and comes back', async () => {
    const content = Buffer.from(line(100).repeat(20_000));
    await put(root, { 'shrinks.log': content });
    const change = (round: number) =>
      round % 2 === 0
        ? truncateSync(join(root, 'shrinks.log'), 150)
        : writeFileSync(join(root, 'shrinks.log'), content);
    for (const text of await whileChanging(change, ways('shrinks.log'))) {
      if (text.startsWith('failed')) expect(text).toMatch(/has \d+ lines/);
      else
        expect(text.replace(/\[[^\n]*\]/g, '')).toMatch(/^(?:(?:\d+\t)?x*\n?|==> [^\n]+ <==\n|inside\n)*$/);
    }
  });

  it('remembers a file that is written while it is read without a hash', async () => {
    await put(root, { 'written.txt': 'before' });
    const opened = await (await openWorkspace([root])).open('file', 'written.txt');
    await put(root, { 'written.txt': 'after!' });
    const known = new KnownFiles();
    const { signal } = new AbortController();
    await readContent(opened, { path: 'written.txt', first: 1, limit: 10, room: 1000, signal }, known);
    expect(known.get(opened.path)?.hash).toBeUndefined();
    await opened.handle.close();
  });
});

describe.runIf(process.platform === 'linux')('the memory of the server', () => {
  it('ATTACK 68: a server stays small whatever sixteen calls read at once', async () => {
    await sparse('whole.log', thirtyGigabytes, 'first\n'.repeat(20_000), '\nlast\n');
    await put(root, {
      'large.log': `${'y'.repeat(99)}\n`.repeat(300_000),
      'some.txt': 'z'.repeat(1_000_000),
    });
    const server = startRaw({ roots: [root] });
    const peak = () =>
      Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))![1]) / 1024;
    await initialize(server);
    let id = 1;
    const ask = async (args: object) => {
      const mine = ++id;
      server.send({ id: mine, method: 'tools/call', params: { name: 'read_file', arguments: args } });
      return JSON.stringify((await server.next((message) => message.id === mine)).result);
    };
    await ask({ path: 'inside.txt' });
    const before = peak();
    const answers = await Promise.all(
      Array.from({ length: 16 }, (_, index) =>
        [
          () => ask({ path: 'whole.log', tail: 1 }),
          () => ask({ path: 'large.log', offset: 200_000 + index, limit: 1 }),
          () => ask({ path: 'some.txt' }),
        ][index % 3]!(),
      ),
    );
    for (const answer of answers) expect(answer).not.toContain('"isError"');
    expect(peak() - before).toBeLessThan(64);
    server.child.stdin.end();
    await server.ended;
  });
});

describe('glob patterns and circles of links', () => {
  const bombs = [
    '{a,b}'.repeat(30),
    '{'.repeat(900),
    `${'{a,'.repeat(300)}b${'}'.repeat(300)}`,
    `${'{a,b}'.repeat(12)}/*`,
    'x'.repeat(2000),
  ];

  it.each(bombs)('ATTACK 69: glob number %# ends at once', async (pattern) => {
    const started = process.cpuUsage();
    const outcome = await Promise.all([
      call('list_files', { glob: pattern }).then(textOf, (error: Error) => error.message),
      call('grep', { pattern: 'x', glob: pattern }).then(textOf, (error: Error) => error.message),
    ]);
    expect(processorMs(started)).toBeLessThan(4000);
    for (const text of outcome) expect(text).toMatch(/^No |alternatives|longer than/);
  });

  it('ATTACK 69: stars that would backtrack are matched in linear time', async () => {
    await put(root, { [`stars/${'a'.repeat(200)}`]: '', [`stars/${Array(60).fill('d').join('/')}/f`]: '' });
    const started = process.cpuUsage();
    expect(textOf(await call('list_files', { glob: `stars/${'a*'.repeat(100)}b` }))).toBe('No files match.');
    expect(textOf(await call('list_files', { glob: `stars/${'**/d/'.repeat(50)}x` }))).toBe(
      'No files match.',
    );
    expect(processorMs(started)).toBeLessThan(4000);
  });

  it.skipIf(process.platform === 'win32')('ATTACK 69: circles of links are not walked', async () => {
    await mkdir(join(root, 'circle'));
    await symlink('..', join(root, 'circle', 'up'));
    expect(textOf(await call('list_files', { glob: 'circle/**' }))).toBe('No files match.');
    expect(textOf(await call('list_files', { path: 'circle', depth: 10 }))).not.toContain('up/');
  });
});

describe('ripgrep', () => {
  const injections = '--pre=./evil.sh --hostname-bin=./evil.sh -f/etc/passwd --search-zip -uuu --'.split(' ');

  it.skipIf(process.platform === 'win32').each(injections)(
    'ATTACK 18: %s is read as a pattern, a path or a glob and never as an option',
    async (value) => {
      await writeFile(join(root, 'evil.sh'), `#!/bin/sh\ntouch ${join(root, 'pwned')}\n`, { mode: 0o755 });
      await put(root, { 'args.txt': `before ${value} after\n` });
      expect(textOf(await call('grep', { pattern: value, fixed: true, glob: 'args.txt' }))).toContain(
        `1:before ${value} after`,
      );
      for (const [tool, given] of [
        ['grep', { pattern: 'inside', glob: value }],
        ['list_files', { glob: value }],
      ] as const)
        expect(await call(tool, given).then(textOf, String)).toMatch(/^No (?:matches|files)|does not exist/);
      expect(await failureOf(call('grep', { pattern: 'x', path: value }))).toMatch(missing);
      expect(await failureOf(call('grep', { pattern: 'x', type: value }))).toMatch(/^ARG_(?:FLAG|INVALID)/);
      expect(await failureOf(call('grep', { pattern: 'x', args: [value] }))).toMatch(
        /^ARG_INVALID: args: there is no such parameter/,
      );
      expect(existsSync(join(root, 'pwned'))).toBe(false);
    },
  );

  it.skipIf(process.platform === 'win32')(
    'ATTACK 18: a file and a folder named like an option are searched',
    async () => {
      await put(root, { '--pre=.x/-f': 'needle in an option\n' });
      expect(textOf(await call('grep', { pattern: 'needle in', path: '--pre=.x' }))).toBe(
        '--pre=.x/-f\n1:needle in an option',
      );
      expect(textOf(await call('grep', { pattern: 'needle in', path: '--pre=.x/-f' }))).toBe(
        '--pre=.x/-f\n1:needle in an option',
      );
      await rename(join(root, '--pre=.x'), join(root, 'plain'));
    },
  );
});

describe('the server under hard calls', () => {
  it('answers other calls during a large edit, and ends the edit when it is cancelled', async () => {
    await put(root, { 'lines.txt': `${'line of text\n'.repeat(6e5)}one\n` });
    await call('read_file', { path: 'lines.txt', limit: 1 });
    const edits = Array.from({ length: 1000 }, (_, index) =>
      index % 2 === 0
        ? { path: 'lines.txt', old_string: 'one', new_string: 'two' }
        : { path: 'lines.txt', old_string: 'two', new_string: 'one' },
    );
    edits[999] = { path: 'lines.txt', old_string: 'two', new_string: 'three' };
    const cancel = new AbortController();
    const started = process.cpuUsage();
    const cancelled = failureOf(call('edit_files', { edits }, cancel.signal));
    // So much work that the edit has begun.
    while (processorMs(started) < 200) {
      expect(textOf(await call('read_file', { path: 'inside.txt' }))).toBe('1\tinside\n');
      await setImmediate();
    }
    cancel.abort();
    expect(await cancelled).toMatch(/^CANCELLED/);
    expect(readFileSync(join(root, 'lines.txt'), 'utf8')).toMatch(/one\n$/);
  });

  it('refuses paths that no system takes, and goes on', async () => {
    const started = process.cpuUsage();
    for (const path of [
      'hook'.repeat(1e5),
      `é${' '.repeat(1e5)}x`,
      `${'a/'.repeat(1e5)}x`,
      '/'.repeat(1e5),
    ]) {
      expect(await failureOf(call('read_file', { path }))).toMatch(/^ARG_INVALID: path: is too long/);
      expect(await failureOf(call('write_file', { path, content: '' }))).toMatch(/^ARG_INVALID: path: /);
      expect(await failureOf(call('list_files', { glob: `${path}/*` }))).toMatch(/^(ARG_INVALID|PATH_)/);
    }
    expect(await failureOf(call('delete_path', { path: `inside.txt${'/'.repeat(200)}x` }))).toMatch(
      /^PATH_NOT_FOUND/,
    );
    expect(processorMs(started)).toBeLessThan(3000);
  });
});

describe('the state of toolcrib in a root', () => {
  it('is neither read nor searched, and only its name is listed', async () => {
    const state = realpathSync(process.env['XDG_STATE_HOME'] ?? '');
    await put(state, {
      'toolcrib/journal/contents/x.txt': 'SECRET of another project',
      'toolcrib-docs/x.txt': 'SECRET in the open',
    });
    const look = callerFor(state);
    for (const [tool, given] of [
      ['read_file', { path: 'toolcrib/journal/contents/x.txt' }],
      ['list_files', { path: 'toolcrib' }],
      ['grep', { pattern: 'SECRET', path: 'toolcrib' }],
      ['grep', { pattern: 'SECRET', glob: 'toolcrib/**/*.txt' }],
      ['list_files', { glob: 'toolcrib/journal/**/*.txt' }],
    ] as const)
      expect(await failureOf(look(tool, given))).toMatch(/^PATH_PROTECTED.*what toolcrib itself remembers/);
    for (const given of [{ mode: 'lines' }, { mode: 'files' }, { ignored: true, hidden: true }])
      expect(textOf(await look('grep', { pattern: 'SECRET', ...given }))).toMatch(
        /^toolcrib-docs\/x\.txt[^/]*$/,
      );
    expect(textOf(await look('list_files', { glob: '**/x.txt', hidden: true, ignored: true }))).toBe(
      'toolcrib-docs/x.txt\n[1 entry]',
    );
    const listed = textOf(await look('list_files', { depth: 5, hidden: true }));
    expect(listed).toContain('toolcrib-docs/x.txt');
    expect(listed).not.toContain('journal');
    await rm(join(state, 'toolcrib-docs'), { recursive: true });
  });
});
