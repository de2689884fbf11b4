import * as z from 'zod';
import { operand, option } from '../core/parameter.ts';
import { name, path } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { entries } from './reports/kinds.ts';
import { json, lines } from './reports/readers.ts';
import { makes, reads, writes } from './shared/effects.ts';

const cluster = option('--name=', name('Cluster; default: kind'));
const profile = option('--profile=', name('Cluster; default: minikube'));
const image = operand(
  z
    .string()
    .regex(/^[A-Za-z0-9][\w./:@-]{0,254}$/)
    .describe('Image: shop:dev'),
);
const named = lines(/^(?<name>\S+)$/, ({ name: key = '' }) => ({ name: key }));
const state = z.object({ Name: z.string(), Status: z.string().optional() });
const shared = {
  category: 'container' as const,
  environment: ['KUBECONFIG', 'DOCKER_HOST', 'KIND_EXPERIMENTAL_PROVIDER', 'MINIKUBE_HOME'],
};

const kind = program('kind', {
  ...shared,
  title: 'kind',
  site: 'https://kind.sigs.k8s.io/docs/user/quick-start',
  get: { brew: 'kind', winget: 'Kubernetes.kind', site: 'https://kind.sigs.k8s.io/docs/user/quick-start' },
  version: { args: ['version', '--quiet'], pattern: /(\d+\.\d\S*)/ },
  project: ['kind.yaml', 'kind-config.yaml'],
  actions: {
    list: action('List kind clusters', 'Kubernetes clusters in containers on this machine.', reads, {
      run: ['get', 'clusters', '--quiet'],
      out: entries('cluster')(named),
    }),
    nodes: action('List kind nodes', 'Nodes of a cluster.', reads, {
      run: ['get', 'nodes', '--quiet'],
      params: { cluster },
      out: entries('node')(named),
    }),
    create: action('Create a kind cluster', 'Starts a local Kubernetes cluster in containers.', makes, {
      run: ['create', 'cluster'],
      params: {
        cluster,
        config: option('--config=', path('Configuration', 'file')),
        image: option('--image=', name('Image of the nodes')),
        wait: option('--wait=', name('How long until it is ready: 2m')),
      },
    }),
    load: action('Load an image into kind', 'Gives a local image to the nodes.', writes, {
      run: ['load', 'docker-image'],
      params: { cluster, image },
      given: { image: 'shop:dev' },
    }),
    delete: action('Delete a kind cluster', 'Deletes a cluster with all in it.', ['destroy'], {
      run: ['delete', 'cluster'],
      params: { cluster },
    }),
  },
});

const minikube = program('minikube', {
  ...shared,
  title: 'minikube',
  site: 'https://minikube.sigs.k8s.io/docs/commands',
  get: { brew: 'minikube', winget: 'Kubernetes.minikube', site: 'https://minikube.sigs.k8s.io/docs/start' },
  version: { args: ['version', '--short'], pattern: /v(\d\S*)/ },
  settings: { MINIKUBE_IN_STYLE: 'false', MINIKUBE_WANTUPDATENOTIFICATION: 'false' },
  actions: {
    list: action('List minikube clusters', 'Local Kubernetes clusters with their states.', reads, {
      run: ['profile', 'list', '--output=json'],
      out: entries('cluster')(
        json(z.object({ valid: z.array(state), invalid: z.array(state).default([]) }), ({ valid, invalid }) =>
          [...valid, ...invalid].map((one) => ({ name: one.Name, says: one.Status ?? 'invalid' })),
        ),
      ),
    }),
    status: action('Show a minikube cluster', 'What of a cluster runs.', reads, {
      run: ['status'],
      params: { profile },
      // Bits for what does not run.
      ok: [0, 1, 2, 3, 4, 5, 6, 7],
    }),
    start: action('Start a minikube cluster', 'Makes or starts a local Kubernetes cluster.', makes, {
      run: ['start', '--interactive=false'],
      params: {
        profile,
        nodes: option('--nodes=', z.int().min(1).max(20).describe('How many')),
        driver: option('--driver=', name('docker, kvm2, …')),
      },
    }),
    stop: action('Stop a minikube cluster', 'Stops a cluster and keeps it.', writes, {
      run: ['stop'],
      params: { profile },
    }),
    load: action('Load an image into minikube', 'Gives a local image to the cluster.', writes, {
      run: ['image', 'load'],
      params: { profile, image },
      given: { image: 'shop:dev' },
    }),
    delete: action('Delete a minikube cluster', 'Deletes a cluster with all in it.', ['destroy'], {
      run: ['delete'],
      params: { profile },
    }),
  },
});

export default [kind, minikube];
