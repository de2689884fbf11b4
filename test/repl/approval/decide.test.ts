import { expect, it } from 'vitest';
import { decide, isDeniedWhole, type DecisionContext } from '../../../src/repl/approval/decide.ts';
import { parseRule, type PermissionRule } from '../../../src/repl/approval/rules.ts';
import { replied, type CallPlan, type ClientTool } from '../../../src/repl/toolbox/tool.ts';

/** A tool of a trusted server of which nothing else is known. */
const aTool = (facts: Partial<ClientTool> = {}): ClientTool => ({
  name: 'mcp__git__git_push',
  description: 'Pushes',
  inputSchema: { type: 'object' },
  server: 'git',
  tool: 'git_push',
  annotations: {},
  trusted: true,
  identity: 'identity-1',
  definition: 'definition-1',
  call: async () => replied('done'),
  ...facts,
});

const aRule = (effect: PermissionRule['effect'], facts: Partial<PermissionRule> = {}): PermissionRule => ({
  effect,
  server: '*',
  tool: '*',
  source: 'user',
  ...facts,
});

type Given = Partial<DecisionContext> & {
  readonly tool?: Partial<ClientTool>;
  readonly plan?: Partial<CallPlan>;
};

/** What is done with a call, and why, in one text. */
function verdict({ tool, plan, ...context }: Given): string {
  const usual = { decision: 'allow', reasons: [], subject: 'npm test', folder: '/p', effects: ['execute'] };
  const call = { tool: aTool(tool), args: {}, ...(plan && { plan: { ...usual, ...plan } as CallPlan }) };
  const { effect, why } = decide(call, { mode: 'ask', rules: [], interactive: true, ...context });
  return `${effect}: ${why}`;
}

const [allow, ask, deny] = [aRule('allow'), aRule('ask'), aRule('deny')];
const made = aRule('allow', { at: '2026-11-02T10:00:00Z' });
const act = aRule('allow', { act: 'npm test*' });
const reads = { annotations: { readOnlyHint: true } };
const harmless = { annotations: { destructiveHint: false, openWorldHint: false } };
const destroys = { annotations: { readOnlyHint: true, destructiveHint: true } };
const alone = { interactive: false };
const asks = { decision: 'ask', reasons: [{ says: 'runs code' }] } as const;
const writes = { effects: ['write'], subject: 'write a.ts (+1 -0)' };

it.each<[says: string, Given, string]>([
  ['plan mode comes before allow rules', { mode: 'plan', rules: [allow] }, 'deny: plan mode'],
  ['plan mode wants a hint, not its absence', { mode: 'plan', tool: harmless }, 'deny: plan mode'],
  ['plan mode lets reading through', { mode: 'plan', tool: reads }, 'allow: readOnlyHint'],
  [
    'deny comes before ask, and holds in plan mode',
    { mode: 'plan', tool: reads, rules: [ask, deny] },
    'deny: rule',
  ],
  ['deny comes before yolo', { mode: 'yolo', rules: [deny] }, 'deny: rule'],
  ['ask comes before allow, yolo and hints', { mode: 'yolo', tool: reads, rules: [allow, ask] }, 'ask: rule'],
  ['allow comes before hints', { tool: destroys, rules: [allow] }, 'allow: rule'],
  ['yolo asks nothing', { mode: 'yolo', tool: { trusted: false } }, 'allow: mode yolo'],
  [
    'a definition that changed voids a rule',
    { rules: [aRule('allow', { definitions: ['x'] })] },
    'ask: may change something; the tool has changed',
  ],
  [
    'a server that changed voids a rule, too',
    { rules: [aRule('allow', { identity: 'x' })] },
    'ask: may change something; the server has changed',
  ],
  ['a change voids no rule that denies', { rules: [aRule('deny', { definitions: ['x'] })] }, 'deny: rule'],
  [
    'destructiveHint comes before readOnlyHint, in auto as well',
    { mode: 'auto', tool: destroys },
    'ask: can destroy',
  ],
  ['auto covers what neither destroys nor reaches out', { mode: 'auto', tool: harmless }, 'allow: mode auto'],
  [
    'auto needs both hints',
    { mode: 'auto', tool: { annotations: { destructiveHint: false } } },
    'ask: may change',
  ],
  ['ask asks about the same', { tool: harmless }, 'ask: may change'],
  [
    'hints of an untrusted server are nothing',
    { tool: { ...reads, trusted: false } },
    'ask: its server is not trusted',
  ],
  ['nobody to ask means no', alone, "deny: needs approval; rerun with --allow 'git:git_push'"],
  ['no flag allows away a rule that asks', { ...alone, rules: [ask] }, 'deny: needs approval; nobody can'],
  [
    'a rule is named with its source and its day',
    { rules: [made] },
    'allow: rule: allow * (user, made 2026-11-02)',
  ],
])('decides about a call of another server: %s', (_, given, expected) => {
  expect(verdict(given).slice(0, expected.length)).toBe(expected);
});

it.each<[says: string, Given, string]>([
  ['a call is asked about when its plan says so', { plan: asks, mode: 'auto' }, 'ask: runs code'],
  ['yolo asks nothing, whatever the plan says', { plan: asks, mode: 'yolo' }, 'allow: mode yolo'],
  [
    'a call whose plan asks nothing is not asked about',
    { plan: {} },
    'allow: mode ask: its server need not ask',
  ],
  ['changes are asked about in mode ask', { plan: writes }, 'ask: changes something'],
  ['changes are not asked about in mode auto', { plan: writes, mode: 'auto' }, 'allow: mode auto'],
  [
    'a setting of the operator allows changes in mode ask',
    { plan: { ...writes, setting: '--rule' } },
    'allow: --rule',
  ],
  [
    'a refusal is for the server to tell',
    { plan: { decision: 'deny', setting: 'no' } },
    'allow: its server refuses',
  ],
  ['a written rule answers the question of a plan', { plan: asks, rules: [allow] }, 'allow: rule'],
  [
    'an answer at the prompt does not answer the question of a plan',
    { plan: asks, rules: [made] },
    'ask: runs code',
  ],
  ['an answer at the prompt allows changes', { plan: writes, rules: [made] }, 'allow: rule'],
  ['a rule about an act allows that act', { plan: asks, rules: [act] }, 'allow: rule: allow run(npm test*)'],
  [
    'a rule about an act allows no other act',
    { plan: { ...asks, subject: 'npm publish' }, rules: [act] },
    'ask: runs code',
  ],
  [
    'plan mode lets through what looks',
    { mode: 'plan', plan: { effects: ['read', 'network'] } },
    'allow: mode plan',
  ],
  ['plan mode lets through nothing else', { mode: 'plan', plan: writes }, 'deny: plan mode'],
  [
    'nobody to ask means no, with a flag for the shell',
    { ...alone, plan: { ...asks, subject: "git commit -m 'a'" } },
    String.raw`deny: needs approval; rerun with --allow 'git commit -m '\''a'\''' (runs`,
  ],
  [
    'an act of one word is named as one',
    { ...alone, plan: { ...asks, subject: 'make' } },
    "deny: needs approval; rerun with --allow 'run(make)'",
  ],
  [
    'a change is named by its tool',
    { ...alone, plan: writes },
    "deny: needs approval; rerun with --allow 'git:git_push'",
  ],
  [
    'no flag is named for an act with a star',
    { ...alone, plan: { ...asks, subject: 'rm a*' } },
    'deny: needs approval; nobody can',
  ],
])('decides about a call of our own server: %s', (_, given, expected) => {
  expect(verdict(given).slice(0, expected.length)).toBe(expected);
});

it('takes mcp__server__tool for the tool of that server, and not for one that calls itself so', () => {
  const evil = { server: 'evil', tool: 'mcp__git__git_push', name: 'mcp__evil__mcp__git__git_push' };
  const effectOf = (rule: string, tool: Partial<ClientTool>, effect: PermissionRule['effect'] = 'allow') =>
    verdict({ tool, rules: [parseRule(rule, effect, 'flag')] }).split(':', 1)[0];
  for (const rule of ['mcp__git__git_push', 'mcp__git__*', '*:mcp__git__git_push', 'git:git_*'])
    expect([rule, effectOf(rule, {}), effectOf(rule, evil)]).toEqual([rule, 'allow', 'ask']);
  expect(effectOf('mcp__evil__*', evil)).toBe('allow');
  expect(effectOf('other:git_*', {}, 'deny')).toBe('ask');
});

it('takes a tool away as a whole only by a rule that has no patterns', () => {
  expect(isDeniedWhole(aTool(), [aRule('deny', { tool: 'git_*' })])).toBe(true);
  expect(isDeniedWhole(aTool(), [aRule('deny', { act: '*force*' })])).toBe(false);
  expect(isDeniedWhole(aTool(), [ask, allow])).toBe(false);
});
