import * as z from 'zod';
import { defineDiscoverer } from '../core/discoverer.ts';
import { elsewhere, environment, hints, programs } from './docker-program.ts';
import { flag, limit, list, name, path } from '../core/params.ts';
import { jsonLines } from './docker-output.ts';

const service = z
  .string()
  .regex(/^[A-Za-z0-9][\w.-]{0,254}$/, 'expected the name of a service')
  .describe('Service');
const files = list(path('Compose file', 'file'), 'Compose files, instead of the usual ones');
const services = list(service, 'Default: all');
const chosenFiles = { each: 'files', option: '--file' } as const;

/** Compose V2, the plugin of the docker command. V1, `docker-compose`, has had no fixes since 2023 and is left out. */
export const compose = defineDiscoverer({
  id: 'compose',
  title: 'Docker Compose',
  category: 'container',
  homepage: 'https://docs.docker.com/reference/cli/docker/compose/',
  programs,
  version: { args: ['compose', 'version', '--short'], pattern: /^v?(\d[\w.+-]*)/ },
  elsewhere,
  install: {
    linux: 'https://docs.docker.com/compose/install/linux/',
    darwin: 'brew install --cask docker',
    win32: 'winget install Docker.DockerDesktop',
  },
  signals: { files: ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'] },
  environment: [...environment, 'COMPOSE_PROFILES', 'COMPOSE_PROJECT_NAME'],
  // Any command reads the project's files, and an `include` or `extends` there may name a git or OCI address, which
  // Compose would fetch. With these set, a project's .env cannot allow it again.
  settings: {
    COMPOSE_EXPERIMENTAL_GIT_REMOTE: 'false',
    COMPOSE_EXPERIMENTAL_OCI_REMOTE: 'false',
    COMPOSE_ANSI: 'never',
    BUILDKIT_PROGRESS: 'plain',
  },
  prefix: ['compose'],
  // A Compose file can name files anywhere, and the .env beside it another machine, whatever is asked.
  inspect: () =>
    Promise.resolve({ trust: 'lets Docker Compose read all that the files of this project name' }),
  hints: [
    ...hints,
    { says: /no configuration file provided/, wayOut: 'Give the folder that has the compose.yaml as cwd.' },
  ],

  actions: {
    ps: {
      title: 'List Compose containers',
      description: 'Containers of the project with state, health and ports.',
      effects: ['read'],
      params: { files, all: flag('Also those that do not run'), services },
      argv: [
        chosenFiles,
        'ps',
        { flag: '--all', param: 'all' },
        '--format',
        'json',
        '--',
        { each: 'services' },
      ],
      example: { given: { all: true }, runs: 'docker compose ps --all --format json --' },
      result: z.object({
        containers: z.array(
          z.object({
            name: z.string(),
            service: z.string(),
            image: z.string(),
            state: z.string(),
            status: z.string(),
            health: z.string(),
            exit_code: z.number(),
            ports: z.array(z.string()),
          }),
        ),
      }),
      parse: (stdout) => ({ containers: jsonLines(stdout).map(composeContainer) }),
    },
    services: {
      title: 'List Compose services',
      description: 'Names of the services the project defines.',
      effects: ['read'],
      params: { files },
      argv: [chosenFiles, 'config', '--services'],
      example: { runs: 'docker compose config --services' },
      result: z.object({ services: z.array(z.string()) }),
      parse: (stdout) => ({ services: stdout.split(/\r?\n/).filter((line) => line !== '') }),
    },
    images: {
      title: 'List Compose images',
      description: 'Images of the project’s containers.',
      effects: ['read'],
      params: { files, services },
      argv: [chosenFiles, 'images', '--', { each: 'services' }],
      example: { given: { services: ['web'] }, runs: 'docker compose images -- web' },
    },
    logs: {
      title: 'Show Compose logs',
      description: 'The last lines the services wrote.',
      effects: ['read'],
      params: {
        files,
        services,
        tail: limit(5000, 100),
        since: z
          .string()
          .regex(/^\d[\dA-Za-z:.+-]{0,40}$/, 'expected a duration like 10m or a date')
          .optional()
          .describe('From: 10m, or 2025-01-31T12:00:00'),
        timestamps: flag('Begin each line with its time'),
      },
      argv: [
        chosenFiles,
        'logs',
        '--no-color',
        { option: '--tail', param: 'tail' },
        { option: '--since', param: 'since' },
        { flag: '--timestamps', param: 'timestamps' },
        '--',
        { each: 'services' },
      ],
      example: { given: { services: ['web'] }, runs: 'docker compose logs --no-color --tail 100 -- web' },
    },
    build: {
      title: 'Build Compose images',
      description: 'Builds the images of services.',
      effects: ['execute', 'network'],
      params: {
        files,
        services,
        no_cache: flag('Build every layer anew'),
        pull: flag('Fetch newer base images'),
      },
      argv: [
        chosenFiles,
        'build',
        { flag: '--no-cache', param: 'no_cache' },
        { flag: '--pull', param: 'pull' },
        '--',
        { each: 'services' },
      ],
      example: { given: { services: ['web'] }, runs: 'docker compose build -- web' },
    },
    up: {
      title: 'Start Compose services',
      description: 'Creates and starts containers in the background, pulling and building what is missing.',
      effects: ['write', 'execute', 'network'],
      params: {
        files,
        services,
        build: flag('Build images first'),
        wait: flag('Until services run and are healthy'),
      },
      argv: [
        chosenFiles,
        'up',
        '--detach',
        '--quiet-pull',
        { flag: '--build', param: 'build' },
        { flag: '--wait', param: 'wait' },
        '--',
        { each: 'services' },
      ],
      example: {
        given: { services: ['db'], wait: true },
        runs: 'docker compose up --detach --quiet-pull --wait -- db',
      },
    },
    down: {
      title: 'Stop and remove Compose containers',
      description: 'Stops the project and removes its containers and networks; volumes and images stay.',
      effects: ['write'],
      params: { files, remove_orphans: flag('Also containers of services no longer defined') },
      argv: [chosenFiles, 'down', { flag: '--remove-orphans', param: 'remove_orphans' }],
      example: { runs: 'docker compose down' },
    },
    stop: {
      title: 'Stop Compose services',
      description: 'Stops containers and keeps them.',
      effects: ['write'],
      params: { files, services },
      argv: [chosenFiles, 'stop', '--', { each: 'services' }],
      example: { given: { services: ['web'] }, runs: 'docker compose stop -- web' },
    },
    restart: {
      title: 'Restart Compose services',
      description: 'Stops containers and starts them again, without changes of the Compose file.',
      effects: ['write', 'execute'],
      params: { files, services },
      argv: [chosenFiles, 'restart', '--', { each: 'services' }],
      example: { given: { services: ['web'] }, runs: 'docker compose restart -- web' },
    },
    exec: {
      title: 'Run a program in a service',
      description: 'Runs one program, without a shell, in a running container of a service.',
      effects: ['execute'],
      params: {
        files,
        service,
        argv: z.array(z.string().max(10_000)).min(1).max(200).describe('Program and its arguments'),
        workdir: name('Folder inside the container').optional(),
      },
      argv: [
        chosenFiles,
        'exec',
        '-T',
        { option: '--workdir', param: 'workdir' },
        '--',
        { param: 'service' },
        { rest: 'argv' },
      ],
      example: {
        given: { service: 'db', argv: ['psql', '--version'] },
        runs: 'docker compose exec -T -- db psql --version',
      },
    },
  },
});

interface Publisher {
  URL?: string;
  TargetPort?: number;
  PublishedPort?: number;
  Protocol?: string;
}

function composeContainer(row: Record<string, unknown>) {
  const field = (key: string) => (typeof row[key] === 'string' ? row[key] : '');
  if (!field('Name') || !field('Service')) throw new Error('expected a container with Name and Service');
  const publishers = (row['Publishers'] ?? []) as Publisher[];
  return {
    name: field('Name'),
    service: field('Service'),
    image: field('Image'),
    state: field('State'),
    status: field('Status'),
    health: field('Health'),
    exit_code: Number(row['ExitCode'] ?? 0),
    ports: publishers.map(({ URL = '', TargetPort, PublishedPort, Protocol = 'tcp' }) =>
      PublishedPort ? `${URL}:${PublishedPort}->${TargetPort}/${Protocol}` : `${TargetPort}/${Protocol}`,
    ),
  };
}
