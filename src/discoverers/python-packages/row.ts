import { operand, words } from '../../core/parameter.ts';
import { name } from '../../core/params.ts';
import { action, type Line, type Program } from '../../core/program.ts';
import type { Reader } from '../../core/report.ts';
import { packageName, some } from '../shared/python.ts';

type Listing = readonly [readonly string[], Reader<{ name: string; version?: string; latest?: string }[]>];

/** A program that keeps the packages of a Python project, or of a virtual environment. */
export interface Row extends Omit<Program, 'id' | 'category' | 'actions' | 'inspect'> {
  list: Listing;
  /** What makes its lists shorter. */
  direct?: string;
  outdated: Listing;
  /** Options of adding: for development, and to a group. Left out: its own actions add and remove. */
  add?: { dev: string; group: string };
  update: readonly string[];
  /** The option that names each package to update, where that is no operand. */
  each?: string;
  install?: readonly string[];
  frozen?: string;
  why?: Line<{ package: unknown }>;
  more: Program['actions'];
}

export const changes = ['execute', 'write', 'network'] as const;
export const names = operand(some(packageName, 'Packages'));
export const args = words('Arguments of the program');

/** Runs a program in the project's environment. */
export const run = (title: string) =>
  action(`Run with ${title}`, "Runs a program in the project's environment.", ['execute', 'network'], {
    run: ({ program, args: rest }) => ['run', program, rest],
    params: { program: operand(name('Program of the environment: python, pytest')), args },
    given: { program: 'python', args: ['-m', 'shop'] },
  });

export const build = (title: string) =>
  action(`Build with ${title}`, 'Makes the wheel and source archive of the project.', changes, {
    run: ['build'],
  });
