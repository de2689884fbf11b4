import {
  action,
  matching,
  on,
  operand,
  path,
  program,
  saidAfter,
  some,
  told,
  words,
} from '../core/grammar.ts';
import { gnu } from './reports/diagnostics.ts';
import { diagnostics, packages } from './reports/kinds.ts';
import * as py from './shared/python.ts';
import { makes, runs, runsCode, runsFile } from './shared/programs.ts';

// -I leaves out the working folder, PYTHON* variables and the user's packages, so that the answer is about
// the interpreter alone.
const describe = `import sys
print("Python", sys.version.split()[0])
print(sys.executable)
inside = sys.prefix != sys.base_prefix
print(f"virtual environment {sys.prefix} of {sys.base_prefix}" if inside else "no virtual environment")`;
// py_compile and compileall would leave a __pycache__ behind.
const compile = `import sys
bad = 0
for name in sys.argv[1:]:
    try: compile(open(name, "rb").read(), name, "exec")
    except SyntaxError as e: bad = 1; print(f"{name}:{e.lineno}:{e.offset}: error: {e.msg}")
sys.exit(bad)`;
const describeVenv = `import os, sys
lines = open(os.path.join(sys.argv[1], "pyvenv.cfg"), encoding="utf-8")
found = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
whose = " with the machine's packages" if found.get("include-system-site-packages") == "true" else ""
print(f"{os.path.relpath(sys.argv[1])}: Python {found['version']}{whose}")`;
const moduleName = /^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$/;
const module = matching(moduleName, 'a module name such as "http.server"', 'Module name, with dots');
/** Modules that show what the folder holds to other machines, or send it to them. */
const serving: ReadonlySet<unknown> = new Set(['http.server', 'twine', 'flit', 'hatch', 'poetry', 'smtpd']);
const args = words('Arguments of the program');

const standard = String.raw`(?:unittest|venv|compileall|doctest|http\.server|json\.tool|zipfile)(?: |$)`;
const tool = '(?<line>(?:pip|pytest|mypy|ruff|black|tox|pyright)(?: .*)?$)';
const code = String.raw`-m (?:${standard}|${tool}|(?<module>[\w.]+))|(?<file>[^-]\S*)`;
const ownPython = new RegExp(`^(?:-[uBWx] )*(?:${code})`);

export default program('python', {
  title: 'Python',
  category: 'runtime',
  site: 'https://www.python.org',
  get: { apt: 'python3', brew: 'python', winget: 'Python.Python.3.13' },
  called: py.pythons,
  ...py.interpreter,
  project: [
    ...['pyproject.toml', 'setup.py', 'setup.cfg', 'requirements.txt', 'Pipfile', '.python-version'],
    ...['.venv', '*.py'],
  ],
  environment: [...py.pythonEnvironment, ...py.pipEnvironment],
  // What a program printed before it was stopped is not lost in its buffer.
  everyday: Object.fromEntries(py.pythons.map((one) => [one, ownPython])),
  settings: { PYTHONUNBUFFERED: '1', PYTHONIOENCODING: 'utf-8', ...py.pipSettings },
  inspect: py.keptBy('pip'),
  hints: [
    ...py.pipHints,
    { says: /No module named/, wayOut: 'python_pip_list says what is installed there.' },
  ],
  actions: {
    version: action('Describe Python', 'Which Python runs here: version, path, venv or not.', runs, {
      run: ['-I', '-c', describe],
    }),
    run: runsFile('Run a Python script', 'manage.py', "Runs a file with the project's own Python."),
    run_module: action('Run a Python module', 'Runs a module as a program, as python -m does.', runs, {
      run: ({ module: of, args: rest }) => ['-m', of, rest],
      params: { module: operand(module), args },
      moreEffects: ({ module: of }) => (serving.has(String(of)) ? ['network', 'publish'] : []),
      given: { module: 'http.server', args: ['--help'] },
    }),
    eval: runsCode('Run Python code', '-c', 'import sys; print(sys.argv[1:])'),
    check: action('Check Python syntax', 'Compiles files in memory; does not run them.', runs, {
      run: ['-I', '-c', compile],
      dashes: false,
      params: { files: operand(some(path('File', 'file'), 'Files to check')) },
      given: { files: ['src/cart.py'] },
      ok: [0, 1],
      out: diagnostics(gnu),
    }),
    venv: action('Create a Python virtual environment', 'Makes one, or keeps it.', ['execute', 'write'], {
      run: ['-I', '-m', 'venv'],
      params: {
        system: on('--system-site-packages', "With the machine's packages too"),
        folder: operand(path('New folder', 'folder', { written: true }).default('.venv')),
      },
      steps: { after: { now: ({ folder }) => ['-I', '-c', describeVenv, folder] } },
      out: told((output) => saidAfter(output, 'now').trim()),
    }),
    pip_list: action('List the packages of Python', 'Packages that it can import.', runs, {
      run: ['-I', '-m', 'pip', 'list', '--format=json'],
      out: packages(py.installed),
    }),
    pip_install: action('Install packages for Python', 'Packages, -r files or -e, into a venv.', makes, {
      run: (at) => ['-I', '-m', 'pip', ...py.pipInstall(at)],
      params: py.pipParams,
      given: py.pipGiven,
    }),
  },
});
