import * as z from 'zod';
import { action, operand, path, type Template } from '../../core/grammar.ts';
import { runs } from '../shared/programs.ts';

// What editors and the programs that show differences are told: files, folders, a place in a file.

/**
 * Variables of the person's session that a program with windows needs; the desktop's own variables begin with
 * XDG_.
 */
export const display = ['DISPLAY', 'WAYLAND_DISPLAY', 'XAUTHORITY', 'DBUS_SESSION_BUS_ADDRESS'];

export const file = (says: string) => operand(path(says, 'file'));
export const folder = (says: string) => operand(path(says, 'folder'));
/** Two files and where they come from, and the file that a person makes of them. */
export const merged = {
  left: file('Ours'),
  right: file('Theirs'),
  base: file('What both come from'),
  output: operand(path('Where the result goes', 'file', { written: true })),
};

type OpeningLine<Names extends string> = Template<Record<Names, unknown>>;
// An editor runs what is in a folder: extensions, tasks, the import of a build.

/** Opens a file or folder. */
export const opens = (title: string, description: string, run: OpeningLine<'path'>) =>
  action(title, description, runs, {
    stays: 'window',
    run,
    params: { path: operand(path('File or folder')) },
    given: { path: 'src' },
  });

/** Opens a file at a line. */
export const goesTo = (title: string, run: OpeningLine<'file' | 'line' | 'column'>) =>
  action(title, 'Opens a file at a line and column.', runs, {
    stays: 'window',
    run,
    params: {
      file: file('File'),
      line: operand(z.int().min(1).max(10_000_000).describe('Line')),
      column: operand(z.int().min(1).max(100_000).default(1).describe('Column')),
    },
    given: { file: 'src/a.ts', line: 12 },
  });

/** Shows two files side by side. */
export const compares = (title: string, run: OpeningLine<'left' | 'right'>) =>
  action(title, 'Shows two files side by side in a window.', runs, {
    stays: 'window',
    run,
    params: { left: file('One file'), right: file('The other') },
    given: { left: 'a.ts', right: 'b.ts' },
  });
