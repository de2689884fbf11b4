import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { chatPlace, type ChatPlace } from '../repl/support/chat.ts';
import { example } from '../repl/support/example.ts';
import { call, say } from '../repl/support/fake-model.ts';

// The model answers from this process, which therefore must not wait.
const started = promisify(execFile);
const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';

/** A project whose only package is ours, as it is packed. */
async function packedPlace(): Promise<ChatPlace> {
  const place = await chatPlace();
  const modules = join(place.cwd, 'node_modules');
  mkdirSync(join(modules, 'toolcrib'), { recursive: true });
  const packing = ['pack', '--ignore-scripts', '--silent', '--pack-destination', place.home];
  const tarball = (await started(npm, packing)).stdout.trim().split('\n').at(-1) ?? '';
  await started('tar', ['-xf', tarball, '-C', join(modules, 'toolcrib'), '--strip-components=1'], {
    cwd: place.home,
  });
  symlinkSync(resolve('node_modules/@vscode'), join(modules, '@vscode'), 'junction');
  writeFileSync(join(place.cwd, 'package.json'), '{"type":"module"}');
  return place;
}

/** Runs a TypeScript program, once its types hold; what it prints. It has to end by itself. */
async function run({ cwd, env }: ChatPlace, source: string): Promise<string> {
  writeFileSync(join(cwd, 'main.ts'), source);
  const tsc = [
    resolve('node_modules/typescript/bin/tsc'),
    '--strict',
    '--exactOptionalPropertyTypes',
    '--types',
    '',
  ];
  const target = ['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,dom'];
  await started(process.execPath, [...tsc, ...target, 'main.ts'], { cwd });
  return (await started(process.execPath, ['main.js'], { cwd, env, timeout: 60_000 })).stdout;
}

it('runs the example of docs/hosts.md from the packed package', async () => {
  const place = await packedPlace();
  writeFileSync(join(place.cwd, 'a.txt'), 'hello\n');
  place.model.script(call('mcp__toolcrib__read_file', { path: 'a.txt' }), say('It says hello.'));
  const source = example(readFileSync('docs/hosts.md', 'utf8'), '## In a program of your own', 'ts');
  expect(await run(place, source)).toBe('1\thello\n\nIt says hello.\n');
});

it('asks its program, refuses without one, and streams what happens', async () => {
  const place = await packedPlace();
  place.model.script(call('mcp__toolcrib__write_file', { path: 'b.txt', content: 'x' }), say('No.'));
  const printed = await run(
    place,
    `import { connect, queryStream } from 'toolcrib';
    const write = { name: 'write_file', arguments: { path: '.vscode/tasks.json', content: '{}' } };
    const asked: string[] = [];
    const tools = await connect({
      async onQuestion({ message }) {
        asked.push(message.split('\\n')[0] ?? '');
        // What comes sooner is nobody's.
        await new Promise((read) => setTimeout(read, 400));
        return { action: 'accept' };
      },
    });
    const { isError } = await tools.callTool(write);
    await tools.close();
    const mute = await connect({ checkpoints: false });
    const refused = await mute.callTool({ name: 'run', arguments: { command: 'node a.js' } });
    await mute.close();
    const wrong = await connect({ toolsets: ['gti'] }).catch((error: Error) => error.message);
    const types = new Set<string>();
    let unasked = 0;
    for await (const event of queryStream('write', { cwd: '.' })) {
      types.add(event.type);
      if (event.type === 'result') unasked = event.unasked;
    }
    const none = await queryStream('x', { env: { HOME: process.cwd() } }).next().catch((error) => error.code);
    declare const console: { log(text: string): void };
    declare const process: { cwd(): string };
    declare const setTimeout: (work: (value: unknown) => void, ms: number) => unknown;
    console.log(JSON.stringify({ asked, isError, refused, wrong, types: [...types], unasked, none }));`,
  );
  const { refused, ...seen } = JSON.parse(printed) as Record<string, unknown>;
  expect(seen).toEqual({
    asked: [expect.stringContaining('write .vscode/tasks.json (+1 -0)')],
    wrong: expect.stringMatching(/^toolset gti: .*did you mean git/),
    types: ['call_begun', 'answer', 'call_ended', 'text', 'ended', 'result'],
    unasked: 1,
    none: 'NO_MODEL',
  });
  expect(JSON.stringify(refused)).toMatch(/NEEDS_CONFIRM.*--rule .run\(node a\.js\)=allow/);
});
