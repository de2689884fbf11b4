import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { saidNothing } from '../../src/machine/actions/action-result.ts';
import { actionOf, allPrograms, answersOf, anyProgramOf } from '../discoverers/programs.ts';
import { inherited, program as toolcrib, transportOf } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';
import type { ProgramTrial } from './types.ts';

// Installs programs from Debian, npm and PyPI, and makes each call of the trials with the built server:
// `npm run test:programs`, or `npm run test:programs -- -t '^ruff '`. It is no part of the two tiers.

const files = readdirSync(new URL('.', import.meta.url))
  .filter((name) => !/types|trial/.test(name))
  .map((name) => name.replace(/\.ts$/, ''));
const trials = (
  await Promise.all(
    files.map(
      async (name) => ((await import(`./${name}.ts`)) as { default: readonly ProgramTrial[] }).default,
    ),
  )
).flat();

/** Installs programs, which stay for the next time. */
const kept = process.env['PROGRAMS'] ?? join(process.cwd(), '.tmp', 'programs');
const pipFolder = join(kept, 'pip');
/** A folder for each: two packages can have a program of one name. */
const npmFolderOf = ({ from }: ProgramTrial) =>
  join(kept, 'npm', (from.npm ?? 'none').replaceAll(/[^\w.@-]+/g, '-'));
const environmentOf = (trial: ProgramTrial) => ({
  ...inherited(),
  PATH: [join(npmFolderOf(trial), 'bin'), join(pipFolder, 'bin'), process.env['PATH'] ?? ''].join(delimiter),
});
const run = (command: string, ...args: string[]) =>
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });

/** The words by which a program can be installed; none when it is there. */
function install(trial: ProgramTrial): void {
  const { from } = trial;
  const npmFolder = npmFolderOf(trial);
  if (
    from.apt &&
    spawnSync('dpkg-query', ['-W', '-f=${Status}', from.apt]).stdout.toString() !== 'install ok installed'
  )
    run('apt-get', '-qq', 'install', '-y', ...from.apt.split(' '));
  if (from.npm && !existsSync(join(npmFolder, 'lib/node_modules'))) {
    mkdirSync(npmFolder, { recursive: true });
    run(
      'npm',
      'install',
      '--global',
      '--silent',
      '--no-audit',
      '--no-fund',
      '--prefix',
      npmFolder,
      ...from.npm.split(' '),
    );
  }
  if (!from.pip) return;
  if (!existsSync(join(pipFolder, 'bin/pip'))) run('python3', '-m', 'venv', pipFolder);
  run(join(pipFolder, 'bin/pip'), 'install', '--quiet', ...from.pip.split(' '));
}

it('tries at least seventy programs', () => {
  expect(new Set(trials.map(({ program }) => program)).size).toBeGreaterThanOrEqual(70);
});

it('calls every action of the programs that are tried', () => {
  const called = new Set(
    trials.flatMap(({ program, calls }) => calls.map(([action]) => `${program}_${action}`)),
  );
  const tried = new Set(trials.map(({ program }) => program));
  const missing = allPrograms
    .filter(({ of }) => tried.has(of.id))
    .flatMap(({ of }) => Object.keys(of.actions).map((key) => `${of.id}_${key}`))
    .filter((name) => !called.has(name));
  expect(missing).toEqual([]);
});

/** A trial in a folder of its own: its project, begun, trusted and opened. */
async function opened(name: string, trial: ProgramTrial, more: Record<string, string> = {}) {
  install(trial);
  const folder = temporaryFolderOf(name, trial);
  const env = { ...environmentOf(trial), ...more };
  const started = await trial.start?.(folder);
  execFileSync(process.execPath, [toolcrib, 'trust', folder, '--yes'], { env, stdio: 'ignore' });
  const client = new Client({ name: 'trial', version: '1' }, { capabilities: { elicitation: { form: {} } } });
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept' as const, content: {} }));
  const all = { ...env, ...started?.env, ...more };
  await client.connect(transportOf({ roots: [folder], cwd: folder, env: all }));
  const call = async (action: string, given: object) => {
    const called = { name: action, arguments: { ...given } };
    return textOf(await client.callTool(called));
  };
  const close = async () => {
    await client.close();
    await started?.end();
  };
  return { call, folder, close };
}

it('names only actions that exist', () => {
  const named = trials.flatMap(({ program, calls }) => calls.map(([action]) => [program, action] as const));
  const gone = named.filter(([program, action]) => !(action in anyProgramOf(program).actions));
  expect(gone).toEqual([]);
});

describe.each(trials.map((trial, at) => [`${trial.program} ${at}`, trial] as const))('%s', (name, trial) => {
  let trying: Awaited<ReturnType<typeof opened>>;
  beforeAll(async () => {
    trying = await opened(name, trial);
  }, 600_000);
  afterAll(() => trying?.close());
  it.runIf(trial.check)('answers check with a verdict', async () => {
    const [what, answer] = trial.check!;
    expect(await trying.call('check', { what })).toMatch(answer);
  });
  it.each(trial.calls.map(([action, given, answer], at) => ({ action, given, answer, at })))(
    'answers call $at, $action',
    async ({ action, given, answer }) => {
      const text = await trying.call(`${trial.program}_${action}`, given);
      expect(text).toMatch(answer);
      const changes = actionOf(anyProgramOf(trial.program), action).effects.some((one) =>
        ['write', 'publish', 'destroy'].includes(one),
      );
      // A change says what is now.
      if (changes && !/said nothing/.test(String(answer))) expect(text).not.toBe(saidNothing);
    },
  );
});

/** Answers that say all is well, or that there is nothing. */
const green = /^(?:no [a-z ]+|0 failed, .*|done; it said nothing|every file is formatted)$/m;
const greenCheck = /^\w+: (?:passed|ok|built|\d+ passed)/m;
/** Categories whose programs are broken by a variable, not by files. */
const elsewhere = new Set(['vcs', 'container', 'database', 'other']);
/** A first call of each action that reads something, where what it reads can be broken. */
const reading = ({ program, calls, files: texts, broken }: ProgramTrial) =>
  !broken?.env && (Object.keys(texts).length === 0 || elsewhere.has(anyProgramOf(program).category))
    ? []
    : calls.filter(([action], at) => {
        const [answer] = answersOf(actionOf(anyProgramOf(program), action));
        const kind = answer?.out?.kind ?? 'text';
        const isFirst = calls.findIndex(([other]) => other === action) === at;
        return isFirst && kind !== 'text' && broken?.except?.[action] === undefined;
      });
const ruined = trials.filter((trial) => trial.check || reading(trial).length > 0);

describe.each(ruined.map((trial, at) => [`${trial.program} ${at} in ruins`, trial] as const))(
  '%s',
  (name, trial) => {
    let trying: Awaited<ReturnType<typeof opened>>;
    beforeAll(async () => {
      trying = await opened(name.replaceAll(' ', '-'), trial, trial.broken?.env);
      for (const path of Object.keys(trial.files))
        writeFileSync(join(trying.folder, path), '{]( <broken "\n');
    }, 600_000);
    afterAll(() => trying?.close());
    it.each(reading(trial).map(([action, given]) => ({ action, given })))(
      'does not call $action green',
      async ({ action, given }) => {
        expect(await trying.call(`${trial.program}_${action}`, given)).not.toMatch(green);
      },
    );
    it.runIf(trial.check)('does not call check green', async () => {
      expect(await trying.call('check', { what: trial.check![0] })).not.toMatch(greenCheck);
    });
  },
);

const temporaryRoot = realpathSync(mkdtempSync(join(tmpdir(), 'toolcrib-trial-')));

/** A project of its own. */
function temporaryFolderOf(name: string, trial: ProgramTrial): string {
  const { files: texts, program, from } = trial;
  const folder = join(temporaryRoot, name.replace(' ', '-'));
  for (const [path, text] of Object.entries(texts)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  mkdirSync(folder, { recursive: true });
  // What a project imports is beside what it runs.
  const modules = join(npmFolderOf(trial), 'lib/node_modules');
  if (from.npm && anyProgramOf(program).own && existsSync(modules))
    symlinkSync(modules, join(folder, 'node_modules'));
  return folder;
}
