import * as z from 'zod';
import { fresh, glue, type Template } from '../core/command-line.ts';
import { choice, on, operand, option, words } from '../core/parameter.ts';
import { path } from '../core/params.ts';
import { action, family, program, type Program } from '../core/program.ts';
import { diagnostics } from './reports/kinds.ts';
import { filed } from './reports/readers.ts';
import { nodes, xml, type Node } from './reports/xml.ts';

interface Row extends Pick<Program, 'title' | 'site' | 'get' | 'elsewhere' | 'project'> {
  breaks: readonly [option: string, command: string];
  run: Template<Record<'stop' | 'binary' | 'args', unknown>>;
  core: Template<Record<'binary' | 'core', unknown>>;
  process: Template<Record<'pid', unknown>>;
}

const binary = operand(path('Program, with debug symbols at best', 'file'));
const args = words('Arguments of the program');
const place = z.string().regex(/^[\w.:/\\~<>]+$/, 'expected file:line or the name of a function');
// Nobody's start file, and no script that comes with a program.
const gdb = ['-batch', '-nx', '-iex', 'set auto-load off', '-iex', 'set debuginfod enabled off'];
const lldb = ['--batch', '--no-lldbinit', '--no-use-colors'];

const rows: Readonly<Record<string, Row>> = {
  gdb: {
    title: 'GDB',
    site: 'https://sourceware.org/gdb/current/onlinedocs/gdb',
    get: { apt: 'gdb', brew: 'gdb' },
    breaks: ['-ex', 'break'],
    run: ({ stop, binary: what, args: its }) => [
      ...gdb,
      stop,
      '-ex',
      'run',
      '-ex',
      'bt full',
      '--args',
      what,
      its,
    ],
    core: ({ binary: what, core }) => [...gdb, '-ex', 'thread apply all bt full', what, core],
    process: ({ pid }) => [...gdb, '-p', pid, '-ex', 'thread apply all bt'],
  },
  lldb: {
    title: 'LLDB',
    site: 'https://lldb.llvm.org/use/tutorial.html',
    get: { apt: 'lldb', brew: 'llvm', winget: 'LLVM.LLVM' },
    elsewhere: {
      darwin: ['/Library/Developer/CommandLineTools/usr/bin/lldb'],
      win32: ['%ProgramFiles%/LLVM/bin/lldb.exe'],
    },
    breaks: ['-o', 'b'],
    run: ({ stop, binary: what, args: its }) => [
      ...[...lldb, stop, '-o', 'run', '-k', 'bt', '-k', 'frame variable', '-o', 'bt', '-o', 'frame variable'],
      ...['--', what, its],
    ],
    core: ({ binary: what, core }) => [...lldb, '-o', 'bt all', '--core', core, what],
    process: ({ pid }) => [...lldb, '-p', pid, '-o', 'bt all', '-o', 'detach'],
  },
};

const debuggers = family(rows, ({ title, breaks: [opt, command], run, core, process, ...facts }) => ({
  title,
  category: 'other',
  ...facts,
  marks: '-@',
  hints: [
    {
      says: /ptrace: Operation not permitted|attach failed/,
      wayOut: 'Only processes of one’s own can be looked at.',
    },
  ],
  actions: {
    run: action(`Debug a run with ${title}`, 'Stack and variables where it crashes or stops.', ['execute'], {
      run,
      params: {
        stop: option(opt, place.describe('Stop there: file:line, function'), (at) => `${command} ${at}`),
        binary,
        args,
      },
      given: { stop: 'main.c:12', binary: 'app', args: ['--fast'] },
    }),
    core: action(`Read a core dump with ${title}`, 'Stacks of a crashed program.', ['execute'], {
      run: core,
      params: { binary, core: operand(path('Core dump', 'file')) },
      given: { binary: 'app', core: 'core' },
    }),
    stacks: action(`Show stacks with ${title}`, 'Where a process is now, or hangs.', ['execute'], {
      run: process,
      params: { pid: operand(z.int().min(2).max(4_194_304).describe('Process')) },
      given: { pid: 4711 },
    }),
  },
}));

const textOf = (node: Node | undefined, key: string) => nodes(node?.[key])[0]?.['text'];
/** Faults with the nearest place in a source; what is lost at the end is a warning. */
const faults = filed((text) =>
  nodes(nodes(xml(text.replaceAll(/<(\/?)text>/g, '<$1said>'))['valgrindoutput'])[0]?.['error']).map(
    (one) => {
      const frame = nodes(nodes(one['stack'])[0]?.['frame']).find((each) => textOf(each, 'line'));
      const what = textOf(one, 'what') ?? textOf(nodes(one['xwhat'])[0], 'said');
      return {
        level: String(textOf(one, 'kind')).startsWith('Leak_') ? ('warning' as const) : ('error' as const),
        message: [what, textOf(one, 'auxwhat')].filter(Boolean).join('; '),
        ...(frame && {
          file: `${textOf(frame, 'dir')}/${textOf(frame, 'file')}`,
          line: Number(textOf(frame, 'line')),
        }),
      };
    },
  ),
);
const valgrind = program('valgrind', {
  title: 'Valgrind',
  category: 'other',
  site: 'https://valgrind.org/docs/manual',
  get: { apt: 'valgrind' },
  on: ['linux', 'darwin'],
  actions: {
    check: action('Check memory with Valgrind', 'Wrong reads and writes, leaks, races.', ['execute'], {
      run: ({ tool, children, binary: what, args: its }) => [
        ...['--xml=yes', glue('--xml-file=', fresh('report.%p.xml')), tool, children, '--', what, its],
      ],
      params: {
        tool: choice(
          { memory: '--leak-check=full', threads: '--tool=helgrind', races: '--tool=drd' },
          'What is looked for',
        ),
        children: on('--trace-children=yes', 'Also in programs that it starts'),
        binary,
        args,
      },
      given: { binary: 'app', args: ['--fast'] },
      // Those of the program.
      ok: Array.from({ length: 256 }, (_, code) => code),
      out: diagnostics(faults),
    }),
  },
});

export default [...debuggers, valgrind];
