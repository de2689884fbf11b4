import * as z from 'zod';
import { action, aside, limit, name, operand, type Output, program, text, told } from '../core/grammar.ts';
import { entries, ports, processes } from './reports/kinds.ts';
import { lines, type PatternGroups } from './reports/readers.ts';
import { reads } from './shared/programs.ts';

const linux = { on: ['linux'] } as const;
const mac = { on: ['darwin'] } as const;
const unix = { on: ['linux', 'darwin'] } as const;
const windows = { on: ['win32'] } as const;
/** A line of PowerShell that prints the words of the program that other systems have. */
const powershell = (code: string) =>
  ({
    by: 'powershell',
    ...windows,
    run: () => [
      ...['-NoProfile', '-NonInteractive', '-Command'],
      `[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false); ${code}`,
    ],
  }) as const;
const plain = told(({ stdout }) => stdout);
const number = (said = '0') => Number(said.replace(',', '.'));

/** The listening ports; by the groups protocol, address, port, pid and program. */
const listeners = (pattern: RegExp) => {
  const all = lines(pattern, ({ protocol = '', address = '', port, pid, program: by }: PatternGroups) => ({
    protocol: protocol.toLowerCase(),
    address,
    port: number(port),
    ...(pid && { pid: number(pid) }),
    ...(by && { program: by.replaceAll('\\x20', ' ') }),
  }));
  return ports((output) => {
    const wanted = output.values['port'];
    const asked = all(output).filter(({ port }) => wanted === undefined || port === wanted);
    // lsof names a port once for each file that stands for it.
    return [...new Map(asked.map((one) => [JSON.stringify(one), one])).values()];
  });
};
// The other end of a listener is port 0 or none; the name of its state is translated.
const netstat =
  /^\s*(?<protocol>TCP|UDP)\s+(?<address>\S+):(?<port>\d+)\s+(?:\S+:0|\*:\*)\s+(?:\S+\s+)?(?<pid>\d+)\s*$/;
const owner = /\s+users:\(\("(?<program>[^"]+)",pid=(?<pid>\d+)/.source;
const ss = new RegExp(
  `^(?<protocol>tcp|udp)\\s+\\S+\\s+\\d+\\s+\\d+\\s+(?<address>\\S+):(?<port>\\d+)\\s+\\S+(?:${owner})?`,
);
const lsof = /^(?<program>\S+)\s+(?<pid>\d+)\s.*\s(?<protocol>TCP)\s+(?<address>\S+):(?<port>\d+) \(LISTEN\)/;

const process_ = lines(
  /^\s*(?<pid>\d+)\s+(?<parent>\d+)\s+(?<cpu>[\d.,]+)\s+(?<size>\d+)\s+(?<command>.+)$/,
  ({ pid, parent, cpu, size, command = '' }) => ({
    pid: number(pid),
    parent: number(parent),
    cpu: number(cpu),
    kilobytes: number(size),
    command,
  }),
);
/** Those that were asked for, the one that takes most first. */
const busiest = processes((output: Output) => {
  const { matching = '', limit: most } = output.values as { matching?: string; limit: number };
  const all = process_(output).filter(({ command }) => command.includes(matching));
  all.sort((one, other) => other.cpu - one.cpu || other.kilobytes - one.kilobytes);
  const more = all.length > most ? 'raise limit, or give matching' : undefined;
  return { items: all.slice(0, most), total: all.length, more };
});

const pseudo = /^(?:dev)?(?:tmpfs|fs)$|^map /;
const space = entries('file system')((output) =>
  lines(
    /^(?<name>.+?)\s+(?<size>\d+)\s+\d+\s+(?<free>\d+)\s+\d+%\s+(?<mounted>(?:\/|\w:).*)$/,
    ({ name: device = '', mounted = '', size, free }) =>
      number(size) > 0 && !pseudo.test(device)
        ? { name: mounted, says: `${free} of ${size} KB free (${device})` }
        : undefined,
  )(output),
);

const service = name('Service: nginx, docker.service');
const given = { service: 'nginx' };

/** The state of the machine, each by the program that a system has for it; of processes, this user's. */
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
    ports: action('List listening ports', 'Which process listens on a port, or on any.', reads, {
      params: { port: aside(z.int().min(1).max(65_535).optional().describe('Only this one')) },
      run: {
        alternatives: [
          {
            by: 'ss',
            ...linux,
            out: listeners(ss),
            run: ['--no-header', '--listening', '--numeric', '--tcp', '--udp', '--processes'],
          },
          { by: 'lsof', ...unix, run: ['-nP', '-iTCP', '-sTCP:LISTEN'], ok: [0, 1], out: listeners(lsof) },
          { by: 'netstat', ...windows, run: ['-ano'], out: listeners(netstat) },
        ],
      },
    }),
    processes: action('List processes', 'Your running processes by CPU, with memory.', reads, {
      params: {
        matching: aside(text('Only those whose command has this in it').optional()),
        limit: aside(limit(1000, 30)),
      },
      run: {
        alternatives: [
          // Without a dash: of this user, with a terminal or without.
          { by: 'ps', ...unix, run: ['xww', '-o', 'pid=,ppid=,pcpu=,rss=,args='], out: busiest },
          {
            ...powershell(`Get-CimInstance Win32_Process -Filter "SessionId=$((Get-Process -Id $PID).SessionId)" |
ForEach-Object { '{0} {1} 0 {2} {3}' -f $_.ProcessId, $_.ParentProcessId, [long]($_.WorkingSetSize / 1KB),
$(if ($_.CommandLine) { $_.CommandLine } else { $_.Name }) }`),
            out: busiest,
          },
        ],
      },
    }),
    disk: action('Show disk space', 'Free space of the disks and local file systems.', reads, {
      run: {
        alternatives: [
          // It fails when there is one that it may not look at.
          { by: 'df', ...unix, run: ['-P', '-k', '-l'], ok: [0, 1], out: space },
          {
            ...powershell(`Get-CimInstance Win32_LogicalDisk -Filter DriveType=3 | ForEach-Object {
'{0} {1} 0 {2} 0% {0}' -f $_.DeviceID, [long]($_.Size / 1KB), [long]($_.FreeSpace / 1KB) }`),
            out: space,
          },
        ],
      },
    }),
    service: action('Show a service', 'State of a service, and what it said last.', reads, {
      params: { service: operand(service) },
      given,
      run: {
        alternatives: [
          { by: 'systemctl', ...linux, run: ['status', '--no-pager', '--lines=50'], ok: [0, 3], out: plain },
          { by: 'launchctl', ...mac, run: ['list'], dashes: false, out: plain },
          { by: 'sc', ...windows, run: ['query'], dashes: false, out: plain },
        ],
      },
    }),
  },
});
