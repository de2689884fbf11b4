import { expect, it } from 'vitest';
import { argvOf, reportOf } from './real-program.ts';
import { programOf } from './programs.ts';

const textOf = (id: string, key: string, stdout: string, given = {}) =>
  reportOf(programOf(id), key, { stdout, given }).text;

it('reads pull and merge requests in one shape', () => {
  const shared = { title: 'Fix rounding', state: 'OPEN' };
  const hub = { ...shared, number: 12, url: 'https://x/12', headRefName: 'round', author: { login: 'ada' } };
  const lab = {
    ...shared,
    state: 'open',
    iid: 12,
    web_url: 'https://x/12',
    source_branch: 'round',
    author: { username: 'ada' },
  };
  const said = '1 request\n#12 open Fix rounding (round) ada';
  expect(textOf('gh', 'pr_list', JSON.stringify([hub]))).toBe(said);
  expect(textOf('glab', 'mr_list', JSON.stringify([lab]))).toBe(said);
  expect(textOf('gh', 'pr_view', JSON.stringify({ ...hub, body: 'Closes #3.' }))).toBe(`${said}\nCloses #3.`);
  expect(textOf('glab', 'mr_view', JSON.stringify({ ...lab, description: 'Closes #3.' }))).toBe(
    `${said}\nCloses #3.`,
  );
  expect(textOf('gh', 'pr_list', JSON.stringify([hub]), { limit: 1 })).toMatch(
    /there may be more: raise limit$/,
  );
});

it('reads runs and pipelines', () => {
  const run = {
    databaseId: 7,
    displayTitle: 'Fix',
    status: 'completed',
    conclusion: 'failure',
    headBranch: 'main',
    url: 'https://x',
  };
  expect(textOf('gh', 'run_list', JSON.stringify([run]))).toBe('1 run\n7 failure Fix main');
  const pipeline = { id: 7, status: 'failed', ref: 'main', source: 'push', web_url: 'https://x' };
  for (const key of ['run_list', 'mr_checks'])
    expect(textOf('glab', key, JSON.stringify([pipeline]))).toBe('1 run\n7 failed push main');
});

it('writes texts where no option can be, and only ever gets from the API', () => {
  const given = { title: 'Fix', body: '--web\n@x' };
  expect(argvOf(programOf('gh'), 'issue_create', given).join(' ')).toMatch(
    /^issue create (?=.*--body-file=-)(?!.*web)/,
  );
  expect(argvOf(programOf('glab'), 'issue_create', given)).toContain(`--description=${given.body}`);
  expect(argvOf(programOf('glab'), 'mr_checks', { number: 1 })).toEqual([
    ...['api', 'projects/:fullpath/merge_requests/1/pipelines'],
  ]);
  for (const id of ['gh', 'glab'])
    expect(argvOf(programOf(id), 'api', { endpoint: 'user' })).toEqual(['api', '--method=GET', '--', 'user']);
});
