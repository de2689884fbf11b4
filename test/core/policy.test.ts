import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { effects } from '../../src/core/discoverer.ts';
import {
  narrow,
  questionModes,
  usualBudgets,
  usualSettings,
  type ProjectConfig,
  type Settings,
} from '../../src/core/settings.ts';
import { decide, type Act, type LastingAnswers, type Policy } from '../../src/core/policy.ts';
import { decisions, fits, matchesPath, ruleProblem, type Rule } from '../../src/core/rule.ts';

const rule = (pattern: string, decision: Rule['decision']): Rule => ({
  pattern,
  decision,
  setting: `rules "${pattern}"`,
});

const usualAct: Act = {
  tools: ['git_push'],
  toolset: 'git',
  effects: ['read'],
  subject: 'git push origin',
  paths: [],
  protects: [],
  isUndoable: false,
};
const nothingKnown: LastingAnswers = { trusted: false, always: false };
const always: Act['grant'] = { act: '["git","push"]', words: 'exactly git push' };

/** What comes of a call, in a word; asking names its reasons. */
function outcome(
  act: Partial<Act>,
  policy: Partial<Policy> = {},
  known: Partial<LastingAnswers> = {},
): string {
  const verdict = decide(
    { ...usualAct, ...act },
    { ...usualSettings, ...policy },
    { ...nothingKnown, ...known },
  );
  if (verdict.decision === 'ask') return verdict.reasons.map(({ because }) => because).join('+');
  return verdict.decision === 'allow' && verdict.unasked ? 'unasked' : verdict.decision;
}

const executes: Partial<Act> = { effects: ['execute'], trust: 'it runs code of the project' };
const destroys: Partial<Act> = { effects: ['destroy'], grant: always };
const runs: Partial<Act> = {
  ...executes,
  tools: ['run'],
  subject: 'npm test',
  approval: 'program',
  grant: always,
};
const protects: Partial<Act> = {
  effects: ['write'],
  tools: ['write_file'],
  subject: 'write .envrc (+1 -0)',
  protects: [{ path: '/w/.envrc', effect: 'a shell runs it' }],
};

describe('the table of questions', () => {
  it.each<[string, Partial<Act>, Partial<LastingAnswers>, string]>([
    ['reading', {}, {}, 'allow'],
    ['asking another machine', { effects: ['read', 'network'] }, {}, 'allow'],
    ['writing', { effects: ['write'] }, {}, 'allow'],
    ['what needs trust', executes, {}, 'trust'],
    ['the same in a trusted folder', executes, { trusted: true }, 'allow'],
    ['the same, with an "always" that is for something else', executes, { always: true }, 'trust'],
    ['what loses work', destroys, {}, 'destroy'],
    ['the same in a trusted folder', destroys, { trusted: true }, 'destroy'],
    ['the same where "always" was said', destroys, { always: true }, 'allow'],
    ['the same where nothing could be kept', { effects: ['destroy'] }, { always: true }, 'destroy'],
    ['what loses work that undo brings back', { ...destroys, isUndoable: true }, {}, 'allow'],
    ['what others see', { effects: ['publish', 'network'], grant: always }, {}, 'publish'],
    ['the same where "always" was said', { effects: ['publish'], grant: always }, { always: true }, 'allow'],
    ['any program', runs, {}, 'trust+program'],
    ['the same in a trusted folder', runs, { trusted: true }, 'program'],
    ['the same where that line was agreed to', runs, { trusted: true, always: true }, 'allow'],
    [
      'any program, which can lose and publish anything, is one question',
      { ...runs, effects: ['execute', 'destroy', 'publish'] },
      { trusted: true },
      'program',
    ],
    ['a statement that writes', { effects: ['write'], approval: 'database', grant: always }, {}, 'database'],
    [
      'the same for a database that was agreed to',
      { approval: 'database', grant: always },
      { always: true },
      'allow',
    ],
    ['a file that others run', protects, { trusted: true, always: true }, 'protected'],
    [
      'several at once, in one question',
      { ...executes, ...destroys, trust: 'it runs hooks', protects: protects.protects ?? [] },
      {},
      'trust+destroy+protected',
    ],
  ])('decides by the row "%s"', (_, act, known, expected) => expect(outcome(act, {}, known)).toBe(expected));
});

describe('what the settings say', () => {
  it.each<[string, Partial<Act>, Partial<Policy>, string]>([
    ['denies by rule', {}, { rules: [rule('git_*', 'deny')] }, 'deny'],
    ['asks by rule', {}, { rules: [rule('git_*', 'ask')] }, 'rule'],
    ['allows by rule what would be asked', destroys, { rules: [rule('git_push', 'allow')] }, 'allow'],
    ['a rule about the act is for any tool', runs, { rules: [rule('run(npm *)', 'allow')] }, 'allow'],
    ['one about another act is none', runs, { rules: [rule('run(git *)', 'allow')] }, 'trust+program'],
    [
      'takes the strictest of rules, in any order',
      destroys,
      { rules: [rule('git_push', 'allow'), rule('git_*', 'ask')] },
      'rule',
    ],
    [
      'takes denial over all',
      {},
      { rules: [rule('git_push', 'allow'), rule('*', 'ask'), rule('*_push', 'deny')] },
      'deny',
    ],
    [
      'a rule for a tool opens no protected file',
      protects,
      { rules: [rule('write_file', 'allow')] },
      'protected',
    ],
    ['one about that path does', protects, { rules: [rule('write(.envrc)', 'allow')] }, 'allow'],
    [
      'one about that path does beside one for the tool',
      protects,
      { rules: [rule('write_file', 'allow'), rule('write(.envrc)', 'allow')] },
      'allow',
    ],
    [
      'one about that path, and nothing else',
      { ...protects, ...runs },
      { rules: [rule('write(.envrc)', 'allow')] },
      'trust+program',
    ],
    ['one about another path does not', protects, { rules: [rule('write(.git/**)', 'allow')] }, 'protected'],
    [
      'one that denies reading does not deny its tool',
      protects,
      { rules: [rule('read(x)', 'deny')] },
      'protected',
    ],
    ['is read-only above everything', protects, { readOnly: true, rules: [rule('*', 'allow')] }, 'deny'],
    ['reads and asks others when read-only', { effects: ['read', 'network'] }, { readOnly: true }, 'allow'],
    ['leaves toolsets out', {}, { toolsets: ['npm'] }, 'deny'],
    ['and none of its own', { toolset: undefined }, { toolsets: [] }, 'allow'],
  ])('decides by the row "%s"', (_, act, policy, expected) => expect(outcome(act, policy)).toBe(expected));
});

describe('where we ask nobody', () => {
  const looks: Partial<Act> = { trust: 'its configuration is unusual' };
  it.each<[string, Partial<Act>, Partial<Policy>, [host: string, none: string]]>([
    ['what is not asked about', {}, {}, ['allow', 'allow']],
    ['what is', runs, {}, ['unasked', 'unasked']],
    ['what needs trust', executes, {}, ['unasked', 'unasked']],
    // The question of a host says too little of what cannot be taken back.
    ['what would lose work', destroys, {}, ['deny', 'unasked']],
    ['what others see', { effects: ['publish'] }, {}, ['deny', 'unasked']],
    ['a file that others run', protects, {}, ['deny', 'unasked']],
    ['a statement that writes', { effects: ['write'], approval: 'database' }, {}, ['deny', 'unasked']],
    ['a push that a rule allows', destroys, { rules: [rule('git_push', 'allow')] }, ['allow', 'allow']],
    // The host does not ask about what the annotations call read-only.
    ['what only looks, and needs trust', looks, {}, ['deny', 'deny']],
    ['a rule that asks', { effects: ['write'] }, { rules: [rule('git_*', 'ask')] }, ['deny', 'deny']],
    ['a rule that denies', runs, { rules: [rule('run(npm *)', 'deny')] }, ['deny', 'deny']],
    ['what is read-only', runs, { readOnly: true }, ['deny', 'deny']],
  ])('decides by the row "%s"', (_, act, policy, expected) => {
    const outcomes = (['host', 'none'] as const).map((questions) => outcome(act, { ...policy, questions }));
    expect(outcomes).toEqual(expected);
  });
});

describe('where the settings of a project cannot be read', () => {
  const unreadable = '/w/.toolcrib.json:1: it does not parse';
  it.each<[string, Partial<Act>, Partial<Policy>, string]>([
    ['reading goes on', {}, {}, 'allow'],
    ['writing goes on', { effects: ['write'] }, {}, 'allow'],
    ['a person can mend it', protects, {}, 'protected'],
    ['nothing runs that would be asked about', executes, {}, 'deny'],
    ['nor where nobody is asked', runs, { questions: 'none' }, 'deny'],
    ['what the operator allows goes on', executes, { rules: [rule('*', 'allow')] }, 'allow'],
  ])('decides by the row "%s"', (_, act, policy, expected) =>
    expect(outcome(act, { ...policy, unreadable })).toBe(expected),
  );
});

describe('patterns of rules', () => {
  it.each([
    ['git_push', { tools: ['git_push'] }, true],
    ['git_push', { tools: ['git_push_all'] }, false],
    ['git_push', { tools: ['run_action', 'git_push'] }, true],
    ['*', { tools: ['anything'] }, true],
    ['run(npm test*)', { tools: ['npm_test'], subject: 'npm test --watch' }, true],
    ['npm_*(npm test*)', { tools: ['npm_test'], subject: 'npm test' }, true],
    ['npm_*(npm test*)', { tools: ['run'], subject: 'npm test' }, false],
    ['run(npm test*)', { tools: ['run'], subject: 'npx npm test' }, false],
    ['run(*rm*)', { tools: ['run'], subject: 'git rm x' }, true],
    ['run(a*b*a)', { tools: ['run'], subject: 'aba' }, true],
    ['run(a.c)', { tools: ['run'], subject: 'abc' }, false],
    ['write(.envrc)', { tools: ['write_file'], protects: [{ path: '/w/.envrc' }] }, true],
    [
      'write(.envrc)',
      { tools: ['move_path'], protects: [{ path: '/w/.envrc' }, { path: '/w/.npmrc' }] },
      false,
    ],
    ['write(.envrc)', { tools: ['write_file'], subject: '.envrc' }, false],
  ])('%s, for %j: %s', (pattern, matched, expected) => {
    expect(ruleProblem(pattern, 'allow')).toBeUndefined();
    expect(fits(pattern, { subject: '', ...matched })).toBe(expected);
  });

  const odd = '|git push|Git_push|git_push(|git_push()|a(b)c|a(b\nc)|(x)'.split('|');
  it.each([...odd, 'x'.repeat(501)])('refuses the pattern %j', (pattern) =>
    expect(ruleProblem(pattern, 'deny')).toBeDefined(),
  );

  it('lets a rule about reading files only deny', () => {
    expect(ruleProblem('read(**/.env)', 'deny')).toBeUndefined();
    for (const decision of ['allow', 'ask'] as const)
      expect(ruleProblem('read(**/.env)', decision)).toContain('can only deny');
    expect(ruleProblem('write(src/**)', 'ask')).toContain('can deny, or allow');
  });

  it.each([
    ['**/.env', '/w/app/.env', true],
    ['.env', '/w/app/.env', true],
    ['.env', '/w/app/.env.example', false],
    ['.env*', '/w/app/.env.example', true],
    ['src/**', '/w/app/src/a/b.ts', true],
    ['src/**', '/w/app/lib/b.ts', false],
    ['src/*.ts', '/w/app/src/a/b.ts', false],
    ['/w/app/*', '/w/app/a', true],
    ['/app/*', '/w/app/a', false],
    ['a/**/b', 'a/b', true],
  ])('the glob %s, for %s: %s', (glob, path, expected) => expect(matchesPath(glob, path)).toBe(expected));
});

const tools = ['git_push', 'git_status', 'npm_test', 'run'];
const anyRule = fc.record({
  pattern: fc.constantFrom(
    '*',
    'git_*',
    ...tools,
    'run(npm *)',
    'npm_*(*)',
    '*_test',
    'write(.envrc)',
    'write(**)',
  ),
  decision: fc.constantFrom(...decisions),
  setting: fc.constant('a rule'),
});
const maybe = <V>(value: fc.Arbitrary<V>) => fc.option(value, { nil: undefined });
const anySettings: fc.Arbitrary<Settings> = fc.record({
  roots: fc.constant([]),
  budgets: fc.constant(usualBudgets),
  databases: fc.constant({}),
  path: fc.constant([]),
  programs: fc.constant({}),
  folders: fc.constant({}),
  readOnly: fc.boolean(),
  toolsets: maybe(fc.subarray(['git', 'npm', 'files'])),
  rules: fc.array(anyRule, { maxLength: 4 }),
  questions: fc.constantFrom(...questionModes),
  checkpoints: maybe(fc.boolean()),
});
const anyBudget = fc.constantFrom(...(Object.keys(usualBudgets) as (keyof typeof usualBudgets)[]));
const anyProject: fc.Arbitrary<ProjectConfig> = fc.record(
  {
    file: fc.constant('/w/.toolcrib.json'),
    readOnly: fc.boolean(),
    toolsets: fc.subarray(['git', 'npm', 'docker']),
    rules: fc.array(anyRule, { maxLength: 4 }),
    questions: fc.constantFrom(...questionModes),
    checkpoints: fc.boolean(),
    budgets: fc.dictionary(anyBudget, fc.integer({ min: 1, max: 3600 })),
  },
  { requiredKeys: ['file'] },
);
const anyAct: fc.Arbitrary<Act> = fc
  .record({
    tools: fc.subarray(tools, { minLength: 1, maxLength: 2 }),
    toolset: fc.constantFrom('git', 'npm', 'files', undefined),
    effects: fc.subarray([...effects], { minLength: 1 }),
    subject: fc.constantFrom('npm test', 'git push --force', 'rm x'),
    trust: fc.constantFrom('it runs code', undefined),
    approval: fc.constantFrom('program' as const, 'database' as const, undefined),
    grant: fc.constantFrom(always, undefined),
    protects: fc.constantFrom([], [{ path: '/w/.envrc', effect: 'a shell runs it' }]),
    isUndoable: fc.boolean(),
    paths: fc.constant([]),
  })
  .map(({ trust, approval, grant, ...act }) => ({
    ...act,
    ...(trust !== undefined && { trust }),
    ...(approval !== undefined && { approval }),
    ...(grant !== undefined && { grant }),
  }));
const anyKnown: fc.Arbitrary<LastingAnswers> = fc.record({ trusted: fc.boolean(), always: fc.boolean() });

/** How strict a verdict is. */
function strictness(act: Act, policy: Policy, known: LastingAnswers): number {
  const verdict = decide(act, policy, known);
  if (verdict.decision !== 'allow') return verdict.decision === 'ask' ? 2 : 3;
  return verdict.unasked ? 1 : 0;
}

const many = { numRuns: 3000 };

describe('whatever the settings are', () => {
  it('one more rule that asks or denies opens nothing', () => {
    const stricter = anyRule.filter(({ decision }) => decision !== 'allow');
    fc.assert(
      fc.property(
        anyAct,
        anySettings,
        anyKnown,
        stricter,
        fc.boolean(),
        (act, settings, known, added, first) => {
          const rules = first ? [added, ...settings.rules] : [...settings.rules, added];
          expect(strictness(act, { ...settings, rules }, known)).toBeGreaterThanOrEqual(
            strictness(act, settings, known),
          );
        },
      ),
      many,
    );
  });

  it('read-only opens nothing', () => {
    fc.assert(
      fc.property(anyAct, anySettings, anyKnown, (act, settings, known) => {
        expect(strictness(act, { ...settings, readOnly: true }, known)).toBeGreaterThanOrEqual(
          strictness(act, settings, known),
        );
      }),
      many,
    );
  });

  it('trust opens only what needs it, and an "always" only what offered it', () => {
    fc.assert(
      fc.property(anyAct, anySettings, anyKnown, (act, settings, known) => {
        const before = strictness(act, settings, known);
        const trusted = strictness(act, settings, { ...known, trusted: true });
        const agreed = strictness(act, settings, { ...known, always: true });
        expect(trusted).toBeLessThanOrEqual(before);
        expect(agreed).toBeLessThanOrEqual(before);
        if (act.trust === undefined) expect(trusted).toBe(before);
        if (act.grant === undefined) expect(agreed).toBe(before);
      }),
      many,
    );
  });

  it('the file of a project opens nothing', () => {
    fc.assert(
      fc.property(anyAct, anySettings, anyKnown, anyProject, (act, settings, known, project) => {
        const narrowed = narrow(settings, project);
        expect(strictness(act, narrowed, known)).toBeGreaterThanOrEqual(strictness(act, settings, known));
        const { roots, databases, folders, questions, checkpoints } = settings;
        expect(narrowed).toMatchObject({ roots, databases, folders, questions });
        expect(narrowed.checkpoints).toBe(checkpoints);
        expect(narrowed.readOnly).toBe(settings.readOnly || project.readOnly === true);
        for (const [name, value] of Object.entries(settings.budgets))
          expect(narrowed.budgets[name as keyof typeof usualBudgets]).toBeLessThanOrEqual(value);
        for (const name of narrowed.toolsets ?? []) expect(settings.toolsets ?? [name]).toContain(name);
        if (project.toolsets) expect(narrowed.toolsets).toBeDefined();
        expect(narrow(narrowed, project).budgets).toEqual(narrowed.budgets);
      }),
      many,
    );
  });
});
