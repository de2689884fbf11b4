import type { Program } from '../../core/program.ts';

type Own = NonNullable<Program['own']>;

// A project's own copies: of npm's packages, of a virtual environment, and wrappers that projects carry.

export const nodeBin = (name: string): Own => ({
  posix: [`node_modules/.bin/${name}`],
  win32: [`node_modules/.bin/${name}.cmd`],
});

export const venvBin = (name: string): Own => ({
  posix: [`.venv/bin/${name}`, `venv/bin/${name}`, `$VIRTUAL_ENV/bin/${name}`],
  win32: [`.venv/Scripts/${name}.exe`, `venv/Scripts/${name}.exe`, `$VIRTUAL_ENV/Scripts/${name}.exe`],
});

export const wrapper = (name: string, windows: string): Own => ({ posix: [name], win32: [windows] });
