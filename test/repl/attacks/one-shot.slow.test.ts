import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { chatPlace, runChat } from '../support/chat.ts';
import { say } from '../support/fake-model.ts';
import { startInTerminal } from '../support/pty.ts';
import { program } from '../../support/server.ts';

it('keeps escape sequences of the model from a terminal, and from a pipe, which one may read', async () => {
  const place = await chatPlace();
  const hostile = 'before\x1b]52;c;aGFja2Vk\x07\u202e\u3164\u009b after';
  place.model.otherwise(() => say(hostile));
  const asked = [program, 'chat', '--no-toolcrib', '-p', 'x'];
  const terminal = startInTerminal([process.execPath, ...asked], place);
  expect(await terminal.exit).toBe(0);
  expect(terminal.raw()).not.toContain('\x1b]52');
  expect(terminal.screen()).toContain('before after');
  expect((await runChat(place, ['--no-toolcrib', '-p', 'x'])).stdout).toBe('before after\n');
  for (const output of ['json', 'stream-json']) {
    const { stdout } = await runChat(place, ['--no-toolcrib', '-p', 'x', '--output', output]);
    expect(stdout).toMatch(/^[ -~\n]+$/);
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({ text: hostile });
  }
  // A file is not a terminal, and whoever asked for it wants what was written.
  const file = join(place.cwd, 'answer.txt');
  const descriptor = openSync(file, 'w');
  const child = spawn(process.execPath, asked, { ...place, stdio: ['ignore', descriptor, 'ignore'] });
  await once(child, 'exit');
  closeSync(descriptor);
  expect(readFileSync(file, 'utf8')).toBe(`${hostile}\n`);
});

it('never shows the key, not even one that the endpoint echoes', async () => {
  const place = await chatPlace();
  const echo = createServer((request, response) => {
    response.writeHead(401, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: `no: ${request.headers.authorization}` } }));
  }).listen(0, '127.0.0.1');
  await once(echo, 'listening');
  onTestFinished(() => {
    echo.close();
  });
  const { port } = echo.address() as AddressInfo;
  const key = 'sk-secret-1234567890';
  writeFileSync(
    join(place.home, '.config', 'toolcrib', 'chat.yaml'),
    `endpoints:\n  keyed: { wire: chat, baseUrl: "http://127.0.0.1:${port}/v1", keyVariables: [KEYED] }\nmodel: keyed/some\n`,
  );
  const { code, stderr } = await runChat({ ...place, env: { ...place.env, KEYED: key } }, [
    '--no-toolcrib',
    '-p',
    'x',
  ]);
  expect(code).toBe(1);
  expect(stderr).toContain('no: Bearer ***');
  expect(stderr).not.toContain(key);
});
