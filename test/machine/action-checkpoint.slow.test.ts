import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { defineDiscoverer, type Effect } from '../../src/core/discoverer.ts';
import { path, text } from '../../src/core/params.ts';
import type { PermitRequest } from '../../src/core/tool.ts';
import { actionTool } from '../../src/machine/actions/action-tool.ts';
import { createProcesses } from '../../src/machine/processes/process.ts';
import { failureOf, textOf } from '../filesystem/folder.ts';
import { temporaryFolder } from '../support/repository.ts';
import { callContext } from '../support/call-context.ts';
import { thisHost } from '../../src/machine/host.ts';

const { run } = createProcesses(process.platform === 'win32' ? 'win32' : 'linux');

/** A tool that runs JavaScript with these effects, and a checkpoint that notes what it saw. */
async function toolWith(
  effects: Effect[],
  {
    said = 'checkpoint c_1',
    parse = false,
    shim,
    looks = false,
  }: { said?: string | null; parse?: boolean; shim?: string; looks?: boolean } = {},
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
        ...(looks && { withoutLocal: { effects: ['read'], settings: { LOOKS: 'yes' } } }),
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
      ...(shim !== undefined && { shim }),
    },
    childEnvironment: () => ({ PATH: process.env['PATH'] ?? '' }),
    databases: { host: thisHost(), profiles: {}, which: () => Promise.resolve(undefined) },
    checkpoint: (at) => {
      taken.push({ folder: at, ran: existsSync(join(folder, 'ran')) });
      return Promise.resolve(said ?? undefined);
    },
  });
  const asked: (readonly Effect[])[] = [];
  const permit = (request: PermitRequest) => Promise.resolve(void asked.push(request.effects));
  const usual = await callContext([folder]);
  const context = looks ? { ...usual, permit } : usual;
  const call = (given: object) => tool.call(given, context);
  return { folder, taken, asked, call };
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

it('takes the program of the machine for one that looks, but no shim and no program of the project', async () => {
  const code = 'console.log(process.env.LOOKS)';
  const own = await toolWith(['read', 'execute'], { looks: true });
  expect(textOf(await own.call({ code }))).toBe('yes');
  expect([own.taken, own.asked]).toEqual([[], [['read']]]);

  const shim = await toolWith(['read', 'execute'], { looks: true, shim: 'pyenv' });
  expect(textOf(await shim.call({ code }))).toBe('undefined\n[checkpoint c_1]');
  expect(shim.asked[0]).toEqual(['read', 'execute']);

  mkdirSync(join(own.folder, 'own'));
  const copy = join(own.folder, 'own', process.platform === 'win32' ? 'node.exe' : 'node');
  symlinkSync(process.execPath, copy);
  expect(textOf(await own.call({ code }))).toBe(`undefined\n[ran ${copy}]\n[checkpoint c_1]`);
  expect(own.asked[1]).toEqual(['read', 'execute']);
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
