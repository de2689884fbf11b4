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

it('reads runs, checks and releases', () => {
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
  expect(textOf('gh', 'pr_checks', 'test (20)\tfail\t1m2s\thttps://x/1\n')).toBe(
    '1 check\ntest (20) fail 1m2s https://x/1',
  );
  expect(textOf('gh', 'release_list', 'One\tLatest\tv1.0\t2025-01-02T03:04:05Z\n')).toBe(
    '1 release\nv1.0 One',
  );
});

it('writes texts where no option can be, and only ever gets from the API', () => {
  const body = '--web\n@x';
  expect(argvOf(programOf('gh'), 'pr_comment', { number: 1, body })).toEqual([
    'pr',
    'comment',
    '--body-file=-',
    '--',
    '1',
  ]);
  expect(argvOf(programOf('glab'), 'mr_comment', { number: 1, body })).toEqual([
    'mr',
    'note',
    `--message=${body}`,
    '--',
    '1',
  ]);
  expect(argvOf(programOf('glab'), 'mr_checks', { number: 1 })).toEqual([
    ...['api', 'projects/:fullpath/merge_requests/1/pipelines'],
  ]);
  for (const id of ['gh', 'glab'])
    expect(argvOf(programOf(id), 'api', { endpoint: 'user' })).toEqual(['api', '--method=GET', '--', 'user']);
});
