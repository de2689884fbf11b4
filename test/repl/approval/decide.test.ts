import { describe, expect, it } from 'vitest';
import { decide, isDeniedWhole, type DecisionContext } from '../../../src/repl/approval/decide.ts';
import type { CallPlan, Tool } from '../../../src/repl/toolbox/tool.ts';
import { aRule, aTool } from './a-tool.ts';

const reading = { readOnlyHint: true };
const harmless = { destructiveHint: false, openWorldHint: false };

function verdict(
  tool: Partial<Tool>,
  context: Partial<DecisionContext>,
  args: Readonly<Record<string, unknown>> = {},
) {
  return decide({ tool: aTool(tool), args }, { mode: 'ask', rules: [], interactive: true, ...context });
}

describe('the order of the decision', () => {
  const allow = aRule('allow');
  const ask = aRule('ask');
  const deny = aRule('deny');
  const changed = aRule('allow', { definitions: ['another'] });

  it.each<[string, Partial<Tool>, Partial<DecisionContext>, 'allow' | 'ask' | 'deny', string]>([
    ['plan mode comes before allow rules', {}, { mode: 'plan', rules: [allow] }, 'deny', 'plan mode'],
    ['plan mode wants a hint, not its absence', { annotations: harmless }, { mode: 'plan' }, 'deny', 'plan'],
    ['plan mode lets reading through', { annotations: reading }, { mode: 'plan' }, 'allow', 'readOnlyHint'],
    [
      'deny holds in plan mode',
      { annotations: reading },
      { mode: 'plan', rules: [deny] },
      'deny',
      'rule: deny',
    ],
    ['deny comes before ask', {}, { rules: [allow, ask, deny] }, 'deny', 'rule: deny'],
    ['ask comes before allow', {}, { rules: [allow, ask] }, 'ask', 'rule: ask'],
    ['ask comes before yolo', {}, { mode: 'yolo', rules: [ask] }, 'ask', 'rule: ask'],
    ['deny comes before yolo', {}, { mode: 'yolo', rules: [deny] }, 'deny', 'rule: deny'],
    ['ask comes before readOnlyHint', { annotations: reading }, { rules: [ask] }, 'ask', 'rule: ask'],
    [
      'allow comes before destructiveHint',
      { annotations: { destructiveHint: true } },
      { rules: [allow] },
      'allow',
      'rule: allow',
    ],
    ['yolo asks nothing', { trusted: false }, { mode: 'yolo' }, 'allow', 'mode yolo'],
    [
      'a definition that changed voids an allow rule',
      {},
      { rules: [changed] },
      'ask',
      'the tool has changed',
    ],
    [
      'a server that changed voids an allow rule',
      {},
      { rules: [aRule('allow', { identity: 'x' })] },
      'ask',
      'the server has changed',
    ],
    [
      'a server rule covers the tools it knew',
      {},
      { rules: [aRule('allow', { definitions: ['definition-1'] })] },
      'allow',
      'rule',
    ],
    [
      'a deny rule holds whatever changes',
      {},
      { rules: [aRule('deny', { definitions: ['x'] })] },
      'deny',
      'rule: deny',
    ],
    [
      'destructiveHint comes before readOnlyHint',
      { annotations: { ...reading, destructiveHint: true } },
      {},
      'ask',
      'can destroy',
    ],
    [
      'auto does not cover what destroys',
      { annotations: { destructiveHint: true } },
      { mode: 'auto' },
      'ask',
      'can destroy',
    ],
    [
      'auto covers what neither destroys nor reaches out',
      { annotations: harmless },
      { mode: 'auto' },
      'allow',
      'mode auto',
    ],
    [
      'auto needs both hints',
      { annotations: { destructiveHint: false } },
      { mode: 'auto' },
      'ask',
      'reaches out',
    ],
    ['ask asks about the same', { annotations: harmless }, {}, 'ask', 'may change'],
    [
      'hints of an untrusted server are nothing',
      { annotations: reading, trusted: false },
      {},
      'ask',
      'not trusted',
    ],
    [
      'nor are they in auto',
      { annotations: harmless, trusted: false },
      { mode: 'auto' },
      'ask',
      'not trusted',
    ],
    ['nobody to ask means no', {}, { interactive: false }, 'deny', "--allow 'git:git_push'"],
    [
      'a rule that asks cannot be allowed away',
      {},
      { interactive: false, rules: [ask] },
      'deny',
      'nobody can be asked',
    ],
    ['reading needs nobody', { annotations: reading }, { interactive: false }, 'allow', 'readOnlyHint'],
  ])('%s', (_, tool, context, effect, why) => {
    expect(verdict(tool, context)).toMatchObject({ effect, why: expect.stringContaining(why) });
  });

  it('names the rule, where it is from and when it was made', () => {
    const rule = aRule('allow', { tool: 'git_*', at: '2026-11-02T10:00:00Z' });
    expect(verdict({}, { rules: [rule] }).why).toBe('rule: allow git_* (user, made 2026-11-02)');
  });
});

describe('a call of our own server', () => {
  const asks: Partial<CallPlan> = { decision: 'ask', reasons: [{ says: 'runs code of this folder' }] };
  const changes: Partial<CallPlan> = { effects: ['write'], subject: 'write a.ts (+1 -0)' };
  const made = aRule('allow', { at: '2026-11-02T10:00:00Z' });
  const act = aRule('allow', { act: 'npm test*' });

  it.each<[string, Partial<CallPlan>, Partial<DecisionContext>, 'allow' | 'ask' | 'deny', string]>([
    ['is asked about when its plan says so', asks, {}, 'ask', 'runs code of this folder'],
    ['in auto as well', asks, { mode: 'auto' }, 'ask', 'runs code'],
    ['and not with yolo', asks, { mode: 'yolo' }, 'allow', 'mode yolo'],
    ['is not asked about otherwise', {}, {}, 'allow', 'need not ask'],
    ['changes are, in mode ask', changes, {}, 'ask', 'changes something'],
    ['unless the operator allows them', { ...changes, setting: '--rule' }, {}, 'allow', '--rule'],
    ['and not in auto', changes, { mode: 'auto' }, 'allow', 'need not ask'],
    ['nor what also runs code that is trusted', { effects: ['write', 'execute'] }, {}, 'allow', 'need not'],
    [
      'a refusal is for the server to tell',
      { decision: 'deny', setting: 'no' },
      {},
      'allow',
      'refuses it: no',
    ],
    ['a written rule answers its question', asks, { rules: [aRule('allow')] }, 'allow', 'rule: allow'],
    ['an answer at the prompt does not', asks, { rules: [made] }, 'ask', 'runs code'],
    ['but allows changes', changes, { rules: [made] }, 'allow', 'rule: allow'],
    ['a rule about its act fits', asks, { rules: [act] }, 'allow', 'rule: allow run(npm test*)'],
    ['and no other act', { ...asks, subject: 'npm publish' }, { rules: [act] }, 'ask', 'runs code'],
    ['a rule denies it first', asks, { rules: [act, aRule('deny', { act: 'npm *' })] }, 'deny', 'rule: deny'],
    [
      'plan mode lets through what looks',
      { effects: ['read', 'network'] },
      { mode: 'plan' },
      'allow',
      'plan',
    ],
    ['and nothing else', changes, { mode: 'plan' }, 'deny', 'plan mode'],
    ['nobody to ask means no, with the flag', asks, { interactive: false }, 'deny', "--allow 'npm test'"],
    [
      'which is quoted for a shell',
      { ...asks, subject: "git commit -m 'a b'" },
      { interactive: false },
      'deny',
      `--allow "git commit -m 'a b'"`,
    ],
    [
      'and names an act of one word as one',
      { ...asks, subject: 'make' },
      { interactive: false },
      'deny',
      "--allow 'run(make)'",
    ],
    [
      'or the tool, for a change',
      changes,
      { interactive: false },
      'deny',
      "--allow 'git:git_push' (changes something)",
    ],
    ['but nothing with a star', { ...asks, subject: 'rm a*' }, { interactive: false }, 'deny', 'nobody can'],
  ])('%s', (_, said, context, effect, why) => {
    const plan: CallPlan = {
      decision: 'allow',
      reasons: [],
      subject: 'npm test',
      folder: '/p',
      effects: ['execute'],
      ...said,
    };
    const decided = decide(
      { tool: aTool(), args: {}, plan },
      { mode: 'ask', rules: [], interactive: true, ...context },
    );
    expect(decided).toMatchObject({ effect, why: expect.stringContaining(why) });
  });
});

describe('patterns', () => {
  it('are about a server and a tool, which may be called as the model calls it', () => {
    const effects = ['git:git_*', 'other:git_*', '*:mcp__git__*', '*:push'].map((text) => {
      const [server = '', tool = ''] = text.split(':');
      return verdict({}, { rules: [aRule('deny', { server, tool })] }).effect;
    });
    expect(effects).toEqual(['deny', 'ask', 'deny', 'ask']);
  });
});

it('takes a tool away as a whole only by a rule that has no patterns', () => {
  expect(isDeniedWhole(aTool(), [aRule('deny', { tool: 'git_*' })])).toBe(true);
  expect(isDeniedWhole(aTool(), [aRule('deny', { act: '*force*' })])).toBe(false);
  expect(isDeniedWhole(aTool(), [aRule('ask'), aRule('allow')])).toBe(false);
});
