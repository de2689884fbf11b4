import * as z from 'zod';
import {
  action,
  limit,
  list,
  on,
  operand,
  option,
  type Output,
  path,
  program,
  saidAfter,
  variable,
  words,
} from '../core/grammar.ts';
import { containers, entries } from './reports/kinds.ts';
import { lines } from './reports/readers.ts';
import { dockers, engine, moment, objects, stateOf, word } from './shared/engine.ts';
import { changes, loses, makes, reaches, reads, runs, writes } from './shared/programs.ts';

const text = z.string().default('');
const publisher = z.object({
  URL: text,
  TargetPort: z.int(),
  PublishedPort: z.int(),
  Protocol: z.string().default('tcp'),
});
const service = z.object({
  Name: z.string(),
  Service: z.string(),
  Image: text,
  State: text,
  Health: text,
  ExitCode: z.int().default(0),
  Publishers: z.array(publisher).nullish(),
});
const found = objects(service, ({ Health, State, ExitCode, ...one }) => ({
  name: one.Name,
  image: one.Image,
  state: stateOf(State, State === 'exited' ? `(${ExitCode})` : Health && `(${Health})`),
  ports: (one.Publishers ?? [])
    .map(({ URL = '', PublishedPort, TargetPort, Protocol }) =>
      PublishedPort ? `${URL}:${PublishedPort}->${TargetPort}/${Protocol}` : `${TargetPort}/${Protocol}`,
    )
    .join(', '),
}));

const file = variable('COMPOSE_FILE', path('Compose file in place of the usual ones', 'file'));
const services = operand(list(word('Service'), 'Default: all'));
const oneService = operand(word('Service'));
const command = words('Program and its arguments');
const ofServices = { params: { file, services }, given: { services: ['web'] } };
const changed = {
  steps: { after: { now: () => ['ps', '--all', '--format=json'] } },
  out: containers((output: Output) => found({ ...output, stdout: saidAfter(output, 'now') })),
};

export default program('compose', {
  ...engine,
  title: 'Docker Compose',
  site: 'https://docs.docker.com/reference/cli/docker/compose/',
  get: { apt: 'docker-compose', brew: 'docker-compose', winget: 'Docker.DockerDesktop' },
  called: ['docker compose', 'docker-compose'],
  version: { args: ['version', '--short'], pattern: /v?(\d+\.\d[\w.+-]*)/ },
  elsewhere: dockers,
  project: ['compose.yaml', 'compose.yml', 'docker-compose.yaml', 'docker-compose.yml'],
  environment: [...engine.environment, 'COMPOSE_PROFILES', 'COMPOSE_PROJECT_NAME'],
  settings: {
    ...engine.settings,
    COMPOSE_ANSI: 'never',
    // Or a Compose file could name an address that any command fetches it from.
    COMPOSE_EXPERIMENTAL_GIT_REMOTE: 'false',
    COMPOSE_EXPERIMENTAL_OCI_REMOTE: 'false',
  },
  // A Compose file can name files anywhere, and the .env beside it another machine, whatever is asked.
  inspect: () =>
    Promise.resolve({ trust: 'lets Docker Compose read all that the files of this project name' }),
  hints: [
    ...engine.hints,
    { says: /no configuration file provided/i, wayOut: 'Give the folder that has the compose.yaml as cwd.' },
  ],
  actions: {
    ps: action('List Compose containers', 'Containers of the project with state, health, ports.', reads, {
      ...ofServices,
      run: ['ps', '--all', '--format=json'],
      out: containers(found),
    }),
    services: action('List Compose services', 'Names of the services the project defines.', reads, {
      run: ['config', '--services'],
      params: { file },
      out: entries('service')(lines(/^(?<name>\S+)$/, ({ name: key = '' }) => ({ name: key }))),
    }),
    check: action('Check Compose files', 'Whether the Compose files are valid; what is wrong.', reads, {
      run: ['config', '--quiet'],
      params: { file },
    }),
    logs: action('Show Compose logs', 'The last lines the services wrote.', reads, {
      run: ['logs', '--no-color'],
      params: {
        file,
        tail: option('--tail=', limit(5000, 100)),
        since: option('--since=', moment('From: 10m, or 2025-01-31T12:00:00')),
        services,
      },
      given: { services: ['web'] },
    }),
    build: action('Build Compose images', 'Builds the images of services.', reaches, {
      run: ['build'],
      params: { file, no_cache: on('--no-cache', 'Build every layer anew'), services },
      given: { services: ['web'] },
    }),
    up: action('Start Compose services', 'Creates and starts containers; builds what is missing.', makes, {
      run: ['up', '--detach', '--quiet-pull'],
      params: {
        file,
        build: on('--build', 'Build images first'),
        wait: on('--wait', 'Until services run and are healthy'),
        services,
      },
      given: { services: ['db'], wait: true },
      ...changed,
    }),
    down: action('Stop and remove Compose containers', 'Volumes stay unless told.', loses, {
      run: ['down', '--remove-orphans'],
      params: { file, volumes: on('--volumes', 'Also volumes, with their data') },
      ...changed,
    }),
    stop: action('Stop Compose services', 'Stops containers and keeps them.', writes, {
      run: ['stop'],
      ...ofServices,
      ...changed,
    }),
    restart: action('Restart Compose services', 'Stops containers and starts them again.', changes, {
      run: ['restart'],
      ...ofServices,
      ...changed,
    }),
    exec: action('Run a program in a service', 'Runs one program in a running Compose service.', runs, {
      run: ({ service, argv }) => ['exec', '-T', '--', service, argv],
      params: { file, service: oneService, argv: command },
      given: { service: 'db', argv: ['psql', '--version'] },
    }),
    run: action('Run a command in a new service container', 'Removed when it ends.', reaches, {
      run: ({ service, argv }) => ['run', '--rm', '-T', '--', service, argv],
      params: { file, service: oneService, argv: command },
      given: { service: 'web', argv: ['npm', 'test'] },
    }),
  },
});
