// Repositories: a merge with conflicts, a commit of another branch, work put aside; then a bisect and a revert.
import { execFileSync } from 'node:child_process';
import { repository } from './make.mjs';
import { edit } from './sides.mjs';

const config = (timeout, retries) => `export const config = {
  host: 'localhost',
  port: 8080,
  timeout: ${timeout},
  retries: ${retries},
  verbose: false,
};
`;
const guide = (lines) => `# Guide\n\nInstall it.\n\n${lines}\n\nAsk us.\n`;
const lines = (count, word) =>
  `${Array.from({ length: count }, (_, index) => `export const ${word}${index} = ${index};`).join('\n')}\n`;
const git = (folder, ...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8' }).trim();

export const conflict = {
  name: 'Conflict',
  folder: 'service',
  make(folder) {
    const { git: run, commit } = repository(folder);
    commit('A service', {
      'src/config.js': config(30, 3),
      'docs/guide.md': guide('Start it.'),
      'src/server.js': lines(40, 'step'),
    });
    run('switch', '--quiet', '--create', 'feature/retries');
    commit('Retry five times, wait longer', {
      'src/config.js': config(60, 5),
      'docs/guide.md': guide('Start it, and wait.'),
    });
    commit('Count what was retried', { 'src/retried.js': lines(10, 'retried') });
    run('switch', '--quiet', '--create', 'wip', 'main');
    for (let turn = 1; turn < 8; turn++) commit(`Try ${turn}`, { [`src/try${turn}.js`]: lines(5, 'x') });
    commit('Close connections at the end', { 'src/close.js': lines(12, 'close') });
    commit('Try 8', { 'src/try8.js': lines(5, 'y') });
    run('switch', '--quiet', 'main');
    commit('Wait 45 seconds', {
      'src/config.js': config(45, 3),
      'docs/guide.md': guide('Start it with care.'),
    });
  },
  tasks: [
    {
      name: 'merge a branch with conflicts, resolve them, finish',
      expects: [/config\.js/, /guide\.md/, /timeout: 45/, /timeout: 60/, /with care/, /[0-9a-f]{7}/],
      holds: (side) =>
        side.read('src/config.js') === config(60, 5) &&
        side.read('docs/guide.md') === guide('Start it with care, and wait.') &&
        git(side.folder, 'log', '-1', '--format=%P').split(' ').length === 2,
      async ours({ turn, read }) {
        await turn(['git_integrate', { action: 'merge', branch: 'feature/retries' }]);
        const [one, other] = conflicts(read);
        await turn(['edit_files', { edits: [one, other] }]);
        await turn(['git_commit', { message: 'Merge feature/retries', paths: [one.path, other.path] }]);
      },
      async theirs({ turn, read }) {
        await turn('git merge feature/retries; git diff');
        const [one, other] = conflicts(read);
        await turn(
          edit(one.path, one.old_string, one.new_string),
          edit(other.path, other.old_string, other.new_string),
        );
        await turn('git commit -qam "Merge feature/retries" && git log --oneline -1 && git status -sb');
      },
    },
    {
      name: 'take one commit of another branch',
      expects: [/Close connections/, /[0-9a-f]{7}/],
      holds: (side) => side.read('src/close.js').includes('close11'),
      async ours({ turn }) {
        const log = await turn(['git_log', { ref: 'main..wip' }]);
        const [, commit] = /([0-9a-f]{7,}) .*Close connections/.exec(log) ?? [];
        await turn(['git_integrate', { action: 'cherry_pick', commits: [commit] }]);
      },
      async theirs({ turn }) {
        const log = await turn('git log --oneline main..wip');
        const [, commit] = /([0-9a-f]{7,}) .*Close connections/.exec(log);
        await turn(`git cherry-pick ${commit} | tail -2 && git status -sb`);
      },
    },
    {
      name: 'an urgent fix on another branch, with work put aside',
      expects: [/hotfix/],
      holds: (side) =>
        side.read('src/server.js').includes('step0 = 100') &&
        git(side.folder, 'show', 'hotfix:src/config.js').includes('port: 80,') &&
        git(side.folder, 'branch', '--show-current') === 'main',
      async ours({ turn }) {
        await turn([
          'edit_file',
          { path: 'src/server.js', old_string: 'step0 = 0;', new_string: 'step0 = 100;' },
        ]);
        await turn(['run', { command: 'git stash -q && git switch -c hotfix' }]);
        await turn([
          'edit_file',
          { path: 'src/config.js', old_string: 'port: 8080', new_string: 'port: 80' },
        ]);
        await turn([
          'run',
          {
            command:
              'git commit -qam "Listen at 80" && git switch -q main && git stash pop -q && git status -sb',
          },
        ]);
      },
      async theirs({ turn }) {
        await turn(edit('src/server.js', 'step0 = 0;', 'step0 = 100;'));
        await turn('git stash -q && git switch -c hotfix');
        await turn(edit('src/config.js', 'port: 8080', 'port: 80'));
        await turn(
          'git commit -qam "Listen at 80" && git switch -q main && git stash pop -q && git status -sb',
        );
      },
    },
    {
      name: 'which branches are there, and what is on them',
      expects: [/feature\/retries/, /hotfix/, /wip/, /Listen at 80/, /Try 8/],
      ours: ({ turn }) => turn(['git_branches', {}]),
      theirs: ({ turn }) => turn('git branch -v'),
    },
  ],
};

/** Each conflict as it stands in the file, and what is to stand there. */
function conflicts(read) {
  const found = (path) => /<<<<<<<[^]*?>>>>>>>[^\n]*\n/.exec(read(path))?.[0] ?? '';
  return [
    {
      path: 'src/config.js',
      old_string: found('src/config.js'),
      new_string: '  timeout: 60,\n  retries: 5,\n',
    },
    {
      path: 'docs/guide.md',
      old_string: found('docs/guide.md'),
      new_string: 'Start it with care, and wait.\n',
    },
  ];
}

const broken = 41;
const price = (each) => `export const price = (count) => ${each};\n`;

export const bisect = {
  name: 'Bisect',
  folder: 'prices',
  make(folder) {
    const { git: run, commit } = repository(folder);
    commit('A price', {
      'price.mjs': price('count * 5'),
      'package.json': '{"name":"prices","type":"module","scripts":{"test":"node --test"}}\n',
      'price.test.mjs': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { price } from './price.mjs';

test('ten cost fifty', () => assert.equal(price(10), 50));
`,
    });
    run('tag', 'v1.0');
    for (let index = 1; index <= 64; index++)
      if (index === broken) commit('Give a discount', { 'price.mjs': price('count * 5 - 1') });
      else commit(`Step ${index}`, { 'steps.mjs': lines(index, 'step') });
  },
  tasks: [
    {
      name: 'which of 64 commits broke the test',
      expects: [/is the first bad commit|first bad/, /Give a discount/],
      holds: ({ folder }) => git(folder, 'branch', '--show-current') === 'main',
      ours: ({ turn }) =>
        turn([
          'run',
          { command: 'git bisect start HEAD v1.0 && git bisect run npm test && git bisect reset', tail: 9 },
        ]),
      theirs: ({ turn }) =>
        turn(
          'git bisect start HEAD v1.0 > /dev/null; git bisect run npm test 2>&1 | tail -9; git bisect reset 2> /dev/null',
        ),
    },
    {
      name: 'revert it, and see that the test passes',
      expects: [/[0-9a-f]{7}/, /pass(ed)? 1|1 passed|✔/],
      holds: (side) => side.read('price.mjs').includes('count * 5;'),
      async ours({ turn, folder }) {
        const bad = git(folder, 'log', '--grep=Give a discount', '--format=%h', '-1');
        await turn(['git_integrate', { action: 'revert', commits: [bad] }], ['check', {}]);
      },
      async theirs({ turn, folder }) {
        const bad = git(folder, 'log', '--grep=Give a discount', '--format=%h', '-1');
        await turn(`git revert --no-edit ${bad} && npm test 2>&1 | grep -E '^(. )?(pass|fail)'`);
      },
    },
  ],
};
