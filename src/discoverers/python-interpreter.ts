import type { Discoverer } from '../core/discoverer.ts';

/**
 * Where Python is: what the discoverers of Python and of the tools inside it have in common. Every action of theirs is
 * `execute`: the interpreter of a project's environment is a file of the project, and runs the .pth files and
 * sitecustomize of that environment before anything else.
 */
export const interpreter = {
  programs: ['python3', 'python', 'py'],
  elsewhere: {
    win32: ['%LOCALAPPDATA%\\Programs\\Python\\Launcher\\py.exe', '%SystemRoot%\\py.exe'],
  },
  local: {
    posix: [
      '.venv/bin/python',
      '.venv/bin/python3',
      'venv/bin/python',
      'venv/bin/python3',
      '.conda/bin/python',
      '$VIRTUAL_ENV/bin/python',
      '$CONDA_PREFIX/bin/python',
    ],
    win32: [
      '.venv/Scripts/python.exe',
      'venv/Scripts/python.exe',
      '.conda/python.exe',
      '$VIRTUAL_ENV/Scripts/python.exe',
      '$CONDA_PREFIX/python.exe',
    ],
  },
} satisfies Partial<Discoverer>;
