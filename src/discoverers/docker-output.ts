import * as z from 'zod';

export const container = z.object({
  id: z.string(),
  name: z.string(),
  image: z.string(),
  state: z.string(),
  status: z.string(),
  ports: z.string(),
  command: z.string(),
  created_at: z.string(),
});

export const image = z.object({
  id: z.string(),
  repository: z.string(),
  tag: z.string(),
  size: z.string(),
  created_at: z.string(),
});

export const usage = z.object({
  id: z.string(),
  name: z.string(),
  cpu: z.string(),
  memory: z.string(),
  network: z.string(),
  disk: z.string(),
  processes: z.string(),
});

export const containerDetails = z.object({
  id: z.string(),
  name: z.string(),
  image: z.string(),
  created_at: z.string(),
  status: z.string(),
  health: z.string().nullable(),
  exit_code: z.number(),
  error: z.string(),
  started_at: z.string(),
  finished_at: z.string(),
  restarts: z.number(),
  command: z.array(z.string()),
  variables: z.array(z.string()).describe('Names only: values can be secrets'),
  ports: z.array(z.string()),
  mounts: z.array(
    z.object({ type: z.string(), source: z.string(), target: z.string(), writable: z.boolean() }),
  ),
  networks: z.array(z.object({ name: z.string(), address: z.string() })),
});

type Row = Record<string, unknown>;

/** One JSON object a line, as `--format '{{json .}}'` prints, or one array of them. */
export function jsonLines(stdout: string): Row[] {
  const text = stdout.trim();
  if (text.startsWith('[')) return (JSON.parse(text) as unknown[]).map(asRow);
  return text
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => asRow(JSON.parse(line)));
}

function asRow(value: unknown): Row {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('expected a JSON object');
  return value as Row;
}

/** Text of a field that some versions leave out. */
const text = (row: Row, key: string): string => {
  const value = row[key];
  return value === undefined || value === null ? '' : String(value);
};

/** Text of a field without which it is not the output that was expected. */
function needed(row: Row, key: string): string {
  if (typeof row[key] !== 'string') throw new Error(`expected a field ${key}`);
  return row[key];
}

export const listedContainers = (stdout: string): z.infer<typeof container>[] =>
  jsonLines(stdout).map((row) => ({
    id: needed(row, 'ID'),
    name: needed(row, 'Names'),
    image: text(row, 'Image'),
    state: text(row, 'State'),
    status: text(row, 'Status'),
    ports: text(row, 'Ports'),
    command: text(row, 'Command').replace(/^"(.*)"$/, '$1'),
    created_at: text(row, 'CreatedAt'),
  }));

export const listedImages = (stdout: string): z.infer<typeof image>[] =>
  jsonLines(stdout).map((row) => ({
    id: needed(row, 'ID'),
    repository: text(row, 'Repository'),
    tag: text(row, 'Tag'),
    size: text(row, 'Size'),
    created_at: text(row, 'CreatedAt'),
  }));

export const measured = (row: Row): z.infer<typeof usage> => ({
  id: needed(row, 'ID'),
  name: text(row, 'Name'),
  cpu: text(row, 'CPUPerc'),
  memory: text(row, 'MemUsage'),
  network: text(row, 'NetIO'),
  disk: text(row, 'BlockIO'),
  processes: text(row, 'PIDs'),
});

interface Details {
  Id: string;
  Name: string;
  Created?: string;
  Path?: string;
  Args?: string[];
  RestartCount?: number;
  State?: Row & { ExitCode?: number; Health?: { Status?: string } };
  Config?: { Image?: string; Env?: string[] | null };
  Mounts?: { Type?: string; Source?: string; Name?: string; Destination?: string; RW?: boolean }[];
  NetworkSettings?: {
    Ports?: Record<string, { HostIp?: string; HostPort?: string }[] | null> | null;
    Networks?: Record<string, { IPAddress?: string } | null> | null;
  };
}

export function inspected(stdout: string): z.infer<typeof containerDetails> {
  const [details] = JSON.parse(stdout) as Details[];
  if (typeof details?.Id !== 'string') throw new Error('expected an array with one container');
  const { State = {}, Config = {}, Mounts = [], NetworkSettings = {} } = details;
  return {
    id: details.Id,
    name: details.Name.replace(/^\//, ''),
    image: Config.Image ?? '',
    created_at: details.Created ?? '',
    status: text(State, 'Status'),
    health: State.Health?.Status ?? null,
    exit_code: State.ExitCode ?? 0,
    error: text(State, 'Error'),
    started_at: text(State, 'StartedAt'),
    finished_at: text(State, 'FinishedAt'),
    restarts: details.RestartCount ?? 0,
    command: [details.Path ?? '', ...(details.Args ?? [])],
    variables: (Config.Env ?? []).map((assignment) => assignment.replace(/=[^]*$/, '')),
    ports: Object.entries(NetworkSettings.Ports ?? {}).flatMap(([port, bindings]) =>
      bindings?.length
        ? bindings.map(({ HostIp = '', HostPort = '' }) => `${HostIp}:${HostPort}->${port}`)
        : [port],
    ),
    mounts: Mounts.map((mount) => ({
      type: mount.Type ?? '',
      source: mount.Source || (mount.Name ?? ''),
      target: mount.Destination ?? '',
      writable: mount.RW ?? false,
    })),
    networks: Object.entries(NetworkSettings.Networks ?? {}).map(([network, settings]) => ({
      name: network,
      address: settings?.IPAddress ?? '',
    })),
  };
}
