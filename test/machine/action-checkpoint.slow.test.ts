import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineDiscoverer, type Effect } from '../../src/core/discoverer.ts';
import { path, text } from '../../src/core/params.ts';
import { actionTool } from '../../src/machine/actions/action-tool.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';
import { failureOf, textOf } from '../filesystem/folder.ts';
import { temporaryFolder } from '../support/repository.ts';
import { callContext, planAndRun } from '../support/call-context.ts';
import { thisHost } from '../../src/machine/host.ts';

const { run } = createProcesses(process.platform === 'win32' ? 'win32' : 'linux');

/** A tool that runs JavaScript with these effects, and a checkpoint that notes what it saw. */
async function toolWith(
  effects: Effect[],
  {
    said = 'checkpoint c_1',
    parse = false,
    takenBack = false,
    isReady = true,
    isComplete = true,
  }: {
    said?: string | null;
    parse?: boolean;
    takenBack?: boolean;
    isReady?: boolean;
    isComplete?: boolean;
  } = {},
) {
  const folder = temporaryFolder();
  const discoverer = defineDiscoverer({
    id: 'js',
    title: 'JavaScript',
    category: 'other',
    homepage: 'https://example.org',
    programs: ['node'],
    local: { posix: ['own/node'], win32: ['own/node.exe'] },
    install: {},
    actions: {
      run: {
        title: 'Run',
        description: 'Runs JavaScript.',
        effects,
        takenBack,
        params: { code: text('Code'), file: path('A file').optional() },
        argv: ['--eval', { param: 'code' }],
        example: { given: { code: '1' }, runs: 'node --eval 1' },
        ...(parse
          ? { result: z.object({ out: z.string() }), parse: (out: string) => ({ out: out.trim() }) }
          : {}),
      },
    },
  });
  const taken: { folder: string; ran: boolean }[] = [];
  const tool = actionTool(discoverer, 'run', discoverer.actions.run, {
    run,
    installation: {
      id: 'js',
      program: process.execPath,
      leading: [],
      source: 'PATH',
      others: [],
    },
    childEnvironment: () => ({ PATH: process.env['PATH'] ?? '' }),
    databases: { host: thisHost(), profiles: {}, which: () => Promise.resolve(undefined) },
    checkpoint: {
      take(at) {
        taken.push({ folder: at, ran: existsSync(join(folder, 'ran')) });
        return Promise.resolve(said === null ? undefined : { note: said, isComplete });
      },
      isReady: () => Promise.resolve(isReady),
    },
  });
  const context = await callContext([folder]);
  const plan = (given: object) => tool.plan(tool.params.parse(given), context);
  const call = (given: object) => planAndRun(tool, given, context);
  return { folder, taken, plan, call };
}

const leavesMark = `require('node:fs').writeFileSync('ran', 'x'); console.log('done')`;

it.each([[['execute']], [['destroy']], [['write', 'destroy']]] as [Effect[]][])(
  'keeps the state of the folder before a program with the effects %j starts, and says so',
  async (effects) => {
    const { folder, taken, call } = await toolWith(effects);
    const result = await call({ code: leavesMark });
    expect(textOf(result)).toBe('done\n[checkpoint c_1]');
    expect(taken).toEqual([{ folder, ran: false }]);
    expect(readFileSync(join(folder, 'ran'), 'utf8')).toBe('x');
  },
);

it.each([[['read']], [['write']], [['network']]] as [Effect[]][])(
  'keeps nothing before one with %j',
  async (effects) => {
    const { taken, call } = await toolWith(effects);
    expect(textOf(await call({ code: leavesMark }))).toBe('done');
    expect(taken).toEqual([]);
  },
);

it('takes the program of the project, and says so', async () => {
  const { folder, call } = await toolWith(['execute']);
  mkdirSync(join(folder, 'own'));
  const copy = join(folder, 'own', process.platform === 'win32' ? 'node.exe' : 'node');
  symlinkSync(process.execPath, copy);
  expect(textOf(await call({ code: 'console.log(1)' }))).toBe(`1\n[ran ${copy}]\n[checkpoint c_1]`);
});

describe('what undo would bring back', () => {
  const given = { code: leavesMark, file: 'a.txt' };

  it('is not done when its state could not be kept', async () => {
    const { folder, plan, call } = await toolWith(['destroy'], { takenBack: true, isComplete: false });
    expect((await plan(given)).takenBack).toBe(true);
    expect(await failureOf(call(given))).toMatch(/^WRITE_FAILED: Nothing was done: .*\(checkpoint c_1\)/);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it('is done when it was', async () => {
    const { call } = await toolWith(['destroy'], { takenBack: true });
    expect(textOf(await call(given))).toBe('done\n[checkpoint c_1]');
  });

  it.each([
    ['no state can be kept', { isReady: false }, given],
    ['a file is concerned that others run', {}, { ...given, file: '.git/hooks/pre-commit' }],
    ['a folder is concerned, of which not all may be kept', {}, { ...given, file: 'folder' }],
    ['it does not say which files it loses', {}, { code: leavesMark }],
  ])('does not count as that when %s', async (_, more, call) => {
    const { folder, plan } = await toolWith(['destroy'], { takenBack: true, ...more });
    mkdirSync(join(folder, 'folder'));
    writeFileSync(join(folder, 'a.txt'), 'a');
    expect((await plan(call)).takenBack).toBe(false);
  });
});

it('keeps nothing for a call that is refused', async () => {
  const { taken, call } = await toolWith(['execute']);
  expect(await failureOf(call({ code: leavesMark, file: '/etc/passwd' }))).toMatch(/^PATH_OUTSIDE_ROOTS/);
  expect(await failureOf(call({ code: '--version' }))).toMatch(/^ARG_FLAG/);
  expect(taken).toEqual([]);
});

it('says so also when the program fails, and beside data', async () => {
  const failing = await toolWith(['execute']);
  const result = await failing.call({ code: 'process.exit(3)' });
  expect(result.isError).toBe(true);
  expect(textOf(result)).toContain('[checkpoint c_1]');
  const parsing = await toolWith(['execute'], { said: 'checkpoint c_2', parse: true });
  expect((await parsing.call({ code: 'console.log(1)' })).data).toEqual({
    out: '1',
    notes: ['checkpoint c_2'],
  });
});

it('says nothing where there is nothing to keep', async () => {
  const { call } = await toolWith(['execute'], { said: null });
  expect(textOf(await call({ code: 'console.log(1)' }))).toBe('1');
});
