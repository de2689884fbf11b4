import { execFile } from 'node:child_process';
import { readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { decide, whyTable } from '../../../src/repl/approval/decide.ts';
import { parseRule } from '../../../src/repl/approval/rule-text.ts';
import { addRule, readRules, ruleFor } from '../../../src/repl/approval/rules.ts';
import { temporaryFolder } from '../../support/repository.ts';
import { aRule, aTool } from './a-tool.ts';

describe('a rule as text', () => {
  it.each([
    ['git_*', { server: '*', tool: 'git_*' }],
    ['git:git_push', { server: 'git', tool: 'git_push' }],
    ['*:delete_*', { server: '*', tool: 'delete_*' }],
    ['run_command(command=npm test*)', { server: '*', tool: 'run_command', args: { command: 'npm test*' } }],
    [
      'fs:write(path=/a, b/*, mode=x=y)',
      { server: 'fs', tool: 'write', args: { path: '/a, b/*', mode: 'x=y' } },
    ],
    [
      'web:get(url=https://a.example/*)',
      { server: 'web', tool: 'get', args: { url: 'https://a.example/*' } },
    ],
    ['npx vitest *', { server: 'toolcrib', tool: '*', act: 'npx vitest *' }],
    ['run(make)', { server: 'toolcrib', tool: '*', act: 'make' }],
  ])('%s', (text, rule) => {
    expect(parseRule(text, 'deny', 'flag')).toEqual({ effect: 'deny', source: 'flag', ...rule });
  });

  it.each(['', 'git:', 'a:b:c', 'tool(', 'tool()', 'tool(x)', 'tool(=x)'])(
    'refuses %j and says how it is written',
    (text) => {
      expect(() => parseRule(text, 'allow', 'flag')).toThrow(
        expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('server:tool') }),
      );
    },
  );

  it.each(['execute', 'destroy', 'read'])('refuses the effect %s and says what comes instead', (text) => {
    expect(() => parseRule(text, 'allow', 'flag')).toThrow(
      expect.objectContaining({ code: 'USAGE', message: expect.stringContaining('npm test*') }),
    );
  });
});

describe('kept rules', () => {
  it('are private, and hold where they were made', () => {
    const folder = join(temporaryFolder(), 'config');
    addRule(folder, aRule('allow', { tool: 'a' }));
    addRule(folder, aRule('allow', { tool: 'b', project: '/p', source: 'project' }));
    expect(readRules(folder, '/p')).toEqual([
      aRule('allow', { tool: 'a' }),
      aRule('allow', { tool: 'b', project: '/p', source: 'project' }),
    ]);
    expect(readRules(folder, '/q')).toHaveLength(1);
    expect(statSync(join(folder, 'approvals.json')).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(JSON.parse(readFileSync(join(folder, 'approvals.json'), 'utf8')).version).toBe(1);
  });

  it('replace those that said the same of an older definition', () => {
    const folder = temporaryFolder();
    addRule(folder, aRule('allow', { tool: 'a', definition: 'old' }));
    addRule(folder, aRule('allow', { tool: 'a', definition: 'new' }));
    expect(readRules(folder, '/p').map(({ definition }) => definition)).toEqual(['new']);
  });

  it('survive several processes that add some at once', async () => {
    const folder = temporaryFolder();
    const { build } = await import('esbuild');
    const program = join(folder, 'add.mjs');
    await build({
      stdin: {
        contents: `import { addRule } from ${JSON.stringify(resolve('src/repl/approval/rules.ts'))};
          for (let n = 0; n < 10; n++) addRule(process.argv[2], { effect: 'deny', server: '*', tool: process.argv[3] + n, source: 'user' });`,
        resolveDir: resolve('.'),
      },
      bundle: true,
      platform: 'node',
      format: 'esm',
      outfile: program,
    });
    const add = (name: string) => promisify(execFile)(process.execPath, [program, folder, name]);
    await Promise.all(['a', 'b', 'c', 'd'].map(add));
    expect(new Set(readRules(folder, '/p').map(({ tool }) => tool)).size).toBe(40);
  });

  it.each([
    '{',
    '[]',
    '{"version":2,"rules":[]}',
    '{"version":1,"rules":[{"effect":"permit","server":"*","tool":"*"}]}',
    '{"version":1,"rules":[{"effect":"allow","server":"*"}]}',
    '{"version":1,"rules":[{"effect":"allow","server":"*","tool":"*","definitions":"*"}]}',
    '',
  ])('are never silently lost: %j is refused, and left as it is', (text) => {
    const folder = temporaryFolder();
    const path = join(folder, 'approvals.json');
    writeFileSync(path, text, { mode: 0o600 });
    const refusal = expect.objectContaining({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(path),
    });
    expect(() => readRules(folder, '/p')).toThrow(refusal);
    expect(() => addRule(folder, aRule('allow'))).toThrow(refusal);
    expect(readFileSync(path, 'utf8')).toBe(text);
  });

  it('are not read through a link', () => {
    const folder = temporaryFolder();
    const other = join(folder, 'other.json');
    writeFileSync(other, '{"version":1,"rules":[]}', { mode: 0o600 });
    symlinkSync(other, join(folder, 'approvals.json'));
    expect(() => readRules(folder, '/p')).toThrow('symbolic link');
  });
});

describe('the rule an answer stands for', () => {
  const tool = aTool();
  const other = aTool({ tool: 'git_log', name: 'mcp__git__git_log', definition: 'definition-2' });
  const context = { mode: 'ask' as const, tools: [tool, other, aTool({ server: 'x' })], project: '/p' };
  const allows = (rule: ReturnType<typeof ruleFor>, called = tool) =>
    decide({ tool: called, args: {} }, { mode: 'ask', rules: [rule], interactive: true }).effect;

  it('is for this session, for this tool, or for the tools its server has now', () => {
    const session = ruleFor('session', { tool, args: {} }, context);
    const always = ruleFor('tool', { tool, args: {} }, context);
    const server = ruleFor('server', { tool, args: {} }, context);
    expect([session.source, always.source, server.source]).toEqual(['session', 'project', 'project']);
    expect([session, always, server].map((rule) => allows(rule))).toEqual(['allow', 'allow', 'allow']);
    expect([session, always, server].map((rule) => allows(rule, other))).toEqual(['ask', 'ask', 'allow']);
  });

  it('is void when the tool or the server is no longer the one it was made for', () => {
    const rules = (['session', 'tool', 'server'] as const).map((answer) =>
      ruleFor(answer, { tool, args: {} }, context),
    );
    for (const rule of rules) {
      expect(allows(rule, aTool({ definition: 'changed' }))).toBe('ask');
      expect(allows(rule, aTool({ identity: 'changed' }))).toBe('ask');
    }
  });

  it('keeps through a file', () => {
    const folder = temporaryFolder();
    const rule = ruleFor('server', { tool, args: {} }, context);
    addRule(folder, rule);
    expect(readRules(folder, '/p')).toEqual([rule]);
  });
});

it('tells for each tool what would be done with it, and why', () => {
  const rules = [aRule('deny', { tool: 'git_push', args: { force: 'true' } })];
  const tools = [aTool(), aTool({ tool: 'git_log', annotations: { readOnlyHint: true } })];
  expect(whyTable(tools, { mode: 'ask', rules, interactive: true })).toEqual([
    'ask    git:git_push  mode ask: nothing says that it only reads; rule: deny git_push(force=true)',
    'allow  git:git_log   readOnlyHint of a trusted server',
  ]);
  const own = aTool({ plans: true });
  const why = whyTable([own], {
    mode: 'ask',
    rules: [aRule('deny', { act: 'git push*' })],
    interactive: true,
  });
  expect(why).toEqual(['plan   git:git_push  as its server plans each call; rule: deny run(git push*)']);
});
