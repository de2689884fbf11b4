import { startEngine } from '../discoverers/container-engine.ts';
import type { ProgramTrial } from './types.ts';

/** Calls of a container engine; box:1 is there, a registry is not. */
const calls: ProgramTrial['calls'] = [
  ['images', {}, /box:1 /],
  ['images', { repository: 'nothing' }, /^no images/],
  ['ps', {}, /^no containers/],
  ['volumes', {}, /^no volumes/],
  ['build', { tag: 'shop:dev', build_args: ['WHO=Ada'] }, /hello Ada|shop:dev/],
  ['build', { dockerfile: 'nope' }, /NOT_FOUND|no such file/i],
  ['run', { image: 'box:1', argv: ['echo', 'a b', '--c'] }, /^a b --c/],
  ['run', { image: 'shop:dev', network: 'none', variables: ['A=b c'], argv: ['env'] }, /^A=b c$/m],
  [
    'run',
    {
      image: 'box:1',
      detach: true,
      name: 'web',
      argv: ['sh', '-c', 'echo out; sleep 0.1; echo err >&2; sleep 600'],
    },
    /^[\da-f]{12}/,
  ],
  ['ps', {}, /^1 container\nweb running .*box:1/],
  ['inspect', { container: 'web' }, /^name: \/?web\n[^]*state: running/],
  ['exec', { container: 'web', argv: ['ls', '/bin'] }, /busybox\necho/],
  ['exec', { container: 'web', argv: ['sleep', '1'] }, /./],
  ['logs', { container: 'web' }, /^out\nerr$/m],
  ['logs', { container: 'nope' }, /^PROGRAM_FAILED/],
  ['restart', { containers: ['web'] }, /^1 container\nweb .*(?:running|up)/i],
  ['remove', { containers: ['web'] }, /PROGRAM_FAILED/],
  ['remove', { containers: ['web'], force: true }, /^no containers/],
  ['rmi', { images: ['shop:dev'] }, /box:1/],
  ['prune', { what: 'volume' }, /done|Total reclaimed/i],
  ['pull', { image: 'localhost:1/nothing:1' }, /PROGRAM_FAILED[^]*(?:refused|dial)/],
  ['ps_all', {}, /^no containers/],
  ['run', { image: 'box:1', detach: true, name: 'gone', argv: ['sleep', '600'] }, /./],
  ['stop', { containers: ['gone'] }, /containers/],
  ['start', { containers: ['gone'] }, /PROGRAM_FAILED/],
];
const box = { Dockerfile: 'FROM box:1\nARG WHO\nRUN echo "hello $WHO" >/said\n' };

export default [
  {
    program: 'podman',
    from: { apt: 'podman runc busybox-static' },
    start: () => startEngine('podman'),
    files: box,
    calls,
  },
  {
    program: 'docker',
    from: { apt: 'docker.io busybox-static' },
    start: () => startEngine('docker'),
    broken: { env: { DOCKER_HOST: 'unix:///nowhere/docker.sock' } },
    files: box,
    calls,
  },
  {
    program: 'compose',
    from: { apt: 'docker.io docker-compose busybox-static' },
    start: () => startEngine('docker'),
    broken: { env: { DOCKER_HOST: 'unix:///nowhere/docker.sock' } },
    files: {
      ...box,
      'compose.yaml': `services:
  web: { image: "box:1", container_name: shop-web, network_mode: host, command: [sh, -c, "echo up; sleep 600"] }
  built: { build: ., network_mode: none, command: [echo, once] }
`,
      'bad.yaml': 'services: [',
    },
    // Debian's is Compose 1, which lists nothing as JSON: what it says is shown in place of a list.
    calls: [
      ['services', {}, /^2 services\n(?:web\nbuilt|built\nweb)$/],
      ['check', {}, /done|valid/],
      ['check', { file: 'bad.yaml' }, /PROGRAM_FAILED[^]*bad\.yaml/],
      ['build', { services: ['built'] }, /done|built/i],
      ['up', { services: ['web'] }, /^1 container\nshop-web |Creating shop-web/],
      ['ps', {}, /shop-web |Usage: ps/],
      ['logs', { services: ['web'] }, /up/],
      ['exec', { service: 'web', argv: ['echo', 'in here'] }, /^in here/],
      ['run', { service: 'built', argv: ['echo', 'a b'] }, /a b/],
      ['restart', { services: ['web'] }, /^1 container\nshop-web |Restarting shop-web/],
      ['stop', { services: ['web'] }, /shop-web .*exited|Stopping shop-web/],
      ['down', {}, /^no containers|Removing shop-web/],
    ],
  },
] satisfies ProgramTrial[];
