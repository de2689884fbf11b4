import { execFileSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { also, runProgram } from './acts.ts';
import { makeWorld } from './world.ts';

const script = (text: string) => runProgram('bash', '-c', text);
const withInput = (text: string) => also(runProgram('sh'), { input: text });
/** The rule that a refusal proposes, as a shell would read it. */
function ruleIn(text: string): string | undefined {
  const typed = /--rule (.*), or use a client/.exec(text)?.[1];
  return typed && execFileSync('sh', ['-c', `printf %s ${typed}`], { encoding: 'utf8' });
}

describe('a rule that a refusal proposes', () => {
  const world = makeWorld();
  afterAll(() => world.end());

  it.each([
    ['script', script],
    ['input', withInput],
  ])('allows this one %s and no other', async (_what, act) => {
    const asked = await (await world.open()).does(act('echo one'));
    const rule = ruleIn(asked.text) ?? 'none';
    expect(rule).toContain('echo one');
    const session = await world.open({ args: ['--rule', rule] });
    expect(await session.gets(act('echo one'))).toContain('one');
    expect((await session.does(act('echo two'))).text).toContain('NEEDS_CONFIRM');
  });

  it('is left out where it would allow more than the act', async () => {
    const { text } = await (await world.open()).does(runProgram('cksum', '*.md'));
    expect(text).toContain('NEEDS_CONFIRM');
    expect(ruleIn(text)).toBeUndefined();
  });
});
