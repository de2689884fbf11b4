import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { connect, connectV1, eras } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import { makeHome } from './home.ts';

interface Called {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>;
  close(): Promise<void>;
}

const seconds = 180;
const clients = {
  ...Object.fromEntries(eras.map((era) => [era, connect.bind(undefined, era)])),
  'the first SDK': connectV1,
} as Record<string, (options: ReturnType<typeof makeHome>['options']) => Promise<Called>>;

// Three minutes; jobs.slow.test.ts has the same in small, by the settings.
it.runIf(process.env['LONG'])(
  'a build of three minutes comes through clients that wait for a minute at most',
  { timeout: 300_000 },
  async () => {
    const home = makeHome({ questions: 'host' });
    onTestFinished(() => home.end());
    copyFileSync(join(import.meta.dirname, 'slow-build.mjs'), join(home.project, 'slow-build.mjs'));
    writeFileSync(
      join(home.project, 'package.json'),
      JSON.stringify({ name: 'shop', scripts: { build: 'node slow-build.mjs' } }),
    );
    await Promise.all(
      Object.entries(clients).map(async ([name, connectTo], at) => {
        const work = join(home.folder, `work-${at}`);
        mkdirSync(work);
        // As it is: clients of both SDKs give up after 60 s unless they are told otherwise.
        const client = await connectTo(home.options);
        const call = { name: 'npm_run', arguments: { task: 'build', args: [work, String(seconds)] } };
        const startedAt = performance.now();
        const answers: string[] = [];
        do answers.push(textOf(await client.callTool(call)));
        while (/^\S+ is running for /.test(answers.at(-1) ?? ''));
        const took = Math.round((performance.now() - startedAt) / 1000);
        await client.close();
        console.error(`${name}: ${answers.length} calls in ${took} s`);
        expect(answers.at(-1)).toContain('built all of it');
        expect(readFileSync(join(work, 'runs'), 'utf8')).toBe('run\n');
        expect(took).toBeGreaterThanOrEqual(seconds);
        expect(answers.length).toBeGreaterThan(3);
      }),
    );
  },
);
