import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { connect, eras, inherited, program, type Era, type ServerOptions } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

async function opened(era: Era, options: ServerOptions) {
  const client = await connect(era, options);
  onTestFinished(() => client.close());
  return {
    call: async (name: string, given: Record<string, unknown> = {}) =>
      client.callTool({ name, arguments: given }),
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
  };
}

describe.each(eras)('the catalogue in %s', (era) => {
  it('finds actions with calls that work as they stand', async () => {
    const { folder } = temporaryRepository();
    const { call } = await opened(era, { roots: [folder], args: ['--expose', 'catalogue'] });
    const found = textOf(await call('find_actions', { query: 'list git commits' }));
    const line = found.split('\n').find((text) => text.includes('"git_log"')) ?? '';
    const [, tool = '', given = ''] = /^(\w+) (\{.*\}) {2}List git commits$/.exec(line) ?? [];
    expect(tool).toBe('run_read_action');
    expect(textOf(await call(tool, JSON.parse(given) as Record<string, unknown>))).toMatch(
      /^1 commit\n\w+ .*First commit/,
    );
  });

  it('runs read-only actions by one tool, and refuses the rest there', async () => {
    const { folder } = temporaryRepository();
    const { call } = await opened(era, { roots: [folder] });
    const looked = await call('run_read_action', { action: 'git_blame', arguments: { path: 'README.md' } });
    expect(looked.isError ?? false).toBe(false);
    expect(looked.structuredContent).toBeUndefined();
    const refused = await call('run_read_action', { action: 'git_add', arguments: { paths: ['README.md'] } });
    expect(textOf(refused)).toBe('ARG_INVALID: action: git_add can change something. run_action runs it.');
  });

  it('asks about an action as about the tool itself', async () => {
    const { folder } = temporaryRepository();
    const { call } = await opened(era, { roots: [folder] });
    const result = await call('run_action', { action: 'git_add', arguments: { paths: ['README.md'] } });
    expect(textOf(result)).toMatch(/^NEEDS_CONFIRM: .* trust /);
  });

  it('obeys rules about the action, whichever tool runs it', async () => {
    const { folder } = temporaryRepository();
    const rules = ['--rule', 'git_add=deny', '--rule', 'git_*=allow'];
    const { call } = await opened(era, { roots: [folder], args: rules });
    const result = await call('run_action', { action: 'git_add', arguments: { paths: ['README.md'] } });
    expect(textOf(result)).toMatch(/^EFFECT_DENIED: .*--rule git_add=deny/);
    const branch = await call('run_action', { action: 'git_create_branch', arguments: { branch: 'fix' } });
    expect(branch.isError ?? false).toBe(false);
  });

  it('hides no tool behind another one', async () => {
    const { folder } = temporaryRepository();
    const { call } = await opened(era, { roots: [folder], args: ['--rule', 'git_log=deny'] });
    const inner = { action: 'git_log', arguments: {} };
    for (const action of ['run_read_action', 'run_action'])
      expect(textOf(await call('run_action', { action, arguments: inner }))).toMatch(
        /^ARG_INVALID: action: /,
      );
    // A built-in tool is called as itself, by its own rules.
    for (const action of ['run', 'control_job', 'read_file'])
      expect(textOf(await call('run_action', { action, arguments: inner }))).toMatch(/^ARG_INVALID: /);
    const denied = await opened(era, { roots: [folder], args: ['--rule', 'read_file=deny'] });
    const read = { action: 'read_file', arguments: { path: 'README.md' } };
    expect(textOf(await denied.call('run_action', read))).toMatch(/^EFFECT_DENIED: .*read_file=deny/);
    expect(textOf(await call('run_read_action', read))).toContain('# ');
    expect(textOf(await call('run_action', { action: 'undo' }))).toBe('Nothing to take back.');
    expect(textOf(await call('run_read_action', inner))).toMatch(/^EFFECT_DENIED: /);
    expect(textOf(await call('run_action', { ...inner, background: true }))).toMatch(/^EFFECT_DENIED: /);
  });

  it('explains what is wrong with the arguments of an action', async () => {
    const { folder } = temporaryRepository();
    const { call } = await opened(era, { roots: [folder] });
    const wrong = await call('run_read_action', { action: 'git_blame', arguments: { pth: 'README.md' } });
    expect(textOf(wrong)).toContain('pth: there is no such parameter; did you mean path?');
    const unknown = await call('run_read_action', { action: 'git_balme' });
    expect(textOf(unknown)).toMatch(/^UNKNOWN_TOOL: .*Did you mean git_blame\?.*find_actions/);
  });
});

it('answers to the names that hosts have for their own tools', async () => {
  const { folder } = temporaryRepository();
  const { call } = await opened('2025-11-25', { roots: [folder] });
  expect(textOf(await call('glob', { pattern: '*.md' }))).toContain('README.md');
  expect(
    textOf(
      await call('str_replace_based_edit_tool', { command: 'view', path: 'README.md', view_range: [1, 1] }),
    ),
  ).toContain('1\t');
  expect(textOf(await call('Read', { file_path: 'README.md' }))).toMatch(/^1\t/);
  expect(textOf(await call('Write', { file_path: 'a.txt', content: 'one' }))).toContain('Wrote a.txt');
  const edit = { file_path: 'a.txt', old_string: 'one', new_string: 'two' };
  expect(textOf(await call('replace', edit))).toContain('Edited a.txt');
  await expect(call('str_replace_based_edit_tool', { command: 'insert' })).rejects.toThrow(/find_actions/);
});

it('always answers, with a tool that runs any program', async () => {
  const { call } = await opened('2026-07-28', { roots: [temporaryFolder()] });
  expect(textOf(await call('find_actions', { query: 'sed 5p' }))).toBe(
    'No action does that. run runs any program: {"command":"sed 5p"}',
  );
  expect(textOf(await call('find_actions', { query: 'x', program: 'gti' }))).toContain('Did you mean git?');
});

it('lists the tools that every project needs, and calls the others all the same', async () => {
  const { folder } = temporaryRepository();
  writeFileSync(join(folder, 'Makefile'), 'hi:\n\techo hi\n');
  const { names, call } = await opened('2025-11-25', { roots: [folder] });
  const listed = await names();
  expect(listed).toEqual(expect.arrayContaining(['find_actions', 'git_log', 'git_switch', 'read_file']));
  expect(listed.filter((name) => /^(make|npm|pip|python|sqlite3)_|^git_blame$/.test(name))).toEqual([]);
  const unlisted = await call('sqlite3_tables', { database: 'none.db' });
  expect(textOf(unlisted)).toMatch(/^PROGRAM_FAILED: .*sqlite3/);
});

it.each([
  [['--expose', 'all'], true, true],
  [['--expose', 'catalogue'], false, false],
  [['--expose', 'all', '--read-only'], true, false],
])('lists tools as the options %j ask', async (args, reads, changes) => {
  const { folder } = temporaryRepository();
  const { names } = await opened('2026-07-28', { roots: [folder], args });
  const listed = await names();
  expect(listed.includes('sqlite3_tables')).toBe(reads);
  expect(listed.includes('git_commit')).toBe(changes);
  expect(listed).toContain('run_read_action');
});

it('lists no file tools for a host that has its own, and is called by them all the same', async () => {
  const { folder } = temporaryRepository();
  const args = ['--expose', 'no-files'];
  const client = await connect('2026-07-28', { roots: [folder], args });
  onTestFinished(() => client.close());
  const listed = (await client.listTools()).tools.map(({ name }) => name);
  expect(listed.length).toBeLessThanOrEqual(20);
  expect(listed).toEqual(expect.arrayContaining(['check', 'git_log', 'project', 'run']));
  expect(client.getInstructions()).not.toContain('read_file, list_files');
  for (const name of ['edit_file', 'grep', 'read_file', 'undo', 'write_file'])
    expect(listed).not.toContain(name);
  const read = await client.callTool({ name: 'read_file', arguments: { path: 'README.md' } });
  expect(read.isError ?? false).toBe(false);
});

it('names what is listed and why', () => {
  const { folder } = temporaryRepository();
  const args = [program, 'exposure', '--root', folder];
  const text = execFileSync(process.execPath, args, { env: inherited(), encoding: 'utf8' });
  expect(text).toMatch(/^\d+ of \d+ tools are listed: \d+ of our own, \d+ of programs\n/);
  expect(text).toMatch(/git +\d+ of \d+ listed +the project has \.git\n/);
  expect(text).toMatch(/python +\d+ by find_actions +the project shows no sign of it\n/);
});
