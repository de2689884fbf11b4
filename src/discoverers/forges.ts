import * as z from 'zod';
import {
  action,
  choice,
  family,
  glue,
  input,
  limit,
  matching,
  name,
  on,
  operand,
  option,
  type Param,
  type Program,
  type ProgramAction,
  type Reader,
  required,
  text,
} from '../core/grammar.ts';
import { pipelineRuns, requests } from './reports/kinds.ts';
import { json, limited } from './reports/readers.ts';
import { asks, publishes } from './shared/programs.ts';

type MergeRequests = { number: number; title: string; state: string }[];
type PipelineRuns = { id: number; name: string; state: string }[];
interface ForgeRow {
  facts: Omit<Program, 'id' | 'category' | 'actions'>;
  title: string;
  /** Its word for a request to merge, and what people call that. */
  request: string;
  called: string;
  /** Asks for the fields that are read, with the text or without. */
  asked: (what: 'list' | 'view', of: 'request' | 'issue') => string;
  limited: string;
  states: Readonly<Record<string, string | readonly string[]>>;
  read: z.ZodType<MergeRequests[number]>;
  /** The option for the text of something new, and what else that takes. */
  body: Param;
  creating: string;
  target: string;
  source: string;
  checks: ProgramAction;
  runs: { run: readonly string[]; read: Reader<PipelineRuns> };
  log: { run: readonly string[]; params: Readonly<Record<string, Param>> };
}

const whole = (says: string) => z.int().min(1).max(1e15).describe(says);
const repo = option('--repo=', name('owner/name; default: the one here'));
const number = operand(whole('Number'));
const branch = (says: string) => matching(/^[^-\s][^\s]*$/, 'the name of a branch', says);

const optional = z
  .string()
  .nullish()
  .transform((value) => value ?? undefined);
const request = z.object({ title: z.string(), state: z.string() });
const onHub = request
  .extend({ number: z.int(), url: optional, body: optional, headRefName: optional })
  .extend({ author: z.object({ login: z.string() }).nullish() })
  .transform(({ headRefName: branch, author, ...rest }) => ({ ...rest, branch, author: author?.login }));
const onLab = request
  .extend({ iid: z.int(), web_url: optional, description: optional, source_branch: optional })
  .extend({ author: z.object({ username: z.string() }).nullish() })
  .transform(({ iid: number, web_url: url, description: body, source_branch: branch, author, ...rest }) => ({
    ...rest,
    number,
    url,
    body,
    branch,
    author: author?.username,
  }));
const hubRun = z.object({
  databaseId: z.int(),
  displayTitle: z.string(),
  status: z.string(),
  conclusion: z.string().nullish(),
  headBranch: z.string(),
  url: z.string(),
});
const labRun = z.object({
  id: z.int(),
  status: z.string(),
  ref: z.string(),
  source: z.string().default(''),
  web_url: z.string(),
});
const labRuns = json(z.array(labRun), (all) =>
  all.map((one) => ({ id: one.id, name: one.source, state: one.status, branch: one.ref, url: one.web_url })),
);
const fields = 'number,title,state,author,url';

const gh: ForgeRow = {
  title: 'GitHub',
  facts: {
    title: 'GitHub CLI',
    site: 'https://cli.github.com/manual',
    get: { apt: 'gh', brew: 'gh', winget: 'GitHub.cli' },
    project: ['.github', { file: '.git/config', has: /github\.com[:/]/ }],
    environment: ['GH_TOKEN', 'GITHUB_TOKEN', 'GH_HOST', 'GH_CONFIG_DIR', 'GH_REPO'],
    settings: { GH_PROMPT_DISABLED: '1', GH_NO_UPDATE_NOTIFIER: '1', GH_PAGER: 'cat', NO_COLOR: '1' },
    hints: [
      { says: /gh auth login|GH_TOKEN/, wayOut: 'Nobody is logged in: a person has to run gh auth login.' },
    ],
  },
  request: 'pr',
  called: 'pull request',
  asked: (what, of) =>
    `--json=${fields}${of === 'request' ? ',headRefName' : ''}${what === 'view' ? ',body' : ''}`,
  limited: '--limit=',
  states: { open: '--state=open', closed: '--state=closed', all: '--state=all' },
  read: onHub,
  body: input(text('Text, as Markdown')),
  target: '--base=',
  source: '--head=',
  creating: '--body-file=-',
  checks: action('List checks of a GitHub pull request', 'What its pipelines found.', asks, {
    run: ({ repo: at, number: which }) => ['pr', 'checks', at, '--', which],
    params: { repo, number },
    given: { number: 12 },
    ok: [0, 1, 8],
  }),
  runs: {
    run: ['run', 'list', '--json=databaseId,displayTitle,status,conclusion,headBranch,url'],
    read: json(z.array(hubRun), (all) =>
      all.map((one) => ({
        id: one.databaseId,
        name: one.displayTitle,
        state: one.conclusion || one.status,
        branch: one.headBranch,
        url: one.url,
      })),
    ),
  },
  log: {
    run: ['run', 'view'],
    params: {
      all: on('--log', 'All steps, not the failed alone', '--log-failed'),
      id: operand(whole('Id of the run')),
    },
  },
};

const glab: ForgeRow = {
  title: 'GitLab',
  facts: {
    title: 'GitLab CLI',
    site: 'https://docs.gitlab.com/cli',
    get: { brew: 'glab', winget: 'GLab.GLab', site: 'https://gitlab.com/gitlab-org/cli#installation' },
    project: ['.gitlab-ci.yml', { file: '.git/config', has: /gitlab\.[\w.]+[:/]/ }],
    environment: ['GITLAB_TOKEN', 'GITLAB_HOST', 'GLAB_CONFIG_DIR'],
    settings: { NO_PROMPT: '1', GLAB_CHECK_UPDATE: 'false', NO_COLOR: '1' },
    hints: [
      { says: /glab auth login|401/, wayOut: 'Nobody is logged in: a person has to run glab auth login.' },
    ],
  },
  request: 'mr',
  called: 'merge request',
  asked: () => '--output=json',
  limited: '--per-page=',
  states: { open: [], closed: '--closed', all: '--all' },
  read: onLab,
  body: required('--description=', text('Text, as Markdown')),
  target: '--target-branch=',
  source: '--source-branch=',
  creating: '--yes',
  checks: action('List pipelines of a GitLab merge request', 'What they found.', asks, {
    run: ({ number: which }) => ['api', glue('projects/:fullpath/merge_requests/', which, '/pipelines')],
    params: { number },
    given: { number: 12 },
    out: pipelineRuns(labRuns),
  }),
  runs: { run: ['ci', 'list', '--output=json'], read: labRuns },
  log: { run: ['ci', 'trace'], params: { id: operand(whole('Id of the job')) } },
};

const ofRequests = (row: ForgeRow, what: 'request' | 'issue'): Program['actions'] => {
  const { title, asked, read, body } = row;
  const [word, called] = what === 'request' ? [row.request, row.called] : ['issue', 'issue'];
  const listed = requests(limited(json(z.array(read), (all) => all)));
  const most = option(row.limited, limit(100, 30));
  const given = { number: 12 };
  const a = called === 'issue' ? 'an issue' : `a ${called}`;
  return {
    [`${word}_list`]: action(`List ${title} ${called}s`, `Open, closed or all ${called}s.`, asks, {
      run: [word, 'list', asked('list', what)],
      params: { repo, state: choice(row.states, 'Which'), limit: most },
      out: listed,
    }),
    [`${word}_view`]: action(`Show ${a} of ${title}`, `One ${called} with its text.`, asks, {
      run: [word, 'view', asked('view', what)],
      params: { repo, number },
      given,
      out: requests(json(read, (one) => [one])),
    }),
    [`${word}_create`]: action(`Create ${a} at ${title}`, `Opens ${a}.`, publishes, {
      run: [word, 'create', row.creating],
      params: {
        repo,
        title: required('--title=', text('Title')),
        ...(what === 'request' && {
          target: option(row.target, branch('Branch to merge into')),
          source: option(row.source, branch('Branch to merge; default: the one here, pushed')),
          draft: on('--draft', 'As a draft'),
        }),
        body,
      },
      given: { title: 'Fix rounding', body: 'Closes #3.' } as never,
    }),
  };
};

const others = (row: ForgeRow): Program['actions'] => {
  const { title, request, called } = row;
  return {
    [`${request}_diff`]: action(`Diff a ${title} ${called}`, `What a ${called} changes.`, asks, {
      run: [request, 'diff', '--color=never'],
      params: { repo, number },
      given: { number: 12 },
    }),
    [`${request}_checks`]: row.checks,
    run_list: action(`List ${title} pipeline runs`, 'Runs of workflows and pipelines, newest first.', asks, {
      run: row.runs.run,
      params: { repo, limit: option(row.limited, limit(100, 20)) },
      out: pipelineRuns(limited(row.runs.read)),
    }),
    run_log: action(`Show the log of a ${title} run`, 'What a pipeline run said.', asks, {
      run: row.log.run,
      params: { repo, ...row.log.params } as { repo: typeof repo; id: typeof number },
      given: { id: 123 },
    }),
    release_list: action(`List ${title} releases`, 'Releases with their tags.', asks, {
      run: ['release', 'list'],
      params: { repo, limit: option(row.limited, limit(100, 30)) },
    }),
    api: action(`Get from the ${title} API`, 'What the API answers to a GET, as JSON.', asks, {
      run: ['api', '--method=GET'],
      params: { endpoint: operand(name('repos/{owner}/{repo}/tags, projects/:fullpath/jobs')) },
      given: { endpoint: 'user' },
    }),
  };
};

export default family<ForgeRow>({ gh, glab }, (row) => ({
  ...row.facts,
  category: 'vcs',
  actions: { ...ofRequests(row, 'request'), ...ofRequests(row, 'issue'), ...others(row) },
}));
