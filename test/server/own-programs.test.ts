import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { programFile } from '../../src/discoverers/shared/program-file.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { connect, eras, inherited, program, type Era } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

const frob = `id: frob
title: Frobnicator
project: [frob.toml]
actions:
  build:
    title: Build with frob
    description: Builds targets.
    effects: [execute]
    run: [build]
    params:
      fast: { on: --fast, says: Quickly }
      level: { option: --level=, type: number, says: How hard }
      targets: { operand: true, list: true, says: Targets }
  show:
    title: Show frobs
    description: Shows what is there.
    effects: [read]
    run: [show]
`;

/** A machine with a program that nobody knows, and a person who has described it. */
function withFrob(files: Record<string, string> = { 'frob.yaml': frob }) {
  const bin = temporaryFolder();
  const config = temporaryFolder();
  writeFileSync(
    join(bin, 'frob'),
    '#!/bin/sh\n[ "$1" = --version ] && echo frob 1.2.3 || echo "frobbed: $*"\n',
    {
      mode: 0o755,
    },
  );
  mkdirSync(join(config, 'toolcrib/programs'), { recursive: true });
  for (const [name, text] of Object.entries(files))
    writeFileSync(join(config, 'toolcrib/programs', name), text);
  const env = { ...inherited(), XDG_CONFIG_HOME: config, PATH: bin + delimiter + process.env['PATH'] };
  const run = (...args: string[]) => {
    try {
      return execFileSync(process.execPath, [program, ...args], { env, encoding: 'utf8' });
    } catch (error) {
      return (error as { stdout: string }).stdout;
    }
  };
  return { env, run };
}

async function opened(era: Era, env: Record<string, string>, root: string) {
  const client = await connect(era, { env, roots: [root], cwd: root });
  onTestFinished(() => client.close());
  return {
    call: async (name: string, given = {}) => textOf(await client.callTool({ name, arguments: given })),
    tools: async () => (await client.listTools()).tools,
  };
}

describe.each(eras)('a program that a person has described, in %s', (era) => {
  it('is used like all others', async () => {
    const { env, run } = withFrob();
    const { folder, write } = temporaryRepository();
    write('frob.toml', '');
    const { call, tools } = await opened(era, env, folder);
    const listed = (await tools()).find(({ name }) => name === 'frob_build');
    expect(listed?.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(await call('frob_show')).toBe('frobbed: show');
    expect(await call('frob_build', { targets: ['a'] })).toContain('NEEDS_CONFIRM');
    run('trust', folder, '--yes');
    const given = { fast: true, level: 3, targets: ['ab', 'c'] };
    expect(await call('frob_build', given)).toBe('frobbed: build --fast --level=3 -- ab c');
    expect(await call('frob_build', { targets: ['-x'] })).toMatch(/^ARG_FLAG/);
    expect(await call('find_actions', { query: 'frob targets' })).toContain('frob_build');
    expect(run('list')).toContain('Frobnicator');
  });
});

it('is left out with its file, line and what was meant when it is wrong', async () => {
  const { run, env } = withFrob({
    'open.yaml': frob.replace('id: frob', 'id: open'),
    'frob.yaml': frob,
    'key.yaml': frob.replace('id: frob', 'id: key').replace('    effects:', '    efects:'),
    'taken.yaml': frob.replace('id: frob', 'id: git'),
    'two.yaml': frob.replace('id: frob', 'id: two').replace('on: --fast,', 'on: --fast, operand: true,'),
    'list.yaml': frob.replace('id: frob', 'id: list').replace('on: --fast,', 'variable: FAST, list: true,'),
    'yaml.yaml': 'id: [',
    'read.yaml': frob.replace('id: frob', 'id: read').replace('  show:', '  file:'),
    'alias.yaml': `x: &a [1]\ny: *a\n${frob}`,
    'none.yaml': frob.replace('on: --fast,', 'choice: {},').replace('id: frob', 'id: none'),
    'z.yaml': frob.replace('id: frob', 'id: z').replace('effects: [read]', 'effects: [reed]'),
  });
  chmodSync(join(env.XDG_CONFIG_HOME, 'toolcrib/programs/open.yaml'), 0o666);
  const said = run('doctor');
  expect(said).toMatch(/open\.yaml: is no plain file of at most 256 KB that only you can change/);
  expect(said).toMatch(
    /key\.yaml:8: actions\.build\.efects: there is no such key; docs\/program\.schema\.json/,
  );
  expect(said).toMatch(
    /taken\.yaml: there is a program git already, or a tool by one of its names; choose another id\./,
  );
  expect(said).toMatch(/two\.yaml:11: actions\.build\.params\.fast: needs exactly one of/);
  expect(said).toMatch(/list\.yaml:11: actions\.build\.params\.fast: list: one variable/);
  expect(said).toMatch(/yaml\.yaml:1: /);
  expect(said).toMatch(/read\.yaml: there is a program read already, or a tool by one of its names/);
  expect(said).toMatch(/alias\.yaml:2: write it out: aliases/);
  expect(said).toMatch(/none\.yaml:11: actions\.build\.params\.fast\.choice: needs at least one name/);
  expect(said).toMatch(/z\.yaml:17: actions\.show\.effects\.0: expected one of/);
  expect(run('list')).toContain('Frobnicator');
});

it('is taken from a project that is trusted, as its code, and nobody may write it', async () => {
  const { env, run } = withFrob({});
  const { folder, write } = temporaryRepository();
  write('.toolcrib/frob.yaml', frob);
  write('frob.toml', '');
  const before = await opened('2025-11-25', env, folder);
  expect((await before.tools()).map(({ name }) => name)).not.toContain('frob_show');
  expect(await before.call('write_file', { path: '.toolcrib/x.yaml', content: frob })).toMatch(
    /PATH_PROTECTED/,
  );
  run('trust', folder, '--yes');
  const { call, tools } = await opened('2025-11-25', env, folder);
  const listed = (await tools()).find(({ name }) => name === 'frob_show');
  expect(listed?.annotations).toMatchObject({ readOnlyHint: false });
  expect(await call('frob_show')).toBe('frobbed: show');
});

it('has a schema for editors', async () => {
  const schema = z.toJSONSchema(programFile, { io: 'input' });
  await expect(`${JSON.stringify(schema, null, 2)}\n`).toMatchFileSnapshot('../../docs/program.schema.json');
});
