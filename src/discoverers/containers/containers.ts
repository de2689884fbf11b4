import * as z from 'zod';
import {
  action,
  aside,
  choice,
  family,
  limit,
  list,
  matching,
  name,
  on,
  operand,
  option,
  type Output,
  type Params,
  path,
  type Program,
  saidAfter,
  some,
  told,
  words,
} from '../../core/grammar.ts';
import { containers, entries, images } from '../reports/kinds.ts';
import { records } from '../reports/readers.ts';
import { assignments, dockers, engine, imageName, mergedLogs, moment, word } from '../shared/engine.ts';
import { docker, podman, type EngineReaders } from './output.ts';
import { fetches, reaches, reads, runs } from '../shared/programs.ts';

type ContainerRow = EngineReaders & Pick<Program, 'title' | 'site' | 'get' | 'elsewhere' | 'project'>;

const container = operand(word('Container name or id'));
const several = { containers: operand(some(word('Name or id'), 'Containers')) };
const port = /^(?:127\.0\.0\.1:)?\d{1,5}:\d{1,5}(?:\/(?:tcp|udp))?$/;
const published = matching(port, '127.0.0.1:8080:80 or 8080:80', 'Port');
const what = choice(
  { container: 'container', image: 'image', volume: 'volume', network: 'network', system: 'system' },
  'Which; system: all but volumes',
);
const command = words('Program in the container, and its arguments');

/** One fact a line; of variables the names only, since values can be secrets. */
const facts = [
  'name: {{.Name}}',
  'image: {{.Config.Image}}',
  'state: {{.State.Status}}{{with .State.Health}} ({{.Status}}){{end}}, exit code ' +
    '{{.State.ExitCode}} {{.State.Error}}',
  'started: {{.State.StartedAt}}, {{.RestartCount}} restarts',
  'command: {{.Path}} {{join .Args " "}}',
  'ports: {{json .NetworkSettings.Ports}}',
  'mounts: {{range .Mounts}}{{.Source}} at {{.Destination}}; {{end}}',
  'networks: {{range $name, $_ := .NetworkSettings.Networks}}{{$name}} {{end}}',
  'variables: {{range .Config.Env}}{{index (split . "=") 0}} {{end}}',
].join('\n');

const looking = ({ title, json: asJson, ...row }: ContainerRow): Program['actions'] => ({
  ps: action(`List running ${title} containers`, 'Containers that run, with image, state and ports.', reads, {
    run: ['ps', asJson],
    out: containers(row.ps),
  }),
  ps_all: action(`List all ${title} containers`, 'Containers with their states, stopped ones too.', reads, {
    run: ['ps', '--all', asJson],
    out: containers(row.ps),
  }),
  images: action(`List ${title} images`, 'Images on this machine with tag and size.', reads, {
    run: ['images', asJson],
    params: { repository: operand(imageName('Only of this repository, or repository:tag').optional()) },
    out: images(row.images),
  }),
  logs: action(`Show ${title} container logs`, 'The last lines a container wrote, in order.', reads, {
    // The times tell which line of the two streams came first.
    run: ['logs', '--timestamps'],
    params: {
      tail: option('--tail=', limit(5000, 200)),
      since: option('--since=', moment('From: 10m, or 2025-01-31T12:00:00')),
      until: option('--until=', moment('To')),
      timestamps: aside(z.boolean().default(false).describe('Begin each line with its time')),
      container,
    },
    given: { container: 'web', since: '10m' },
    out: told(mergedLogs),
  }),
  inspect: action(`Inspect a ${title} container`, 'State, ports, mounts; of variables names only.', reads, {
    run: ['container', 'inspect', `--format=${facts}`],
    params: { container },
    given: { container: 'web' },
  }),
});

const running = ({ title }: ContainerRow): Program['actions'] => ({
  run: action(`Run a ${title} image`, 'Without folders or rights of this machine.', reaches, {
    run: ['run', '--rm', '--security-opt=no-new-privileges'],
    params: {
      detach: on('--detach', 'In the background'),
      name: option('--name=', word('Name of the container')),
      network: choice({ usual: [], none: '--network=none' }, 'Network'),
      publish: option('--publish=', list(published, 'Ports: 127.0.0.1:8080:80')),
      variables: option('--env=', assignments('Variables: NAME=value')),
      image: operand(imageName('Image')),
      argv: command,
    },
    given: {
      image: 'postgres:17',
      detach: true,
      publish: ['127.0.0.1:5432:5432'],
      variables: ['PGUSER=x'],
    },
  }),
  exec: action(`Run a program in a ${title} container`, 'Runs one program in a running container.', runs, {
    run: ['exec'],
    params: {
      workdir: option('--workdir=', name('Folder inside the container')),
      container,
      argv: command,
    },
    given: { container: 'web', argv: ['ls', '-la', '/srv'] },
  }),
  build: action(`Build a ${title} image`, 'Builds an image from a Dockerfile.', reaches, {
    run: ['build'],
    params: {
      dockerfile: option('--file=', path('Default: Dockerfile in the context', 'file')),
      tag: option('--tag=', imageName('name:tag of the image')),
      target: option('--target=', word('Stage to build')),
      build_args: option('--build-arg=', assignments('NAME=value')),
      no_cache: on('--no-cache', 'Build every layer anew'),
      context: operand(path('Build context', 'folder').default('.')),
    },
    given: { tag: 'shop:dev', build_args: ['NODE_VERSION=22'] },
  }),
});

/** The containers that were asked about, as they are now; all of them when none of these is left. */
const afterwards = ({ ps }: ContainerRow) =>
  containers((output: Output) => {
    const all = ps({ ...output, stdout: saidAfter(output, 'now') }) as { name: string; id?: string }[];
    const asked = output.values['containers'] as string[];
    const left = all.filter(({ name: key, id }) => asked.some((one) => key === one || id?.startsWith(one)));
    return (left.length > 0 ? left : all) as never;
  });

const changing = (row: ContainerRow): Program['actions'] => {
  const { title, json: asJson } = row;
  const steps = { after: { now: () => ['ps', '--all', asJson] } };
  const out = afterwards(row);
  const given = { containers: ['web'] };
  const change = (verb: string, says: string, effects: Parameters<typeof action>[2], more: Params = {}) =>
    action(`${verb} ${title} containers`, says, effects, {
      run: [verb === 'Remove' ? 'rm' : verb.toLowerCase()],
      params: { ...more, ...several } as typeof several,
      given,
      steps,
      out,
    });
  return {
    start: change('Start', 'Starts stopped containers.', ['write', 'execute']),
    stop: change('Stop', 'Stops running containers.', ['write']),
    restart: change('Restart', 'Stops containers and starts them again.', ['write', 'execute']),
    remove: change(
      'Remove',
      'Deletes containers with everything written inside them; named volumes stay.',
      ['destroy'],
      {
        force: on('--force', 'Also those that run'),
      },
    ),
  };
};

const changingImages = ({ title, json: asJson, images: read }: ContainerRow): Program['actions'] => {
  return {
    pull: action(`Pull a ${title} image`, 'Downloads an image from its registry.', fetches, {
      run: ['pull', '--quiet'],
      params: { image: operand(imageName('name:tag or name@digest')) },
      given: { image: 'postgres:16' },
    }),
    rmi: action(`Remove ${title} images`, 'Deletes images that no container uses.', ['destroy'], {
      steps: { after: { now: () => ['images', asJson] } },
      out: images((output) => read({ ...output, stdout: saidAfter(output, 'now') })),
      run: ['rmi'],
      params: { images: operand(some(imageName('Image'), 'Names or ids')) },
      given: { images: ['shop:old'] },
    }),
  };
};

const using = ({ title }: ContainerRow): Program['actions'] => ({
  volumes: action(`List ${title} volumes`, 'Volumes that keep data of containers.', reads, {
    run: ['volume', 'ls', '--format={{.Name}}\t{{.Driver}}'],
    out: entries('volume')(records(2, (key, says) => ({ name: key, says }))),
  }),
  prune: action(`Prune unused ${title} data`, 'Deletes all that is not used, of one sort.', ['destroy'], {
    run: ({ what }) => [what, 'prune', '--force'],
    params: { what },
  }),
});

export default family<ContainerRow>(
  {
    docker: {
      title: 'Docker',
      site: 'https://docs.docker.com/reference/cli/docker',
      get: { apt: 'docker.io', brew: '--cask docker', winget: 'Docker.DockerDesktop' },
      elsewhere: dockers,
      project: ['Dockerfile', '.dockerignore'],
      ...docker,
    },
    podman: {
      title: 'Podman',
      site: 'https://docs.podman.io',
      get: { apt: 'podman', brew: 'podman', winget: 'RedHat.Podman' },
      project: ['Containerfile'],
      ...podman,
    },
  },
  (row) => {
    const { title, site, get, elsewhere, project } = row;
    return {
      title,
      site,
      get,
      ...(elsewhere && { elsewhere }),
      ...(project && { project }),
      ...engine,
      actions: { ...looking(row), ...running(row), ...changing(row), ...changingImages(row), ...using(row) },
    };
  },
);
