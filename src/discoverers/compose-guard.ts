import * as z from 'zod';
import type { Guard, Precautions } from '../core/discoverer.ts';
import { ToolcribError } from '../core/errors.ts';

/**
 * What services may say without getting more of this machine than its processors and its network's ports. Not the other
 * way round: a key that Compose learns tomorrow is one that a person is asked about.
 */
const ordinaryKeys: ReadonlySet<string> = new Set(
  [
    'image build command entrypoint environment ports expose networks depends_on healthcheck restart volumes',
    'working_dir user labels container_name hostname domainname stop_signal stop_grace_period init tty stdin_open',
    'read_only tmpfs shm_size mem_limit mem_reservation memswap_limit mem_swappiness cpus cpu_count cpu_percent',
    'cpu_shares cpu_quota cpu_period cpuset ulimits pids_limit logging deploy scale platform pull_policy profiles',
    'extra_hosts dns dns_search dns_opt env_file cap_drop secrets configs links external_links annotations attach',
    'develop mac_address storage_opt blkio_config post_start pre_stop sysctls group_add',
  ]
    .join(' ')
    .split(' '),
);

/** Values of other keys that give nothing away, or take something back. */
const harmlessValues: Readonly<Record<string, RegExp>> = {
  network_mode: /^(?:none|bridge|default|service:.*)$/,
  pid: /^service:/,
  ipc: /^(?:none|private|shareable|service:.*)$/,
  cgroup: /^private$/,
  security_opt: /^no-new-privileges(?:[:=]true)?$/,
};

/** Keys of a build, by the same rule. */
const ordinaryBuildKeys: ReadonlySet<string> = new Set(
  (
    'context dockerfile dockerfile_inline args target labels cache_from cache_to no_cache pull platforms tags shm_size ' +
    'additional_contexts secrets ssh extra_hosts ulimits provenance sbom'
  ).split(' '),
);

const record = z.record(z.string(), z.unknown());
const optionalRecord = record.nullish().transform((value) => value ?? {});
const project = z.looseObject({
  name: z.string().optional(),
  services: optionalRecord,
  volumes: optionalRecord,
  secrets: optionalRecord,
  configs: optionalRecord,
  networks: optionalRecord,
});

/** What a project asks of the machine: keys that need nothing but a name, and files and folders. */
interface Wanted {
  readonly keys: string[];
  readonly paths: { path: string; says: string }[];
  /** What is run to stop or start services that are there. */
  readonly runs: string[];
  readonly name: string | undefined;
}

/**
 * Compose's own reading of the project, with everything included, extended and filled in. It starts nothing and needs no
 * daemon. Without --no-env-resolution, which came with 2.30, files of variables cannot be told from what is in them.
 */
export const composeGuard = {
  argv: [
    { each: 'files', option: '--file' },
    'config',
    '--format',
    'json',
    '--no-env-resolution',
    '--',
    { each: 'services' },
  ],
  otherwise: {
    says: /unknown flag: --no-env-resolution/,
    argv: [{ each: 'files', option: '--file' }, 'config', '--format', 'json', '--', { each: 'services' }],
  },
  succeedsWith: [0],
  // What acts on services; a provider is a program of the project's choosing that is run to stop one, too.
  only: ['up', 'build', 'down', 'stop', 'restart', 'exec'],
  read: (stdout, { effects, home }) => precautionsFor(understood(stdout), effects.includes('network'), home),
} satisfies Guard;

function understood(stdout: string): Wanted {
  try {
    return wantedBy(JSON.parse(stdout));
  } catch (error) {
    throw new ToolcribError(
      'OUTPUT_UNREADABLE',
      `What the project would be given was not understood: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

function wantedBy(config: unknown): Wanted {
  const { name: called, services, volumes, secrets, configs, networks } = project.parse(config);
  const wanted: Wanted = { keys: [], paths: [], runs: [], name: called };
  for (const [name, service] of Object.entries(services)) lookAtService(name, record.parse(service), wanted);
  for (const [name, volume] of Object.entries(volumes)) lookAtVolume(name, volume, wanted);
  for (const [kind, files] of Object.entries({ secret: secrets, config: configs })) {
    for (const [name, file] of Object.entries(files)) {
      const { file: path } = fileOf.parse(file ?? {});
      if (path !== undefined) wanted.paths.push({ path, says: `${kind} ${name}` });
    }
  }
  for (const [name, network] of Object.entries(networks)) {
    const { driver, name: real } = networkOf.parse(network ?? {});
    // What it is called decides as well: the network "host" is the machine's own.
    if (driver !== undefined && !['bridge', 'default', 'none', 'overlay', ''].includes(driver))
      wanted.keys.push(`network ${name}: driver ${driver}`);
    if (real === 'host') wanted.keys.push(`network ${name}: the machine's own`);
  }
  return wanted;
}

/** `creates`: containers and images are made of what the project says; else those that are there are acted on. */
function precautionsFor(
  { keys, paths, runs, name }: Wanted,
  creates: boolean,
  home: string | undefined,
): Precautions {
  const isOthers = name !== undefined && home !== undefined && name !== usualName(home);
  const told = isOthers ? [`Compose project ${JSON.stringify(name)}, as its files call it`] : [];
  const common = {
    argv: [],
    env: {},
    notes: told.map((one) => `acts on the ${one}`),
    ...(told.length > 0 && { tells: [{ title: 'Acts on', text: told.join('\n') }] }),
  };
  if (!creates) {
    if (runs.length === 0) return { ...common, ...(isOthers && { adds: ['execute'] }) };
    const run = { title: 'Runs, because the project says so', text: runs.join('\n') };
    return { ...common, adds: ['execute'], tells: [...(common.tells ?? []), run] };
  }
  return {
    ...common,
    handsOut: paths,
    ...(keys.length > 0 && {
      shows: [{ title: 'Full access to this machine, or to a part of it', text: keys.join('\n') }],
    }),
  };
}

/** What Compose calls a project that has no name of its own: its containers are those of this folder. */
const usualName = (folder: string): string =>
  (/[^/\\]*$/.exec(folder)?.[0] ?? '')
    .toLowerCase()
    .replaceAll(/[^-_a-z0-9]/g, '')
    .replace(/^[-_]+/, '');

const fileOf = z.looseObject({ file: z.string().optional() });
const networkOf = z.looseObject({ driver: z.string().optional(), name: z.string().optional() });
const mountOf = z.looseObject({ type: z.string(), source: z.string().optional() });
const volumeOf = z.looseObject({ driver: z.string().optional(), driver_opts: optionalRecord });
const envFiles = z.array(z.union([z.string(), z.looseObject({ path: z.string() })])).nullish();
const hooks = z.array(z.looseObject({ privileged: z.boolean().optional() })).nullish();

function lookAtService(name: string, service: Record<string, unknown>, { keys, paths, runs }: Wanted): void {
  for (const [key, value] of Object.entries(service)) {
    if (!ordinaryKeys.has(key) && !key.startsWith('x-') && !isNothing(value) && !isHarmless(key, value))
      keys.push(`service ${name}: ${key} ${shortly(value)}`);
  }
  for (const mount of z.array(mountOf).parse(service['volumes'] ?? [])) {
    if (mount.type === 'bind') paths.push({ path: mount.source ?? '/', says: `service ${name} mounts` });
    else if (!['volume', 'tmpfs', 'image'].includes(mount.type))
      keys.push(`service ${name}: a mount of type ${mount.type}, ${mount.source ?? ''}`);
  }
  for (const file of envFiles.parse(service['env_file']) ?? [])
    paths.push({
      path: typeof file === 'string' ? file : file.path,
      says: `service ${name} reads variables`,
    });
  for (const kind of ['post_start', 'pre_stop']) {
    if ((hooks.parse(service[kind]) ?? []).some(({ privileged }) => privileged))
      keys.push(`service ${name}: ${kind} is privileged`);
  }
  for (const kind of ['provider', 'post_start', 'pre_stop'])
    if (!isNothing(service[kind])) runs.push(`service ${name}: ${kind} ${JSON.stringify(service[kind])}`);
  if (service['build'] !== undefined && service['build'] !== null)
    lookAtBuild(name, record.parse(service['build']), { keys, paths });
}

function isHarmless(key: string, value: unknown): boolean {
  const pattern = Object.hasOwn(harmlessValues, key) ? harmlessValues[key] : undefined;
  return pattern !== undefined && [value].flat().every((one) => typeof one === 'string' && pattern.test(one));
}

const addresses = /^(?:[a-z][a-z+.-]*:\/\/|git@|github\.com\/|docker-image:|oci-layout:|service:|target:)/i;

function lookAtBuild(
  name: string,
  build: Record<string, unknown>,
  { keys, paths }: Pick<Wanted, 'keys' | 'paths'>,
): void {
  for (const [key, value] of Object.entries(build)) {
    if (!ordinaryBuildKeys.has(key) && !key.startsWith('x-') && !isNothing(value))
      keys.push(`build of ${name}: ${key} ${shortly(value)}`);
  }
  if (!isNothing(build['ssh'])) keys.push(`build of ${name}: ssh ${shortly(build['ssh'])}`);
  for (const key of ['cache_from', 'cache_to']) {
    if (JSON.stringify(build[key] ?? '').includes('type=local'))
      keys.push(`build of ${name}: ${key} ${shortly(build[key])}`);
  }
  const { context = '.', dockerfile } = build;
  if (typeof dockerfile === 'string' && typeof context === 'string' && !addresses.test(context)) {
    const isAbsolute = /^(?:[/\\]|[a-z]:)/i.test(dockerfile);
    paths.push({
      path: isAbsolute ? dockerfile : `${context}/${dockerfile}`,
      says: `build of ${name} reads`,
    });
  }
  const named = record.parse(build['additional_contexts'] ?? {});
  for (const [called, place] of [['context', context] as const, ...Object.entries(named)]) {
    if (typeof place === 'string' && !addresses.test(place))
      paths.push({ path: place, says: `build of ${name} copies from (${called})` });
  }
}

/** A volume with a name can be a folder of the machine all the same. */
function lookAtVolume(name: string, volume: unknown, { keys, paths }: Wanted): void {
  const { driver = 'local', driver_opts: options } = volumeOf.parse(volume ?? {});
  if (driver !== 'local') keys.push(`volume ${name}: driver ${driver}`);
  const device = options['device'];
  if (typeof device === 'string' && /^[/~\\]|^[a-z]:/i.test(device))
    paths.push({ path: device, says: `volume ${name} is` });
  else if (!isNothing(options['device']) || !isNothing(options['o']))
    keys.push(`volume ${name}: ${shortly(options)}`);
}

/** Compose spells out some of what nobody has set. */
const isNothing = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const shortly = (value: unknown): string => JSON.stringify(value).slice(0, 200);
