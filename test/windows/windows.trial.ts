import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textOf } from '../support/text-of.ts';
import { until } from '../support/until.ts';
import { makeComputer, type Computer, type Running } from './windows.ts';

// `npm run test:windows`. Wine has no symbolic links, no 8.3 names and no antivirus program, and there is no Git for
// Windows to be had: what depends on these is not tried.

/** Known by its name among all processes. */
const job = `job-${randomUUID().slice(0, 8)}.js`;

const described = `id: frob
title: Frobnicator
actions:
  show:
    title: Show frobs
    description: Shows what is there.
    effects: [execute]
    run: [show]
`;

const files = {
  'shop\\package.json': JSON.stringify({
    name: 'shop',
    scripts: { hello: 'node src/hello.js', test: 'node --test' },
  }),
  'shop\\src\\hello.js': 'console.log("hello", ...process.argv.slice(2));\r\nconst x = 1;\r\n',
  'shop\\src\\hello.test.js': "require('node:test')('adds', () => {});\r\n",
  'shop\\tsconfig.json': '{ "compilerOptions": { "noEmit": true, "types": [] }, "files": ["src/wrong.ts"] }',
  'shop\\src\\wrong.ts': 'export const x: number = "a";\r\n',
  'shop\\src\\deep\\b.txt': 'one\r\ntwo\r\nthree needle\r\n',
  'shop\\a.txt': 'hello\r\n',
  'shop\\hello.jsonl': readFileSync(new URL('../repl/fixtures/hello.jsonl', import.meta.url), 'utf8'),
  'shop\\say.cmd': '@echo off\r\necho said %*\r\n',
  [`shop\\${job}`]: `if (process.argv.length < 3)
    require('node:child_process').spawn(process.execPath, [__filename, 'child'], { stdio: 'inherit' });
  setInterval(() => {}, 1000);\n`,
  // Found by who starts "cmd.exe", follows a first line of Unix, or tries endings.
  'shop\\cmd.exe': 'no program',
  'shop\\script': '#!/usr/bin/env planted\n',
  'shop\\planted.cmd': '@echo off\r\necho was started\r\n',
  'shop\\plain': 'no program',
  'shop\\plain.cmd': '@echo off\r\necho was started\r\n',
  'tools\\frob.cmd': '@echo off\r\necho frobbed: %*\r\n',
  'home\\AppData\\Roaming\\toolcrib\\programs\\frob.yaml': described,
  'home\\AppData\\Roaming\\toolcrib\\config.json': JSON.stringify({
    rules: { fetch_url: 'deny' },
    // Programs start slowly under Wine, and this computer may be busy.
    budgets: { callSeconds: 110 },
  }),
  'unix\\config\\toolcrib\\config.json': '{ "rules": { "read_file": "deny" } }',
  'unix\\.config\\toolcrib\\config.json': '{ "rules": { "read_file": "deny" } }',
  'secret.txt': 'of nobody else',
};

describe.each(['node20', 'node24'])('the built server on Windows, in %s', (node) => {
  let computer: Computer;
  let client: Client;
  let server: Running;
  const answer = async (name: string, given: Record<string, unknown> = {}) => {
    const result = await client.callTool({ name, arguments: given }, { timeout: 120_000 });
    return { text: textOf(result), failed: result.isError === true };
  };
  const gets = async (name: string, given: Record<string, unknown> = {}) => {
    const { text, failed } = await answer(name, given);
    expect(failed, text).toBe(false);
    return text.replaceAll('\r\n', '\n');
  };

  beforeAll(async () => {
    computer = makeComputer(node, files);
    ({ client, server } = await computer.open());
  });
  afterAll(async () => {
    await client?.close();
    computer?.end();
  });

  it('finds the programs that are installed', async () => {
    const found = await gets('list_programs');
    expect(found).toMatch(/^[1-9]\d* of \d+ programs are here$/m);
    // A computer that is busy reports versions too late.
    expect(found).toMatch(new RegExp(`^node \\S+ C:\\\\${node}\\\\node\\.exe`, 'm'));
    expect(found).toMatch(
      new RegExp(`^npm \\S+ C:\\\\${node}\\\\node_modules\\\\npm\\\\bin\\\\npm-cli\\.js`, 'm'),
    );
    expect(found).toMatch(/^biome \S+ C:\\tools\\biome\.exe/m);
    expect(found).toMatch(/^tsc \S+ C:\\.*\\AppData\\Roaming\\npm\\node_modules\\typescript\\bin\\tsc/m);
    expect(found).toMatch(/^frob \S+ C:\\.*\\tools\\frob\.cmd/m);
  });

  it('lists its tools', async () => {
    const { tools } = await client.listTools();
    const names = tools.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['read_file', 'grep', 'edit_file', 'undo', 'run', 'check']));
    expect(names).not.toContain('git_status');
  });

  it('reads, searches and lists by paths with either slash', async () => {
    for (const path of ['src/deep/b.txt', 'src\\deep\\b.txt', `${computer.project}\\src\\deep\\b.txt`])
      expect(await gets('read_file', { path })).toMatch(/^2\ttwo$/m);
    for (const path of [
      'src/deep/b.txt:2',
      'src\\deep\\b.txt:2',
      `${computer.project}\\src\\deep\\b.txt:2-2`,
    ])
      expect(await gets('read_file', { path })).toMatch(/^2\ttwo$/m);
    for (const path of ['src', 'src\\deep', 'src\\deep\\b.txt'])
      expect(await gets('grep', { pattern: 'needle$', path })).toMatch(/b\.txt\n3:three needle$/m);
    for (const glob of ['src/*.js', 'src\\*.js', '.\\src\\h*.js'])
      expect(await gets('list_files', { glob })).toMatch(/^src[\\/]hello\.js$/m);
  });

  it('edits a file, writes one and takes it back', async () => {
    const path = 'src\\hello.js';
    const read = () => readFileSync(computer.at('shop\\src\\hello.js'), 'utf8');
    await gets('edit_file', { path, old_string: 'const x = 1;', new_string: 'const x = 2;' });
    expect(read()).toBe(files['shop\\src\\hello.js'].replace('1', '2'));
    await gets('write_file', { path: 'new\\deep\\c.txt', content: 'new\n' });
    expect(computer.files('shop\\new')).toEqual(['deep/c.txt']);
    await gets('undo', { last: 2 });
    expect(read()).toBe(files['shop\\src\\hello.js']);
    expect(existsSync(computer.at('shop\\new'))).toBe(false);
  });

  it('runs programs, scripts behind batch files, and batch files', async () => {
    expect(await gets('run', { command: 'node --version' })).toMatch(/^v\d+/);
    expect(await gets('run', { command: `node 'src\\hello.js' one "two three"` })).toBe(
      'hello one two three',
    );
    expect(await gets('run', { command: 'tsc --version' })).toMatch(/^Version 5/);
    expect(await gets('run', { command: './say.cmd hello' })).toMatch(/^said "?hello/);
    expect(await gets('run_action', { action: 'frob_show' })).toMatch(/^frobbed: "?show/);
    expect(await gets('run_task', { task: 'hello' })).toMatch(/^hello$/m);
    expect(await gets('check', { what: 'test' })).toMatch(/^test: 1 passed/);
    // tsc ends with 2: what it found is an answer.
    expect((await answer('check', { what: 'types' })).text).toMatch(
      /^types: 1 error .*\nsrc.wrong\.ts:1 .*TS2322/,
    );
  });

  it('starts no other file in the place of one that Windows cannot start', async () => {
    for (const command of ['./script', './plain']) {
      const { text } = await answer('run', { command });
      expect(text).toMatch(/ENOENT/);
      expect(text).not.toContain('was started');
    }
  });

  it('stops a job with all that it has started', async () => {
    const started = await gets('run', { command: `node ${job}`, background: true });
    const [id] = /^node-\d+/.exec(started) ?? [started];
    await until(() => computer.running(job).length === 2);
    await gets('control_job', { id, action: 'stop' });
    await until(() => computer.running(job).length === 0);
  });

  it('opens nothing outside the roots, and only regular files', async () => {
    const outside = ['..\\secret.txt', '../secret.txt', 'src\\..\\..\\secret.txt', 'C:\\windows\\win.ini'];
    for (const path of [...outside, 'NUL', 'src\\hello.js::$DATA', '\\\\?\\C:\\windows\\win.ini'])
      expect(await answer('read_file', { path }), path).toMatchObject({ failed: true });
  });

  it('answers in a chat', async () => {
    const chat = computer.toolcrib('chat', '-p', 'what is in a.txt?', '--replay', 'hello.jsonl');
    chat.endInput();
    expect(await chat.ended).toEqual({ code: 0, stdout: 'It says hello.\n', stderr: '' });
  });

  it('has its settings and state in the folders of Windows, not below HOME', async () => {
    const doctor = await computer.toolcrib('doctor').ended;
    expect(doctor).toMatchObject({ code: 0 });
    expect(doctor.stdout).toContain(`${computer.home}\\AppData\\Roaming\\toolcrib\\config.json`);
    expect(doctor.stdout).toContain(`state folder ${computer.home}\\AppData\\Local\\toolcrib\\State`);
    expect(await answer('fetch_url', { url: 'http://127.0.0.1:1/' })).toMatchObject({
      failed: true,
      text: expect.stringMatching(/rule|deny|denied/),
    });
    expect(computer.files('home\\AppData\\Local\\toolcrib\\State')).not.toEqual([]);
    expect(computer.files('unix').filter((file) => !file.endsWith('toolcrib/config.json'))).toEqual([]);
  });

  it('ends when the host leaves, with its jobs, and has written nothing but messages', async () => {
    await gets('run', { command: `node ${job}`, background: true });
    await until(() => computer.running(job).length === 2);
    await client.close();
    const { code, stdout, stderr } = await server.ended;
    expect({ code, stderr: stderr.replace(/^.*ExperimentalWarning.*\n.*\n/m, '') }).toEqual({
      code: 0,
      stderr: '',
    });
    for (const line of stdout.trimEnd().split('\n')) expect(JSON.parse(line)).toHaveProperty('jsonrpc');
    await until(() => computer.running(job).length === 0);
    expect(computer.running('toolcrib.cjs').filter((line) => line.includes('C:\\Ada'))).toEqual([]);
  });
});
