import * as z from 'zod';
import { aside, operand, option, required } from '../core/parameter.ts';
import { limit, text } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { told, type Output } from '../core/report.ts';
import { disks, entries, ports, processes } from './reports/kinds.ts';
import { json, lines, type Groups } from './reports/readers.ts';

const unix = ['linux', 'darwin'] as const;
const linux = ['linux'] as const;
const mac = ['darwin'] as const;
const windows = ['win32'] as const;
/** A text of ours for PowerShell, as JSON. */
const powershell = (query: string) =>
  ({
    by: 'powershell',
    on: windows,
    run: () => [
      ...['-NoProfile', '-NonInteractive', '-Command'],
      `[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false); ConvertTo-Json -Compress @(${query})`,
    ],
  }) as const;

const number = (said = '0') => Number(said.replaceAll(/\D/g, ''));
const inMb = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MB`;

// ---- who listens
const listener = ({ protocol = '', address = '', port, pid, program: by }: Groups) => ({
  protocol: protocol.toLowerCase(),
  address,
  port: Number(port),
  ...(pid && { pid: Number(pid) }),
  ...(by && { program: by.replaceAll('\\x20', ' ') }),
});
const listeners = (pattern: RegExp) => {
  const all = lines(pattern, listener);
  const isAsked = ({ values }: Output, port: number) => [undefined, port].includes(values['port'] as number);
  // lsof names a port once for each file that stands for it.
  return ports((output) => [
    ...new Map(
      all(output)
        .filter(({ port }) => isAsked(output, port))
        .map((one) => [JSON.stringify(one), one]),
    ).values(),
  ]);
};
const listening = [
  {
    by: 'ss',
    on: linux,
    run: ['--no-header', '--listening', '--numeric', '--tcp', '--udp', '--processes'],
    out: listeners(
      /^(?<protocol>tcp|udp)\s+\S+\s+\d+\s+\d+\s+(?<address>\S+):(?<port>\d+)\s+\S+(?:\s+users:\(\("(?<program>[^"]+)",pid=(?<pid>\d+))?/,
    ),
  },
  {
    by: 'lsof',
    on: unix,
    run: ['-nP', '-iTCP', '-sTCP:LISTEN'],
    ok: [0, 1],
    out: listeners(
      /^(?<program>\S+)\s+(?<pid>\d+)\s.*\s(?<protocol>TCP)\s+(?<address>\S+):(?<port>\d+) \(LISTEN\)/,
    ),
  },
  {
    // The name of the state is translated; a listener's other end is port 0 or none.
    by: 'netstat',
    on: windows,
    run: ['-ano'],
    out: listeners(
      /^\s*(?<protocol>TCP|UDP)\s+(?<address>\S+):(?<port>\d+)\s+(?:\S+:0|\*:\*)\s+(?:\S+\s+)?(?<pid>\d+)\s*$/,
    ),
  },
] as const;

// ---- processes
type Processes = z.input<(typeof processes)['result']>['items'];
/** Those that were asked for, the one that takes most first. */
const narrowed = (all: (output: Output) => Processes) =>
  processes((output) => {
    const { matching = '', limit: most } = output.values as { matching?: string; limit: number };
    const found = all(output).filter(({ command }) => command.includes(matching));
    found.sort(
      (one, other) => (other.cpu ?? 0) - (one.cpu ?? 0) || (other.kilobytes ?? 0) - (one.kilobytes ?? 0),
    );
    const more = found.length > most ? 'raise limit, or give matching' : undefined;
    return { items: found.slice(0, most), total: found.length, more };
  });
const process_ = z.object({
  ProcessId: z.int(),
  ParentProcessId: z.int(),
  WorkingSetSize: z.int(),
  Name: z.string(),
  CommandLine: z.string().nullish(),
});
const running = [
  {
    by: 'ps',
    on: unix,
    // Without a dash: of this user, with a terminal or without.
    run: ['xww', '-o', 'pid=,ppid=,pcpu=,rss=,args='],
    out: narrowed(
      lines(
        /^\s*(?<pid>\d+)\s+(?<parent>\d+)\s+(?<cpu>[\d.,]+)\s+(?<size>\d+)\s+(?<command>.+)$/,
        ({ pid, parent, cpu = '', size, command = '' }) => ({
          pid: number(pid),
          parent: number(parent),
          cpu: Number(cpu.replace(',', '.')),
          kilobytes: number(size),
          command,
        }),
      ),
    ),
  },
  {
    ...powershell(
      'Get-CimInstance Win32_Process -Filter "SessionId=$((Get-Process -Id $PID).SessionId)" | ' +
        'Select-Object ProcessId, ParentProcessId, WorkingSetSize, Name, CommandLine',
    ),
    out: narrowed(
      json(z.array(process_), (all) =>
        all.map((one) => ({
          pid: one.ProcessId,
          parent: one.ParentProcessId,
          kilobytes: Math.round(one.WorkingSetSize / 1024),
          command: one.CommandLine ?? one.Name,
        })),
      ),
    ),
  },
] as const;

// ---- disks and memory
const volume = z.object({ DeviceID: z.string(), Size: z.int().nullish(), FreeSpace: z.int().nullish() });
const space = [
  {
    by: 'df',
    on: unix,
    run: ['-P', '-k', '-l'],
    // One that it may not look at.
    ok: [0, 1],
    out: disks((output) =>
      lines(/^(?<name>.+?)\s+(?<size>\d+)\s+\d+\s+(?<free>\d+)\s+\d+%\s+(?<mounted>\/.*)$/, (one) => ({
        name: one['name'] ?? '',
        mounted: one['mounted'] ?? '',
        kilobytes: number(one['size']),
        free: number(one['free']),
      }))(output).filter(
        ({ name, kilobytes }) => kilobytes > 0 && !/^(?:dev)?(?:tmpfs|fs)$|^map /.test(name),
      ),
    ),
  },
  {
    ...powershell(
      'Get-CimInstance Win32_LogicalDisk -Filter DriveType=3 | Select-Object DeviceID, Size, FreeSpace',
    ),
    out: disks(
      json(z.array(volume), (all) =>
        all.map(({ DeviceID, Size, FreeSpace }) => ({
          name: DeviceID,
          mounted: DeviceID,
          kilobytes: Math.round((Size ?? 0) / 1024),
          free: Math.round((FreeSpace ?? 0) / 1024),
        })),
      ),
    ),
  },
] as const;

const memoryText = (total: number, free: number, swap = '') =>
  `${inMb(free)} of ${inMb(total)} memory available${swap && `; swap: ${swap}`}`;
const counted = (output: string, label: RegExp): number => {
  const found = label.exec(output)?.[1];
  if (found === undefined) throw new Error(`no ${label.source}`);
  return Number(found);
};
const system_ = z.object({ TotalVisibleMemorySize: z.int(), FreePhysicalMemory: z.int() });
const memory = [
  {
    by: 'free',
    on: linux,
    run: ['--bytes'],
    out: told(({ stdout }) => {
      const [, total, free] = /^Mem:\s+(\d+)(?:\s+\d+){4}\s+(\d+)$/m.exec(stdout) ?? [];
      const [, swap, left] = /^Swap:\s+(\d+)\s+\d+\s+(\d+)$/m.exec(stdout) ?? [];
      if (total === undefined) throw new Error('no memory');
      return memoryText(Number(total), Number(free), `${inMb(Number(left))} of ${inMb(Number(swap))} free`);
    }),
  },
  {
    by: 'vm_stat',
    on: mac,
    run: [],
    out: told(({ stdout }) => {
      const size = counted(stdout, /page size of (\d+) bytes/);
      const pages = (...names: string[]) =>
        names.reduce((sum, of) => sum + counted(stdout, new RegExp(`^Pages ${of}:\\s+(\\d+)`, 'm')), 0) *
        size;
      const free = pages('free', 'inactive', 'speculative');
      return memoryText(free + pages('active', 'wired down', 'occupied by compressor'), free);
    }),
  },
  {
    ...powershell(
      'Get-CimInstance Win32_OperatingSystem | Select-Object TotalVisibleMemorySize, FreePhysicalMemory',
    ),
    out: told(
      json(z.tuple([system_]), ([one]) =>
        memoryText(one.TotalVisibleMemorySize * 1024, one.FreePhysicalMemory * 1024),
      ),
    ),
  },
] as const;

// ---- services
const unit = z.object({ unit: z.string(), active: z.string(), sub: z.string(), description: z.string() });
const windowsService = z.object({ Name: z.string(), State: z.string(), DisplayName: z.string() });
const services = [
  {
    by: 'systemctl',
    on: linux,
    run: ['list-units', '--type=service', '--all', '--output=json', '--no-pager'],
    out: entries('service')(
      json(z.array(unit), (all) =>
        all.map((one) => ({ name: one.unit, says: `${one.active} (${one.sub}): ${one.description}` })),
      ),
    ),
  },
  {
    by: 'launchctl',
    on: mac,
    run: ['list'],
    out: entries('service')(
      lines(/^(?<pid>\d+|-)\t(?<status>-?\d+)\t(?<name>\S+)$/, ({ name = '', pid, status }) => ({
        name,
        says: pid === '-' ? `not running, last ended with ${status}` : `running as ${pid}`,
      })),
    ),
  },
  {
    ...powershell('Get-CimInstance Win32_Service | Select-Object Name, State, DisplayName'),
    out: entries('service')(
      json(z.array(windowsService), (all) =>
        all.map((one) => ({ name: one.Name, says: `${one.State}: ${one.DisplayName}` })),
      ),
    ),
  },
] as const;
const plain = told(({ stdout }) => stdout);
const serviceName = z.string().regex(/^[A-Za-z0-9_][\w.@:\\-]{0,200}$/, 'expected the name of a service');
const service = serviceName.describe('Service: nginx, docker.service');

/** Variables whose values are no secret and often asked for. */
const open = /^(?:PATH|HOME|USER|SHELL|LANG|LC_\w+|TZ|TMPDIR|TEMP|XDG_\w+|PWD|OS|COMPUTERNAME)$/i;
const variables = entries('variable')(
  lines(/^(?<name>[A-Za-z_][\w()]*)=(?<value>.*)$/, ({ name = '', value }) => ({
    name,
    says: open.test(name) ? value : undefined,
  })),
);

/** What the machine does, each by the program that a system has for it; of processes, this user's. */
export default program('system', {
  title: 'This machine',
  category: 'other',
  site: 'https://man7.org/linux/man-pages/dir_section_1.html',
  get: {},
  // It is there when one of its programs is.
  called: ['ps', 'tasklist'],
  version: 'unknown',
  settings: { LC_ALL: 'C' },
  actions: {
    ports: action(
      'List listening ports',
      'Ports that are listened on, and by which of your processes.',
      ['read'],
      {
        params: { port: aside(z.int().min(1).max(65_535).optional().describe('Only this one')) },
        ways: listening,
      },
    ),
    processes: action('List processes', 'Processes of this user with processor and memory.', ['read'], {
      params: {
        matching: aside(text('Only those whose command has this in it').optional()),
        limit: aside(limit(1000, 30)),
      },
      ways: running,
    }),
    disk: action('Show disk space', 'Local file systems and what is free on them.', ['read'], {
      ways: space,
    }),
    memory: action('Show free memory', 'How much memory there is, and is available.', ['read'], {
      ways: memory,
    }),
    environment: action(
      'List environment variables',
      'Variables that programs started here get; values of a few only.',
      ['read'],
      {
        ways: [
          { by: 'env', on: unix, run: [], out: variables },
          { by: 'cmd', on: windows, run: ['/d', '/c', 'set'], out: variables },
        ],
      },
    ),
    services: action('List services', 'Services of the system and their state.', ['read'], {
      ways: services,
    }),
    service: action('Show a service', 'State of a service of the system, and what it said last.', ['read'], {
      params: { service: operand(service) },
      given: { service: 'nginx' },
      ways: [
        {
          by: 'systemctl',
          on: linux,
          run: ({ service: it }) => ['status', '--no-pager', '--lines=20', '--', it],
          ok: [0, 3],
          out: plain,
        },
        { by: 'launchctl', on: mac, run: ({ service: it }) => ['list', it], out: plain },
        { by: 'sc', on: windows, run: ({ service: it }) => ['query', it], out: plain },
      ],
    }),
    service_log: action('Show the log of a service', 'What a service has said, the last lines.', ['read'], {
      params: {
        service: required('--unit', service),
        limit: required('--lines', limit(2000, 100)),
        since: option('--since=', text('From when: -1h, 2026-01-31')),
      },
      given: { service: 'nginx' },
      ways: [{ by: 'journalctl', on: linux, run: ['--no-pager', '--output=short-iso'], out: plain }],
    }),
    uptime: action('Show uptime', 'Since when the machine runs, and its load.', ['read'], {
      ways: [
        { by: 'uptime', on: unix, run: [], out: plain },
        {
          ...powershell(
            'Get-CimInstance Win32_OperatingSystem | ForEach-Object { $_.LastBootUpTime.ToString("u") }',
          ),
          out: told(json(z.tuple([z.string()]), ([since]) => `up since ${since}`)),
        },
      ],
    }),
  },
});
