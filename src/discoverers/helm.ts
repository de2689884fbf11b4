import * as z from 'zod';
import { on, operand, option } from '../core/parameter.ts';
import { list, matching, name, path } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { diagnostics, resources } from './reports/kinds.ts';
import { said } from './reports/diagnostics.ts';
import { json } from './reports/readers.ts';
import { asks, destroys, reaches, runs } from './shared/programs.ts';

const where = {
  namespace: option('--namespace=', name('Namespace')),
  context: option('--kube-context=', name('Context of the kubeconfig')),
};
const release = operand(name('Release'));
const chart = operand(matching(/^[\w./@:-]{1,300}$/, 'a chart', 'Folder of a chart, repo/name, oci://'));
const values = {
  values: option('--values=', list(path('File of values', 'file'), 'Files of values')),
  set: option('--set=', list(z.string().regex(/^[\w.[\]-]+=/, 'expected name=value'), 'Values: name=value')),
  version: option('--version=', name('Version of the chart')),
};
const given = { release: 'shop', chart: './chart' };
const text = z.string();
const listed = json(
  z.array(
    z.object({ name: text, namespace: text, revision: text, status: text, chart: text, updated: text }),
  ),
  (all) =>
    all.map((one) => ({
      name: one.name,
      namespace: one.namespace,
      state: `${one.status}, ${one.chart}, revision ${one.revision}`,
      age: one.updated.slice(0, 16),
    })),
);
export default program('helm', {
  title: 'Helm',
  category: 'container',
  site: 'https://helm.sh/docs/helm',
  get: { brew: 'helm', winget: 'Helm.Helm', site: 'https://helm.sh/docs/intro/install' },
  version: { args: ['version', '--short'], pattern: /v(\d\S*)/ },
  project: ['Chart.yaml', 'helmfile.yaml'],
  environment: ['KUBECONFIG', 'HELM_NAMESPACE', 'HELM_KUBECONTEXT', 'HELM_REPOSITORY_CONFIG'],
  actions: {
    list: action('List Helm releases', 'Releases with state, chart and revision.', asks, {
      run: ['list', '--all', '--output=json'],
      params: { ...where, all: on('--all-namespaces', 'Of all namespaces') },
      out: resources(listed),
    }),
    status: action('Show a Helm release', 'State and notes of a release.', asks, {
      run: ['status'],
      params: { ...where, release },
      given: { release: 'shop' },
    }),
    values: action('Show the values of a Helm release', 'Values that a release was given.', asks, {
      run: ['get', 'values'],
      params: { ...where, all: on('--all', 'Also the defaults'), release },
      given: { release: 'shop' },
    }),
    template: action('Render a Helm chart', 'The manifests of a chart, as they would be applied.', reaches, {
      run: ['template'],
      params: { ...where, ...values, release, chart },
      given,
    }),
    lint: action('Lint a Helm chart', 'Mistakes in a chart.', runs, {
      role: 'lint',
      run: ['lint'],
      params: {
        values: values.values,
        only: operand(list(path('Chart', 'folder'), 'Default: the one here')),
      },
      ok: [0, 1],
      out: diagnostics(said(/^\[(?<level>INFO|WARNING|ERROR)\] (?<file>\S+?):? (?<message>.+)$/)),
    }),
    upgrade: action(
      'Install or upgrade a Helm release',
      'Makes or changes a release.',
      ['execute', 'network', 'publish'],
      {
        run: ['upgrade', '--install'],
        params: { ...where, ...values, wait: on('--wait', 'Until it is ready'), release, chart },
        given,
        first: (at) => [
          ...['upgrade', '--install', '--dry-run', at.namespace, at.context, at.values, at.set, at.version],
          ...['--', at.release, at.chart],
        ],
      },
    ),
    uninstall: action('Uninstall a Helm release', 'Deletes all that a release made.', destroys, {
      run: ['uninstall'],
      params: { ...where, release },
      given: { release: 'shop' },
      first: ({ namespace, context, release: it }) => ['status', namespace, context, '--', it],
    }),
  },
});
