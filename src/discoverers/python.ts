import * as z from 'zod';
import { defineDiscoverer } from '../core/discoverer.ts';
import { list, path } from '../core/params.ts';
import { interpreter } from './python-interpreter.ts';

// -I leaves out the working folder, PYTHON* variables and the user's packages, so that the answer is about the
// interpreter alone.
const describeInterpreter =
  'import json, sys; ' +
  'print(json.dumps({k: getattr(sys, k) for k in ("executable", "version", "prefix", "base_prefix")}))';

const compileFile = 'import sys; compile(open(sys.argv[1], "rb").read(), sys.argv[1], "exec")';

export const python = defineDiscoverer({
  id: 'python',
  title: 'Python',
  category: 'runtime',
  homepage: 'https://www.python.org',
  ...interpreter,
  version: { args: ['--version'], pattern: /^Python (\S+)/ },
  install: {
    linux:
      "Install python3 with your distribution's package manager, or from https://www.python.org/downloads",
    darwin: 'brew install python',
    win32: 'winget install Python.Python.3.13',
  },
  signals: {
    files: ['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', 'Pipfile', '.python-version'],
    folders: ['.venv', 'venv'],
    extensions: ['.py'],
  },
  environment: ['VIRTUAL_ENV', 'CONDA_PREFIX', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE'],
  settings: {
    // What a program printed before it was stopped is not lost in its buffer.
    PYTHONUNBUFFERED: '1',
    PYTHONIOENCODING: 'utf-8',
  },

  actions: {
    interpreter: {
      title: 'Describe the interpreter',
      description: "Which Python runs here: version, path, and whether it is a virtual environment's.",
      effects: ['execute'],
      params: {},
      argv: ['-I', '-c', describeInterpreter],
      example: { runs: `python3 -I -c '${describeInterpreter}'` },
      result: z.object({
        executable: z.string(),
        version: z.string(),
        prefix: z.string(),
        base_prefix: z.string(),
        virtual_environment: z.boolean(),
      }),
      parse: parseInterpreter,
    },

    run: {
      title: 'Run a script',
      description: "Runs a Python file with the project's own interpreter when it has one.",
      effects: ['execute'],
      params: {
        file: path('Script to run', 'file'),
        args: list(z.string(), 'Arguments of the script'),
      },
      argv: [{ param: 'file' }, { rest: 'args' }],
      example: {
        given: { file: 'manage.py', args: ['migrate', '--plan'] },
        runs: 'python3 manage.py migrate --plan',
      },
    },

    run_module: {
      title: 'Run a module',
      description: 'Runs a module as a program: pytest, unittest, mypy, or one of the project.',
      effects: ['execute'],
      params: {
        module: z
          .string()
          .max(300)
          .regex(
            /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/,
            'expected a module name such as "pytest" or "package.module"',
          )
          .describe('Module name, with dots'),
        args: list(z.string(), 'Arguments of the module'),
      },
      argv: ['-m', { param: 'module' }, { rest: 'args' }],
      example: {
        given: { module: 'pytest', args: ['-q', 'tests'] },
        runs: 'python3 -m pytest -q tests',
      },
    },

    check: {
      title: 'Check syntax',
      description: 'Compiles a file in memory without running it; fails with the position of a syntax error.',
      effects: ['execute'],
      params: { file: path('File to check', 'file') },
      // py_compile and compileall would leave a __pycache__ behind.
      argv: ['-I', '-c', compileFile, { param: 'file' }],
      example: { given: { file: 'src/cart.py' }, runs: `python3 -I -c '${compileFile}' src/cart.py` },
    },
  },
});

const printed = z.object({
  executable: z.string(),
  version: z.string(),
  prefix: z.string(),
  base_prefix: z.string(),
});

function parseInterpreter(stdout: string) {
  const { executable, version, prefix, base_prefix } = printed.parse(JSON.parse(stdout));
  return {
    executable,
    // '3.11.7 (main, Dec  8 2023, 14:22:46) [GCC 13.2.0]'
    version: version.split(' ')[0],
    prefix,
    base_prefix,
    virtual_environment: prefix !== base_prefix,
  };
}
