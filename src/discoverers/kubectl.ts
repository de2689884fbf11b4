import {
  action,
  choice,
  limit,
  list,
  name,
  on,
  operand,
  option,
  type Output,
  path,
  program,
  required,
  saidAfter,
  some,
  words,
} from '../core/grammar.ts';
import { entries, resources } from './reports/kinds.ts';
import { records } from './reports/readers.ts';
import { asks, destroys, publishes, reaches, reads } from './shared/programs.ts';

const where = {
  namespace: option('--namespace=', name('Namespace')),
  context: option('--context=', name('Context of the kubeconfig')),
};
const selector = option('--selector=', name('Labels: app=web'));
const kind = operand(name('Kind: pods, deployments, pods,services'));
const oneKind = operand(name('Kind: deployment'));
const names = operand(list(name('Name'), 'Only these'));
const manifests = { ...where, file: required('--filename=', path('Manifest, or a folder of them')) };
const oneOf = operand(name('kind/name: deployment/web'));

/**
 * The table of a kind, as the server makes it: only that says how many of a pod's containers are ready, or
 * what they wait for. Columns begin where their titles do; of several kinds there are several tables.
 */
const listed = ({ stdout }: Pick<Output, 'stdout'>) =>
  stdout
    .split(/\n\n+/)
    .filter((table) => table.trim() !== '')
    .flatMap((table) => {
      const [header = '', ...lines] = table.trimEnd().split('\n');
      const titles = [...header.matchAll(/\S+(?: \S+)*/g)].map((found) => ({
        title: found[0],
        at: found.index,
      }));
      if (!titles.some(({ title }) => title === 'NAME')) throw new Error('expected a table with names');
      return lines.map((line) => {
        const cells = titles.map(({ at }, index) => line.slice(at, titles[index + 1]?.at).trim());
        const cell = (title: string) => cells[titles.findIndex((one) => one.title === title)];
        const rest = titles.flatMap(({ title }, index) =>
          /^(?:NAME|NAMESPACE|AGE|STATUS)$/.test(title) || cells[index] === '<none>'
            ? []
            : [`${title.toLowerCase()} ${cells[index]}`],
        );
        return {
          name: cell('NAME') ?? '',
          namespace: cell('NAMESPACE'),
          state: [cell('STATUS'), ...rest].filter(Boolean).join(', '),
          age: cell('AGE'),
        };
      });
    });
const now = resources((output) => listed({ stdout: saidAfter(output, 'now') }));

export default program('kubectl', {
  title: 'Kubernetes',
  category: 'container',
  site: 'https://kubernetes.io/docs/reference/kubectl',
  get: { brew: 'kubectl', winget: 'Kubernetes.kubectl', site: 'https://kubernetes.io/docs/tasks/tools' },
  version: { args: ['version', '--client'], pattern: /v(\d\S*)/ },
  project: ['kustomization.yaml', 'kustomization.yml', 'k8s', 'Chart.yaml', 'skaffold.yaml'],
  environment: ['KUBECONFIG', 'AWS_PROFILE', 'AWS_REGION', 'CLOUDSDK_CONFIG'],
  // No program of an environment shows what differs.
  settings: { KUBECTL_EXTERNAL_DIFF: 'diff -u -N' },
  before: ['--request-timeout=30s'],
  hints: [
    {
      says: /connection to the server .* was refused|no configuration/,
      wayOut: 'kubectl_contexts lists clusters.',
    },
  ],
  actions: {
    get: action('List Kubernetes resources', 'Resources of a kind with their states.', asks, {
      run: ['get', '--ignore-not-found'],
      params: { ...where, all: on('--all-namespaces', 'Of all namespaces'), selector, kind, names },
      given: { kind: 'pods' },
      out: resources(listed),
    }),
    describe: action('Describe Kubernetes resources', 'Everything about resources, with events.', asks, {
      run: ['describe'],
      params: { ...where, selector, kind, names },
      given: { kind: 'pods', names: ['web-0'] },
    }),
    logs: action('Show Kubernetes logs', 'What the containers of a pod said last.', asks, {
      run: ['logs'],
      params: {
        ...where,
        tail: option('--tail=', limit(5000, 200)),
        since: option('--since=', name('From: 10m')),
        container: option('--container=', name('Container')),
        previous: on('--previous', 'Of the one before the restart'),
        pod: operand(name('Pod, or kind/name')),
      },
      given: { pod: 'deploy/web' },
    }),
    top: action('Show Kubernetes resource use', 'Processor and memory that pods or nodes use.', asks, {
      run: ['top'],
      params: { what: choice({ pods: 'pods', nodes: 'nodes' }, 'Of what'), ...where },
    }),
    contexts: action('List Kubernetes contexts', 'Clusters of the kubeconfig, the current marked.', reads, {
      run: ['config', 'get-contexts', '--no-headers'],
      out: entries('context')(
        records(1, (line) => {
          const [, mark, key = '', cluster = ''] = /^(\*?)\s+(\S+)\s+(\S+)/.exec(line) ?? [];
          return { name: key, says: cluster, current: mark === '*' };
        }),
      ),
    }),
    apply: action('Apply Kubernetes manifests', 'Makes the cluster as the manifests say.', publishes, {
      run: ['apply'],
      params: manifests,
      given: { file: 'k8s' },
      steps: {
        // The server tries it, and changes nothing; 1: there are differences.
        preview: { line: ({ namespace, context, file }) => ['diff', namespace, context, file], ok: [0, 1] },
        after: { now: ({ namespace, context, file }) => ['get', namespace, context, file] },
      },
      out: now,
    }),
    delete: action('Delete Kubernetes resources', 'With what they own.', destroys, {
      run: ['delete', '--wait=false'],
      params: { ...where, kind: oneKind, names: operand(some(name('Name'), 'Names')) },
      given: { kind: 'deployment', names: ['web'] },
      steps: {
        preview: (at) => ['delete', '--dry-run=server', at.namespace, at.context, '--', at.kind, at.names],
      },
    }),
    rollout: action('Roll out a Kubernetes workload', 'Restarts, pauses, resumes, or goes back.', publishes, {
      run: ['rollout'],
      params: {
        ...where,
        act: choice({ restart: 'restart', undo: 'undo', pause: 'pause', resume: 'resume' }, 'What to do'),
        workload: oneOf,
      },
      given: { workload: 'deployment/web' },
      steps: {
        after: { now: ({ namespace, context, workload }) => ['get', namespace, context, '--', workload] },
      },
      out: now,
    }),
    exec: action('Run a command in a Kubernetes pod', 'Runs one program in a pod.', reaches, {
      run: ({ pod, argv, ...at }) => ['exec', at.namespace, at.context, at.container, pod, '--', argv],
      params: {
        ...where,
        container: option('--container=', name('Container')),
        pod: operand(name('Pod, or kind/name')),
        argv: words('Program and its arguments'),
      },
      given: { pod: 'deploy/web', argv: ['env'] },
    }),
  },
});
