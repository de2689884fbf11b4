import { action, family, operand, path, variable, words } from '../core/grammar.ts';
import { gnu, said } from './reports/diagnostics.ts';
import { diagnostics } from './reports/kinds.ts';
import { reads, runs } from './shared/programs.ts';

const script = path('Script', 'file');
const run = (title: string, before: readonly string[]) =>
  action(`Run a ${title} script`, 'Runs a script of the project, without start-up files.', runs, {
    run: ({ script: file, args }) => [...before, file, args],
    params: { script: operand(script), args: words('Its arguments') },
    given: { script: 'scripts/setup', args: ['--all'] },
  });
const checks = [`Finds syntax errors of a script; nothing is run.`, ['read']] as const;

const shells = {
  bash: {
    title: 'Bash',
    site: 'https://www.gnu.org/software/bash/manual/bash.html',
    get: { apt: 'bash', brew: 'bash', winget: 'Git.Git' },
    version: { args: ['--version'], pattern: /version (\d[\d.]+)/ },
    quiet: ['--noprofile', '--norc'],
    complaint: /^(?<file>.+?): line (?<line>\d+): (?<message>(?!`).+)$/,
  },
  zsh: {
    title: 'Zsh',
    site: 'https://zsh.sourceforge.io/Doc/Release/Invocation.html',
    get: { apt: 'zsh', brew: 'zsh' },
    quiet: ['-f'],
    complaint: /^(?<file>.+?):(?<line>\d+): (?<message>.+)$/,
  },
  fish: {
    title: 'fish',
    site: 'https://fishshell.com/docs/current/cmds/fish.html',
    get: { apt: 'fish', brew: 'fish' },
    quiet: ['--no-config'],
    complaint: /^(?<file>\S.*?) \(line (?<line>\d+)\): (?<message>.+)$/,
  },
};

const posix = family(shells, ({ quiet, complaint, ...row }) => ({
  ...row,
  category: 'runtime',
  actions: {
    run_script: run(row.title, quiet),
    check: action(`Check a ${row.title} script`, ...checks, {
      run: [...quiet, '-n'],
      params: { script: operand(script) },
      given: { script: 'scripts/setup' },
      ok: [0, 1, 2, 127],
      // fish writes a wrong path where it shortens it.
      out: diagnostics((output) =>
        said(complaint)(output).map((one) => ({ ...one, file: String(output.values['script']) })),
      ),
    }),
  },
}));

const before = ['-NoLogo', '-NoProfile', '-NonInteractive'];
/** Runs a text of ours. What a caller gives stands in the environment: in the text it would be code. */
const text = (code: string) => () => [
  ...[...before, '-Command'],
  `[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false); $ErrorActionPreference = 'Stop'; ${code}`,
];
const parse = `$t = $e = $null
[void][Management.Automation.Language.Parser]::ParseFile($env:TOOLCRIB_PATH, [ref]$t, [ref]$e)
$e | ForEach-Object { '{0}:{1}:{2}: error: {3} [{4}]' -f $env:TOOLCRIB_PATH, $_.Extent.StartLineNumber,
$_.Extent.StartColumnNumber, ($_.Message -replace '\\s+', ' '), $_.ErrorId }`;
const windows = {
  on: ['win32'] as const,
  get: {},
  elsewhere: { win32: ['%SystemRoot%/System32/WindowsPowerShell/v1.0/powershell.exe'] },
};
const rows = {
  pwsh: { title: 'PowerShell', bypass: [], get: { brew: 'powershell', winget: 'Microsoft.PowerShell' } },
  powershell: { title: 'Windows PowerShell', bypass: ['-ExecutionPolicy', 'Bypass'], ...windows },
};
const powershells = family(rows, ({ title, bypass, ...row }) => ({
  ...row,
  title,
  category: 'runtime',
  site: 'https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_pwsh',
  version: { args: [...before, '-Command', '"$($PSVersionTable.PSVersion)"'], pattern: /(\d+\.\d\S*)/ },
  settings: { POWERSHELL_TELEMETRY_OPTOUT: '1', POWERSHELL_UPDATECHECK: 'Off' },
  actions: {
    run_script: run(title, [...before, ...bypass, '-File']),
    version: action(`Show the version of ${title}`, 'Version, edition and system.', reads, {
      run: text('$PSVersionTable | Format-List | Out-String'),
    }),
    check: action(`Check a ${title} script`, ...checks, {
      run: text(parse),
      params: { script: variable('TOOLCRIB_PATH', script) },
      given: { script: 'setup.ps1' },
      out: diagnostics(gnu),
    }),
  },
}));

export default [...posix, ...powershells];
