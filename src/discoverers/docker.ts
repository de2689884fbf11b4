import * as z from 'zod';
import { defineDiscoverer } from '../core/discoverer.ts';
import { elsewhere, environment, hints, programs } from './docker-program.ts';
import { flag, limit, list, name, path } from '../core/params.ts';
import {
  container,
  containerDetails,
  image,
  inspected,
  jsonLines,
  listedContainers,
  listedImages,
  measured,
  usage,
} from './docker-output.ts';

// No `run` and no `create`: volumes, devices and privileges would hand out the machine. Which daemon is asked is up to
// the operator (DOCKER_HOST, DOCKER_CONTEXT), so there is no parameter for it.
const word = (what: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,254}$/, 'expected a name or id')
    .describe(what);
const imageName = (what: string) =>
  z
    .string()
    .regex(/^[A-Za-z0-9][\w./:@-]{0,254}$/, 'expected the name of an image')
    .describe(what);
const moment = (what: string) =>
  z
    .string()
    .regex(/^\d[\dA-Za-z:.+-]{0,40}$/, 'expected a duration like 10m or a date like 2025-01-31T12:00:00')
    .describe(what);
const oneContainer = word('Container name or id');
const containers = z.array(oneContainer).min(1).max(50).describe('Container names or ids');
const asJson = ['--format', '{{json .}}'] as const;

export const docker = defineDiscoverer({
  id: 'docker',
  title: 'Docker',
  category: 'container',
  homepage: 'https://docs.docker.com/reference/cli/docker/',
  programs,
  version: { args: ['--version'], pattern: /^Docker version ([\w.+-]+)/ },
  elsewhere,
  install: {
    linux: 'https://docs.docker.com/engine/install/',
    darwin: 'brew install --cask docker',
    win32: 'winget install Docker.DockerDesktop',
  },
  signals: { files: ['Dockerfile', '.dockerignore'] },
  environment: [...environment, 'DOCKER_BUILDKIT', 'BUILDX_BUILDER'],
  settings: { BUILDKIT_PROGRESS: 'plain' },
  hints,

  actions: {
    ps: {
      title: 'List containers',
      description: 'Running containers with image, state and ports; stopped ones too when asked.',
      effects: ['read'],
      params: { all: flag('Also those that do not run') },
      argv: ['ps', { flag: '--all', param: 'all' }, ...asJson],
      example: { given: { all: true }, runs: "docker ps --all --format '{{json .}}'" },
      result: z.object({ containers: z.array(container) }),
      parse: (stdout) => ({ containers: listedContainers(stdout) }),
    },
    images: {
      title: 'List images',
      description: 'Images on this machine with tag and size.',
      effects: ['read'],
      params: { repository: imageName('Only of this repository, or repository:tag').optional() },
      argv: ['images', ...asJson, '--', { param: 'repository' }],
      example: { given: { repository: 'postgres' }, runs: "docker images --format '{{json .}}' -- postgres" },
      result: z.object({ images: z.array(image) }),
      parse: (stdout) => ({ images: listedImages(stdout) }),
    },
    logs: {
      title: 'Show container logs',
      description: 'The last lines a container wrote.',
      effects: ['read'],
      params: {
        container: oneContainer,
        tail: limit(5000, 200),
        since: moment('From: 10m, or 2025-01-31T12:00:00').optional(),
        until: moment('To').optional(),
        timestamps: flag('Begin each line with its time'),
      },
      argv: [
        'logs',
        { option: '--tail', param: 'tail' },
        { option: '--since', param: 'since' },
        { option: '--until', param: 'until' },
        { flag: '--timestamps', param: 'timestamps' },
        '--',
        { param: 'container' },
      ],
      example: {
        given: { container: 'web', since: '10m' },
        runs: 'docker logs --tail 200 --since 10m -- web',
      },
    },
    inspect: {
      title: 'Inspect a container',
      description:
        'State, command, ports, mounts and networks of a container; names of its variables, not their values.',
      effects: ['read'],
      params: { container: oneContainer },
      argv: ['container', 'inspect', '--', { param: 'container' }],
      example: { given: { container: 'web' }, runs: 'docker container inspect -- web' },
      result: containerDetails,
      parse: inspected,
    },
    stats: {
      title: 'Show container resource use',
      description: 'CPU, memory and traffic of running containers, once.',
      effects: ['read'],
      params: { containers: list(oneContainer, 'Default: all that run') },
      argv: ['stats', '--no-stream', ...asJson, '--', { each: 'containers' }],
      example: {
        given: { containers: ['web'] },
        runs: "docker stats --no-stream --format '{{json .}}' -- web",
      },
      result: z.object({ containers: z.array(usage) }),
      parse: (stdout) => ({ containers: jsonLines(stdout).map(measured) }),
    },
    build: {
      title: 'Build an image',
      description: 'Builds an image from a Dockerfile.',
      effects: ['execute', 'network'],
      params: {
        context: path('Build context', 'folder').default('.'),
        dockerfile: path('Default: Dockerfile in the context', 'file').optional(),
        tag: imageName('name:tag of the image').optional(),
        target: word('Stage to build').optional(),
        build_args: list(
          z
            .string()
            .max(2000)
            .regex(/^(?!BUILDKIT_)[A-Za-z_]\w*=[^\0]*$/, 'expected NAME=value'),
          'NAME=value',
        ),
        no_cache: flag('Build every layer anew'),
        pull: flag('Fetch newer base images'),
      },
      argv: [
        'build',
        { option: '--file', param: 'dockerfile' },
        { option: '--tag', param: 'tag' },
        { option: '--target', param: 'target' },
        { each: 'build_args', option: '--build-arg' },
        { flag: '--no-cache', param: 'no_cache' },
        { flag: '--pull', param: 'pull' },
        '--',
        { param: 'context' },
      ],
      example: {
        given: { tag: 'shop:dev', build_args: ['NODE_VERSION=22'] },
        runs: 'docker build --tag shop:dev --build-arg NODE_VERSION=22 -- .',
      },
    },
    exec: {
      title: 'Run a program in a container',
      description: 'Runs one program, without a shell, in a running container.',
      effects: ['execute'],
      params: {
        container: oneContainer,
        argv: z.array(z.string().max(10_000)).min(1).max(200).describe('Program and its arguments'),
        workdir: name('Folder inside the container').optional(),
        user: word('User inside the container').optional(),
      },
      argv: [
        'exec',
        { option: '--workdir', param: 'workdir' },
        { option: '--user', param: 'user' },
        '--',
        { param: 'container' },
        { rest: 'argv' },
      ],
      example: {
        given: { container: 'web', argv: ['ls', '-la', '/srv'] },
        runs: 'docker exec -- web ls -la /srv',
      },
    },
    start: {
      title: 'Start containers',
      description: 'Starts stopped containers.',
      effects: ['write', 'execute'],
      params: { containers },
      argv: ['start', '--', { each: 'containers' }],
      example: { given: { containers: ['web'] }, runs: 'docker start -- web' },
    },
    stop: {
      title: 'Stop containers',
      description: 'Stops running containers.',
      effects: ['write'],
      params: { containers },
      argv: ['stop', '--', { each: 'containers' }],
      example: { given: { containers: ['web', 'db'] }, runs: 'docker stop -- web db' },
    },
    restart: {
      title: 'Restart containers',
      description: 'Stops containers and starts them again.',
      effects: ['write', 'execute'],
      params: { containers },
      argv: ['restart', '--', { each: 'containers' }],
      example: { given: { containers: ['web'] }, runs: 'docker restart -- web' },
    },
    pull: {
      title: 'Pull an image',
      description: 'Downloads an image from its registry.',
      effects: ['write', 'network'],
      params: { image: imageName('name:tag or name@digest') },
      argv: ['pull', '--quiet', '--', { param: 'image' }],
      example: { given: { image: 'postgres:16' }, runs: 'docker pull --quiet -- postgres:16' },
    },
    remove: {
      title: 'Remove containers',
      description: 'Deletes stopped containers with everything written inside them; volumes stay.',
      effects: ['destroy'],
      params: { containers },
      argv: ['rm', '--', { each: 'containers' }],
      example: { given: { containers: ['old'] }, runs: 'docker rm -- old' },
    },
  },
});
