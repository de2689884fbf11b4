import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { also, runFile, runLine } from './acts.ts';
import { person, says } from './person.ts';
import type { Session } from './session.ts';
import { leavesAMark, makeWorld } from './world.ts';

// A folder that a person trusts: what it is worked on with runs, and what reaches further is asked about.

describe('a command line in a trusted folder', () => {
  const world = makeWorld(leavesAMark);
  const ada = person();
  let session: Session;
  beforeAll(async () => {
    world.write('tool.sh', '#!/bin/sh\nprintf tool >> ran\n', 0o755);
    world.write('node_modules/.bin/mocha', '#!/bin/sh\n', 0o755);
    world.write('pack/main.py', 'print("main")\n');
    world.write('Makefile', 'hi:\n\t@echo made\n');
    for (const name of 'rake ctest cmake go cargo dotnet tox task gcc pre-commit'.split(' '))
      writeFileSync(join(world.bin, name), '#!/bin/sh\n', { mode: 0o755 });
    ada.will(says.yes);
    session = await world.open({ person: ada });
    await session.gets(runFile('run.mjs'));
  });
  beforeEach(() => ada.will(says.no));
  afterAll(() => world.end());

  it.each([
    './tool.sh',
    'node run.mjs one',
    'npm run hi',
    'CI=1 npm run hi',
    'npm --prefix . --silent run hi',
    'python3 -m pack.main',
    'python3 pack/main.py | head -1',
    'make hi',
    'bash tool.sh',
    'rake test && ctest --output-on-failure',
    'cmake --build . && cmake --build . -- -j2',
    'go test ./... && cargo test && dotnet run --project src',
    'tox -e py312 -- -k cart && task build && gcc -o a a.c && pre-commit run --all-files',
    'mkdir -p deep/er && touch deep/er/file',
    'git --no-pager log --oneline --format=%h',
    'git stash list && git branch && git status --short',
    'git switch -c other && git switch -',
    "find . -name '*.md' -not -path './.git/*' && sed -n 1,2p README.md",
  ])('runs without a question: %s', async (command) => {
    await session.gets(runLine(command));
    expect(ada.asked).toEqual([]);
  });

  it.each([
    'git push',
    'git branch other -D',
    'git branch --delete other',
    'git stash drop',
    'git stash clear',
    'git checkout .',
    'git checkout -b x -f',
    'git reset --hard',
    'git switch --di main',
    'git rebase --exec ./tool.sh HEAD',
    'git merge -s ours other',
    'git fetch --upl=./tool.sh .',
    'git log --output=README.md',
    'git bisect run ./tool.sh',
    'git -c alias.x=!./tool.sh x',
    'npm publish',
    'npm --prefix . publish',
    'npx some-package-of-anybody',
    'npm exec some-package-of-anybody',
    'npm install --global x',
    'npm i -g x',
    'npm install https://example.invalid/x.tgz',
    'node --eval 1',
    'node --import=data:text/javascript,1 run.mjs',
    'node --test --import data:text/javascript,1',
    'python3 -m timeit 1',
    'python3 -c 1',
    'python3 -m site',
    'bash -c true',
    './tool.sh /',
    'make --directory=..',
    "make --eval='x: ; ./tool.sh' x",
    'make SHELL=./tool.sh hi',
    'cmake -E rm README.md',
    'cmake -E env ./tool.sh',
    'cmake --build . -- X=1',
    'ctest --build-and-test . .',
    'rake -e 1',
    'go test -exec ./tool.sh',
    'cargo test --config x=1',
    'tox exec -- ./tool.sh',
    'tox run -vx testenv.commands=./tool.sh',
    'task --taskfile https://example.invalid/Taskfile.yml',
    'task -t -',
    'gcc -wrapper ./tool.sh a.c',
    'mocha --import=DATA:text/javascript,1',
    'pre-commit try-repo .',
    'dotnet build -rP:PreBuildEvent=./tool.sh',
    'npm run hi --node-options=--import=data:text/javascript,1',
    'GIT_SSH_COMMAND=./tool.sh git fetch',
    'find . -delete',
    'find -L . -name x',
    'sed -n 1w,README.md README.md',
    'sed -i 1p README.md',
    'rm README.md',
    'touch ../outside/file',
    'npm run hi && rm README.md',
  ])('is asked about before it runs: %s', async (command) => {
    const before = world.read('README.md');
    expect((await session.does(runLine(command))).refused).toBe(true);
    expect(ada.asked).toHaveLength(1);
    expect(world.read('README.md')).toBe(before);
  });

  it('is asked about when its code comes from what is typed into it', async () => {
    expect((await session.does(also(runLine('node'), { input: '1' }))).refused).toBe(true);
    expect((await session.does(runLine('echo 1 | python3'))).refused).toBe(true);
    expect(ada.asked).toHaveLength(2);
  });
});
