import * as z from 'zod';
import type { Reader } from '../../core/report.ts';
import type { containers, images } from '../reports/kinds.ts';
import { json, records } from '../reports/readers.ts';
import { objects, stateOf } from '../shared/engine.ts';

type Items<K extends { result: z.ZodType }> = (z.input<K['result']> & { items: readonly unknown[] })['items'];
/** How an engine answers. */
export interface Answers {
  /** Asks for JSON. */
  json: string;
  ps: Reader<Items<typeof containers>>;
  images: Reader<Items<typeof images>>;
  stats: Reader<{ name: string; says: string }[]>;
}

const text = z.string().default('');
export const docker: Answers = {
  // Before Docker 23 the word json is a template without fields.
  json: '--format={{json .}}',
  ps: objects(
    z.object({ ID: z.string(), Names: z.string(), Image: text, State: text, Status: text, Ports: text }),
    (one) => ({
      id: one.ID,
      name: one.Names,
      image: one.Image,
      state: stateOf(one.State, one.Status),
      ports: one.Ports,
    }),
  ),
  images: objects(z.object({ ID: z.string(), Repository: z.string(), Tag: text, Size: text }), (one) => ({
    id: one.ID,
    name: one.Repository,
    tag: one.Tag,
    size: one.Size,
  })),
  stats: objects(z.object({ Name: z.string(), CPUPerc: text, MemUsage: text, NetIO: text }), (one) => ({
    name: one.Name,
    says: `${one.CPUPerc} CPU, ${one.MemUsage}, network ${one.NetIO}`,
  })),
};

const port = z.object({
  host_ip: text,
  host_port: z.int().default(0),
  container_port: z.int(),
  protocol: text,
});
const podmanPs = z.object({
  Id: z.string(),
  Names: z.array(z.string()),
  Image: text,
  State: text,
  Status: text,
  Ports: z.array(port).nullish(),
});
const podmanImage = z.object({ Id: z.string(), Names: z.array(z.string()).nullish(), Size: z.int() });
const podmanStats = z.object({ name: z.string(), cpu_percent: text, mem_usage: text, net_io: text });
export const podman: Answers = {
  json: '--format=json',
  ps: json(z.array(podmanPs), (all) =>
    all.map((one) => ({
      id: one.Id.slice(0, 12),
      name: one.Names.join(','),
      image: one.Image,
      state: stateOf(one.State, one.Status),
      ports: one.Ports?.map(
        (each) =>
          `${each.host_ip || '0.0.0.0'}:${each.host_port}->${each.container_port}/${each.protocol || 'tcp'}`,
      ).join(', '),
    })),
  ),
  // An image of two names comes twice, with both.
  images: json(z.array(podmanImage), (all) =>
    [...new Map(all.map((one) => [one.Id, one])).values()].flatMap(({ Id, Names, Size }) =>
      (Names?.length ? Names : ['<none>']).map((full) => {
        const [, key = full, tag] = /^(.*):([^:/]+)$/.exec(full) ?? [];
        return { id: Id.slice(0, 12), name: key, tag, size: `${Math.round(Size / 1e5) / 10}MB` };
      }),
    ),
  ),
  stats: json(z.array(podmanStats), (all) =>
    all.map((one) => ({
      name: one.name,
      says: `${one.cpu_percent} CPU, ${one.mem_usage}, network ${one.net_io}`,
    })),
  ),
};

const details = z.object({
  Name: z.string(),
  Path: text,
  Args: z.array(z.string()).nullish(),
  RestartCount: z.int().default(0),
  State: z.object({
    Status: text,
    ExitCode: z.int().default(0),
    Error: text,
    StartedAt: text,
    Health: z.object({ Status: text }).nullish(),
  }),
  Config: z.object({ Image: text, Env: z.array(z.string()).nullish() }),
  Mounts: z
    .array(z.object({ Source: text, Name: text, Destination: text, RW: z.boolean().default(false) }))
    .nullish(),
  NetworkSettings: z.object({
    Ports: z.record(z.string(), z.array(z.object({ HostIp: text, HostPort: text })).nullish()).nullish(),
    Networks: z.record(z.string(), z.object({ IPAddress: text }).nullish()).nullish(),
  }),
});
/** One fact a line; of variables the names only, since values can be secrets. */
export const inspected = json(z.tuple([details]), ([{ Name, Path, Args, State, RestartCount, ...one }]) => {
  const { Ports, Networks } = one.NetworkSettings;
  const { Status, Error: error, ExitCode, Health, StartedAt } = State;
  const ports = Object.entries(Ports ?? {}).map(([inner, outer]) =>
    outer?.length ? outer.map((each) => `${each.HostIp}:${each.HostPort}->${inner}`).join(' ') : inner,
  );
  const mounts = (one.Mounts ?? []).map(
    (each) => `${each.Name || each.Source} at ${each.Destination}${each.RW ? '' : ' (read-only)'}`,
  );
  const networks = Object.entries(Networks ?? {}).map(([key, it]) => `${key} ${it?.IPAddress ?? ''}`.trim());
  const facts = {
    name: Name.replace(/^\//, ''),
    image: one.Config.Image,
    state: `${Status}${Health?.Status ? ` (${Health.Status})` : ''}, exit code ${ExitCode}${error && `, ${error}`}`,
    started: `${StartedAt}, ${RestartCount} restarts`,
    command: [Path, ...(Args ?? [])].join(' '),
    ports: ports.join(', '),
    mounts: mounts.join(', '),
    networks: networks.join(', '),
    variables: (one.Config.Env ?? []).map((each) => each.replace(/=[^]*$/, '')).join(' '),
  };
  return Object.entries(facts)
    .map(([key, fact]) => `${key}: ${fact || '-'}`)
    .join('\n');
});

export const named = records(2, (key, says) => ({ name: key, says }));
