import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../src/repl/models/model.ts';
import { keyOf, type RunKeyCommand } from '../../../src/repl/models/key.ts';
import { runProgram } from '../../../src/repl/files/program.ts';

const endpoint = (more: Partial<Endpoint> = {}): Endpoint => ({
  name: 'work',
  wire: 'chat',
  baseUrl: 'https://x.example',
  keyVariables: ['WORK_KEY', 'OTHER_KEY'],
  local: false,
  ...more,
});
const program = (script: string): Partial<Endpoint> => ({
  keyVariables: [],
  keyCommand: [process.execPath, '-e', script],
});

/** One that is really started, and counted. */
function runner(): RunKeyCommand & { started: number } {
  const run = Object.assign(
    async (argv: readonly string[]) => {
      run.started++;
      return runProgram(argv, { timeoutMs: 60_000 });
    },
    { started: 0 },
  );
  return run;
}

describe('a key', () => {
  it('comes from the first variable that has one', async () => {
    expect(await keyOf(endpoint(), { OTHER_KEY: ' b \n' }, runner())).toBe('b');
    expect(await keyOf(endpoint(), { WORK_KEY: 'a', OTHER_KEY: 'b' }, runner())).toBe('a');
  });

  it('comes from a program, which is started once', async () => {
    const run = runner();
    const work = endpoint(program('console.log("k-1\\nsecond line")'));
    expect(await Promise.all([keyOf(work, {}, run), keyOf({ ...work }, {}, run)])).toEqual(['k-1', 'k-1']);
    expect(await keyOf(work, {}, run)).toBe('k-1');
    expect(run.started).toBe(1);
  });

  it('is not needed on this machine', async () => {
    expect(await keyOf(endpoint({ local: true }), {}, runner())).toBeUndefined();
    expect(await keyOf(endpoint({ keyVariables: [] }), {}, runner())).toBeUndefined();
  });

  it('that is missing is asked for by name', async () => {
    await expect(keyOf(endpoint(), {}, runner())).rejects.toThrow(
      /^work needs a key\. Set WORK_KEY or OTHER_KEY, or name/,
    );
  });

  it.each([
    [
      'ends badly',
      'console.log("s3cret"); console.error("s3cret"); process.exit(3)',
      /exit code 3\. Run it yourself/,
    ],
    ['prints nothing', '', /printed nothing/],
    ['prints what is no key', 'console.log("s3cret and more")', /gives no key/],
  ])('is not shown when its program %s', async (_, script, message) => {
    const run = runner();
    const shown = script.replaceAll('s3cret', '" + "s3" + "cret');
    const failure = await keyOf(endpoint(program(shown)), {}, run).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'NO_KEY', message: expect.stringMatching(message) });
    expect(String(failure)).not.toContain('s3cret');
    await keyOf(endpoint(program(shown)), {}, run).catch(() => undefined);
    expect(run.started).toBe(2);
  });

  it('is not shown when its program cannot be started', async () => {
    const missing = endpoint({ keyVariables: [], keyCommand: ['no-such-program-here'] });
    await expect(keyOf(missing, {}, runner())).rejects.toThrow(
      /^"no-such-program-here".* could not be started/,
    );
  });
});
