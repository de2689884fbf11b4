import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { effects } from '../../src/core/discoverer.ts';
import { narrow, withoutEffect, type ProjectConfig } from '../../src/core/narrow.ts';
import {
  askReasons,
  decide,
  decisions,
  fits,
  type AskReason,
  type Policy,
  type Rule,
  type Subject,
} from '../../src/core/policy.ts';
import { patternProblem, unknownTool } from '../../src/core/rule-pattern.ts';
import { usualBudgets, usualSettings, type Settings } from '../../src/core/settings.ts';

const rule = (pattern: string, decision: Rule['decision']): Rule => ({
  pattern,
  decision,
  setting: `rules "${pattern}"`,
});

/** What comes of a call, as one word; asking names its reason. */
function outcome(subject: Partial<Subject>, policy: Partial<Policy> = {}): string {
  const verdict = decide(
    { tool: 'git_push', effects: ['read'], trusted: false, ...subject },
    { ...usualSettings, ...policy },
  );
  return verdict.decision === 'ask' ? verdict.because : verdict.decision;
}

describe('decide', () => {
  const executes: Partial<Subject> = { tool: 'npm_test', effects: ['execute'] };
  const destroys: Partial<Subject> = { effects: ['destroy', 'network'] };
  const runs: Partial<Subject> = {
    tool: 'run_command',
    command: 'npm test',
    effects: ['execute'],
    asks: 'command',
    trusted: true,
  };

  it.each<[string, Partial<Subject>, Partial<Policy>, string]>([
    ['lets reading happen', {}, {}, 'allow'],
    ['lets writing happen', { effects: ['write'] }, {}, 'allow'],
    ['asks about what loses work', destroys, {}, 'destroy'],
    ['does not when the operator has said so', destroys, { effects: { destroy: 'allow' } }, 'allow'],
    ['asks about code of a project nobody trusts', executes, {}, 'execute'],
    ['does not once it is trusted', { ...executes, trusted: true }, {}, 'allow'],
    ['does not when all such code is allowed', executes, { effects: { execute: 'allow' } }, 'allow'],
    ['asks about commands in trusted projects, too', runs, {}, 'command'],
    ['and when their effects are allowed', runs, { effects: { execute: 'allow' } }, 'command'],
    ['unless a rule is about them', runs, { rules: [rule('run_command(npm *)', 'allow')] }, 'allow'],
    ['a rule for another command is none', runs, { rules: [rule('run_command(git *)', 'allow')] }, 'command'],
    ['denies an effect', destroys, { effects: { network: 'deny' } }, 'deny'],
    ['denies by rule', {}, { rules: [rule('git_*', 'deny')] }, 'deny'],
    ['asks by rule', {}, { rules: [rule('git_*', 'ask')] }, 'rule'],
    ['asks about an effect', { effects: ['write'] }, { effects: { write: 'ask' } }, 'rule'],
    [
      'takes the strictest of rules, in any order',
      {},
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
      'lets no rule open an effect that is asked about',
      destroys,
      { effects: { destroy: 'ask' }, rules: [rule('git_push', 'allow')] },
      'destroy',
    ],
    [
      'lets no rule open an effect that is denied',
      destroys,
      { effects: { destroy: 'deny' }, rules: [rule('git_push', 'allow')] },
      'deny',
    ],
    [
      'is read-only above everything',
      { effects: ['write'] },
      { readOnly: true, effects: { write: 'allow' }, rules: [rule('*', 'allow')] },
      'deny',
    ],
    ['reads and asks others when read-only', { effects: ['read', 'network'] }, { readOnly: true }, 'allow'],
    [
      'keeps a question that nobody may answer above one that is answered by a setting',
      destroys,
      { rules: [rule('git_push', 'ask')], whenUnasked: { rule: 'allow' } },
      'destroy',
    ],
  ])('%s', (_, subject, policy, expected) => {
    expect(outcome(subject, policy)).toBe(expected);
  });

  it('names the setting that decided', () => {
    const subject: Subject = { tool: 'git_push', effects: ['write', 'network'], trusted: true };
    const settingOf = (policy: Partial<Policy>) => {
      const verdict = decide(subject, { ...usualSettings, ...policy });
      return 'setting' in verdict ? verdict.setting : undefined;
    };
    expect(settingOf({ rules: [rule('git_*', 'deny')] })).toBe('rules "git_*"');
    expect(settingOf({ rules: [rule('git_*', 'ask')] })).toBe('rules "git_*"');
    expect(settingOf({ effects: { network: 'ask' } })).toBe('effects.network');
    expect(settingOf({ effects: { network: 'deny' } })).toBe('effects.network is "deny"');
    expect(settingOf({ readOnly: true })).toContain('--read-only');
    const project = { file: '/w/.toolcrib.json', readOnly: true, effects: { network: 'deny' } } as const;
    expect(settingOf(narrow(usualSettings, project))).toContain('of /w/.toolcrib.json');
    expect(settingOf(narrow(usualSettings, { ...project, readOnly: false }))).toBe(
      'effects.network is "deny" in /w/.toolcrib.json',
    );
  });
});

describe('patterns of rules', () => {
  it.each([
    ['git_push', { tool: 'git_push' }, true],
    ['git_push', { tool: 'git_push_all' }, false],
    ['git_*', { tool: 'git_push' }, true],
    ['*', { tool: 'anything' }, true],
    ['run_command(npm test*)', { tool: 'run_command', command: 'npm test --watch' }, true],
    ['run_command(npm test*)', { tool: 'run_command', command: 'npx npm test' }, false],
    ['run_command(npm test*)', { tool: 'run_command' }, false],
    ['run_*(*rm*)', { tool: 'run_command', command: 'git rm x' }, true],
    ['run_command(a*b*a)', { tool: 'run_command', command: 'aba' }, true],
    ['run_command(a*a)', { tool: 'run_command', command: 'a' }, false],
    ['run_command(a.c)', { tool: 'run_command', command: 'abc' }, false],
  ])('%s, for %j: %s', (pattern, subject, expected) => {
    expect(patternProblem(pattern)).toBeUndefined();
    expect(fits(pattern, subject)).toBe(expected);
  });

  it.each([
    '',
    'git push',
    'Git_push',
    'git_push(',
    'git_push()',
    'a(b)c',
    'a(b\nc)',
    '(x)',
    'x'.repeat(501),
  ])('refuses %j', (pattern) => expect(patternProblem(pattern)).toBeDefined());

  it('tells what was probably meant', () => {
    const tools = { tools: ['git_push', 'git_status', 'run_command', 'npm_test'], withoutLine: [] };
    expect(unknownTool('git_psuh', tools)).toContain('did you mean git_push?');
    expect(unknownTool('run_comand(npm *)', tools)).toContain('did you mean run_command(npm *)?');
    expect(unknownTool('gti_*', tools)).toContain('did you mean git_*?');
    expect(unknownTool('zzzzzz', tools)).toContain('toolcrib call');
    for (const known of ['git_push', 'git_*', '*', '*_test', 'run_command(x)'])
      expect(unknownTool(known, tools)).toBeUndefined();
  });

  it('refuses a command line for a tool that has none, since the rule would never fit', () => {
    const tools = { tools: ['git_file', 'read_file', 'run_command'], withoutLine: ['read_file'] };
    for (const pattern of ['read_file(*secret*)', 'read_*(*)', '*_file(x)', '*(*)'])
      expect(unknownTool(pattern, tools), pattern).toMatch(/^read_file has no command line/);
    for (const pattern of ['git_*(*)', 'run_command(rm *)', 'read_file', '*'])
      expect(unknownTool(pattern, tools), pattern).toBeUndefined();
  });

  it('needs no time that grows faster than the text, whatever the pattern is', () => {
    const startedAt = performance.now();
    fits(`run_command(${'*a'.repeat(200)}b)`, { tool: 'run_command', command: 'a'.repeat(100_000) });
    expect(performance.now() - startedAt).toBeLessThan(500);
  });
});

const tools = ['git_push', 'git_status', 'npm_test', 'run_command'];
const commands = ['npm test', 'git push --force', 'rm x'];
const anyRule = fc.record({
  pattern: fc.constantFrom('*', 'git_*', ...tools, 'run_command(npm *)', 'run_command(*)', '*_test'),
  decision: fc.constantFrom(...decisions),
  setting: fc.constant('a rule'),
});
const some = <K extends string, V>(keys: readonly K[], value: fc.Arbitrary<V>) =>
  fc.dictionary(fc.constantFrom(...keys), value) as fc.Arbitrary<Partial<Record<K, V>>>;
const answers = some(askReasons, fc.constantFrom('allow' as const, 'deny' as const));
const anySettings: fc.Arbitrary<Settings> = fc.record({
  ...(Object.fromEntries(
    Object.entries(usualSettings).map(([name, value]) => [name, fc.constant(value)]),
  ) as { [name in keyof Required<Settings>]: fc.Arbitrary<never> }),
  readOnly: fc.boolean(),
  toolsets: fc.option(fc.subarray(['git', 'npm', 'files']), { nil: undefined }),
  effects: some(effects, fc.constantFrom(...decisions)),
  rules: fc.array(anyRule, { maxLength: 4 }),
  whenUnasked: answers,
  scripts: fc.option(fc.boolean(), { nil: undefined }),
  checkpoints: fc.option(fc.boolean(), { nil: undefined }),
});
const anyProject: fc.Arbitrary<ProjectConfig> = fc.record(
  {
    file: fc.constant('/w/.toolcrib.json'),
    readOnly: fc.boolean(),
    toolsets: fc.subarray(['git', 'npm', 'docker']),
    effects: some(effects, fc.constantFrom(...decisions)),
    rules: fc.array(anyRule, { maxLength: 4 }),
    whenUnasked: answers,
    scripts: fc.boolean(),
    checkpoints: fc.boolean(),
    budgets: some(
      Object.keys(usualBudgets) as (keyof typeof usualBudgets)[],
      fc.integer({ min: 1, max: 3600 }),
    ),
  },
  { requiredKeys: ['file'] },
);
const anySubject: fc.Arbitrary<Subject> = fc.record({
  tool: fc.constantFrom(...tools),
  effects: fc.subarray([...effects], { minLength: 1 }),
  command: fc.option(fc.constantFrom(...commands), { nil: undefined }),
  asks: fc.option(fc.constantFrom<AskReason>('command', 'protected', 'script'), { nil: undefined }),
  trusted: fc.boolean(),
});

/** How strict a verdict is, with what happens where nobody can be asked. */
function strictness(subject: Subject, policy: Policy): number {
  const verdict = decide(subject, policy);
  if (verdict.decision === 'allow') return 0;
  if (verdict.decision === 'deny') return 3;
  return policy.whenUnasked[verdict.because] === 'allow' ? 1 : 2;
}

const many = { numRuns: 3000 };

describe('whatever the settings are', () => {
  it('one more rule that asks or denies opens nothing', () => {
    const stricter = anyRule.filter(({ decision }) => decision !== 'allow');
    fc.assert(
      fc.property(anySubject, anySettings, stricter, fc.boolean(), (subject, settings, added, first) => {
        const rules = first ? [added, ...settings.rules] : [...settings.rules, added];
        expect(strictness(subject, { ...settings, rules })).toBeGreaterThanOrEqual(
          strictness(subject, settings),
        );
      }),
      many,
    );
  });

  it('read-only, and an effect that is asked about or denied, open nothing', () => {
    fc.assert(
      fc.property(anySubject, anySettings, fc.constantFrom(...effects), (subject, settings, effect) => {
        const before = strictness(subject, settings);
        expect(strictness(subject, { ...settings, readOnly: true })).toBeGreaterThanOrEqual(before);
        const denied = { ...settings.effects, [effect]: 'deny' as const };
        expect(strictness(subject, { ...settings, effects: denied })).toBeGreaterThanOrEqual(before);
        if (settings.effects[effect] === 'deny') return;
        const asked = { ...settings.effects, [effect]: 'ask' as const };
        expect(strictness(subject, { ...settings, effects: asked })).toBeGreaterThanOrEqual(before);
      }),
      many,
    );
  });

  it('trust opens only what runs code, and distrust nothing', () => {
    fc.assert(
      fc.property(anySubject, anySettings, (subject, settings) => {
        const trusted = strictness({ ...subject, trusted: true }, settings);
        const untrusted = strictness({ ...subject, trusted: false }, settings);
        expect(untrusted).toBeGreaterThanOrEqual(trusted);
        if (!subject.effects.includes('execute')) expect(untrusted).toBe(trusted);
      }),
      many,
    );
  });

  it('the file of a project opens nothing', () => {
    fc.assert(
      fc.property(anySubject, anySettings, anyProject, (subject, settings, project) => {
        const narrowed = narrow(settings, project);
        expect(strictness(subject, narrowed)).toBeGreaterThanOrEqual(strictness(subject, settings));
        expect(narrowed).toMatchObject({
          roots: settings.roots,
          databases: settings.databases,
          readOnly: settings.readOnly || project.readOnly === true,
        });
        expect(narrowed.checkpoints).toBe(settings.checkpoints);
        if (!settings.scripts) expect(narrowed.scripts ?? false).toBe(false);
        for (const [name, value] of Object.entries(settings.budgets))
          expect(narrowed.budgets[name as keyof typeof usualBudgets]).toBeLessThanOrEqual(value);
        for (const name of narrowed.toolsets ?? []) expect(settings.toolsets ?? [name]).toContain(name);
        if (project.toolsets) expect(narrowed.toolsets).toBeDefined();
        for (const reason of askReasons)
          if (narrowed.whenUnasked[reason] === 'allow') expect(settings.whenUnasked[reason]).toBe('allow');
        expect(narrow(narrowed, project)).toMatchObject({
          effects: narrowed.effects,
          budgets: narrowed.budgets,
        });
      }),
      many,
    );
  });
});

it('takes from a project what is stricter, and says what had no effect', () => {
  const settings: Settings = {
    ...usualSettings,
    effects: { write: 'ask', destroy: 'allow', network: 'deny' },
    toolsets: ['git', 'files'],
    scripts: true,
  };
  const project: ProjectConfig = {
    file: '/w/.toolcrib.json',
    readOnly: false,
    effects: { write: 'allow', destroy: 'ask', network: 'ask', execute: 'deny' },
    rules: [rule('git_push', 'allow'), rule('git_*', 'ask')],
    whenUnasked: { destroy: 'allow', rule: 'deny' },
    toolsets: ['git', 'npm'],
    checkpoints: false,
    scripts: false,
    budgets: { jobs: 1000, callSeconds: 10 },
  };
  expect(narrow(settings, project)).toMatchObject({
    effects: { write: 'ask', destroy: 'ask', network: 'deny', execute: 'deny' },
    rules: [rule('git_*', 'ask')],
    whenUnasked: { rule: 'deny' },
    toolsets: ['git'],
    scripts: false,
    budgets: { ...usualBudgets, callSeconds: 10 },
    origins: { 'effects.destroy': '/w/.toolcrib.json', 'effects.execute': '/w/.toolcrib.json' },
  });
  expect(withoutEffect(settings, project)).toEqual([
    'readOnly: false',
    'effects.write: "allow"',
    'effects.network: "ask"',
    'rules "git_push": "allow"',
    'whenUnasked.destroy: "allow"',
    'checkpoints: false',
    'budgets.jobs: 1000 (16)',
    'toolsets: "npm"',
  ]);
  expect(withoutEffect(usualSettings, { file: project.file, readOnly: true })).toEqual([]);
});
