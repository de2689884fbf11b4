import * as z from 'zod';
import { operand, variable, words } from '../core/parameter.ts';
import { path } from '../core/params.ts';
import { action, family, type ProgramAction } from '../core/program.ts';
import { told } from '../core/report.ts';
import { said } from './reports/diagnostics.ts';
import { diagnostics, entries, level } from './reports/kinds.ts';
import { json } from './reports/readers.ts';

// A script that a model writes is run_script's, which a setting turns on: what is run here lies in the project.

const script = (says: string) => path(says, 'file');
const run = (title: string, before: readonly string[]) =>
  action(`Run a ${title} script`, 'Runs a script of the project, without start-up files.', ['execute'], {
    run: ({ script: file, args }) => [...before, file, args],
    params: { script: operand(script('Script')), args: words('Its arguments') },
    given: { script: 'scripts/setup', args: ['--all'] },
  });

const shells = {
  bash: {
    title: 'Bash',
    site: 'https://www.gnu.org/software/bash/manual/bash.html',
    get: { apt: 'bash', brew: 'bash', winget: 'Git.Git' },
    version: { args: ['--version'], pattern: /version (\d[\d.]+)/ },
    quiet: ['--noprofile', '--norc'],
    check: ['-n'],
    complaint: /^(?<file>.+?): line (?<line>\d+): (?<message>(?!`).+)$/,
  },
  zsh: {
    title: 'Zsh',
    site: 'https://zsh.sourceforge.io/Doc/Release/Invocation.html',
    get: { apt: 'zsh', brew: 'zsh' },
    quiet: ['-f'],
    check: ['-n'],
    complaint: /^(?<file>.+?):(?<line>\d+): (?<message>.+)$/,
  },
  fish: {
    title: 'fish',
    site: 'https://fishshell.com/docs/current/cmds/fish.html',
    get: { apt: 'fish', brew: 'fish' },
    quiet: ['--no-config'],
    check: ['--no-execute'],
    complaint: /^(?<file>\S.*?) \(line (?<line>\d+)\): (?<message>.+)$/,
  },
};

const posix = family(shells, ({ quiet, check, complaint, ...row }) => ({
  ...row,
  category: 'runtime',
  actions: {
    run_script: run(row.title, quiet),
    check: action(`Check a ${row.title} script`, 'Finds syntax errors; nothing is run.', ['read'], {
      run: [...quiet, ...check],
      params: { script: operand(script('Script')) },
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
const utf8 = '[Console]::OutputEncoding = [Text.UTF8Encoding]::new($false); ';
/** What one of our own texts says; what a caller gives is in the environment, since a text would be code. */
const ask = (text: string): readonly string[] => [
  ...before,
  '-Command',
  `${utf8}$ErrorActionPreference = 'Stop'; ${text}`,
];
const given = 'TOOLCRIB_PATH';

const errors = `$t = $e = $null
[void][Management.Automation.Language.Parser]::ParseFile($env:${given}, [ref]$t, [ref]$e)
ConvertTo-Json -Compress @($e | ForEach-Object { @{ RuleName = $_.ErrorId; Severity = 'Error'; Message = $_.Message
ScriptPath = $env:${given}; Line = $_.Extent.StartLineNumber; Column = $_.Extent.StartColumnNumber } })`;
const findings = `ConvertTo-Json -Compress @(Invoke-ScriptAnalyzer -Recurse -Path $env:${given} |
Select-Object RuleName, @{ n = 'Severity'; e = { "$($_.Severity)" } }, Message, ScriptPath, Line, Column)`;
const finding = z.object({
  RuleName: z.string(),
  Severity: z.string(),
  Message: z.string(),
  ScriptPath: z.string().nullish(),
  Line: z.int().nullish(),
  Column: z.int().nullish(),
});
const analyzed = diagnostics(
  json(z.array(finding), (all) =>
    all.map((one) => ({
      level: /parse/i.test(one.Severity) ? 'error' : level(one.Severity),
      message: one.Message,
      code: one.RuleName,
      file: one.ScriptPath ?? undefined,
      line: one.Line ?? undefined,
      column: one.Column ?? undefined,
    })),
  ),
);
const facts = z.object({ PSVersion: z.string(), PSEdition: z.string(), OS: z.string().nullish() });
const module = z.object({ Name: z.string(), Version: z.string() });

const powershells = family(
  {
    pwsh: {
      title: 'PowerShell',
      get: { brew: 'powershell', winget: 'Microsoft.PowerShell', site: 'https://aka.ms/powershell' },
      bypass: [],
      version: { args: ['-NoLogo', '-Version'], pattern: /PowerShell (\d\S+)/ },
    },
    powershell: {
      title: 'Windows PowerShell',
      get: {},
      on: ['win32'] as const,
      elsewhere: { win32: ['%SystemRoot%/System32/WindowsPowerShell/v1.0/powershell.exe'] },
      bypass: ['-ExecutionPolicy', 'Bypass'],
      version: {
        args: [...before, '-Command', '"$($PSVersionTable.PSVersion)"'],
        pattern: /(\d+\.\d[\d.]*)/,
      },
    },
  },
  ({ title, bypass, ...row }) => ({
    ...row,
    title,
    category: 'runtime',
    site: 'https://learn.microsoft.com/powershell/module/microsoft.powershell.core/about/about_pwsh',
    settings: { POWERSHELL_TELEMETRY_OPTOUT: '1', POWERSHELL_UPDATECHECK: 'Off' },
    hints: [
      { says: /Invoke-ScriptAnalyzer/, wayOut: 'A person installs it: Install-Module PSScriptAnalyzer.' },
    ],
    actions: powershellActions(title, bypass),
  }),
);

function powershellActions(
  title: string,
  bypass: readonly string[],
): Readonly<Record<string, ProgramAction>> {
  const file = variable(given, script('Script'));
  return {
    run_script: run(title, [...before, ...bypass, '-File']),
    check: action(`Check a ${title} script`, 'Finds syntax errors; nothing is run.', ['read'], {
      run: () => ask(errors),
      params: { script: file },
      given: { script: 'setup.ps1' },
      out: analyzed,
    }),
    lint: action(
      `Lint ${title} scripts`,
      'Runs PSScriptAnalyzer with the rules of the project.',
      ['execute'],
      {
        role: 'lint',
        run: () => ask(findings),
        params: { path: variable(given, path('Script or folder')) },
        given: { path: 'scripts' },
        out: analyzed,
      },
    ),
    version: action(`Show the version of ${title}`, 'Version, edition and system.', ['read'], {
      run: () =>
        ask(
          '$PSVersionTable | Select-Object @{ n = "PSVersion"; e = { "$($_.PSVersion)" } }, PSEdition, OS | ConvertTo-Json',
        ),
      out: told(
        json(facts, ({ PSVersion, PSEdition, OS }) => `${PSVersion} ${PSEdition} ${OS ?? ''}`.trim()),
      ),
    }),
    modules: action(`List ${title} modules`, 'Modules that are installed.', ['read'], {
      run: () =>
        ask(
          'ConvertTo-Json -Compress @(Get-Module -ListAvailable | Select-Object Name, @{ n = "Version"; e = { "$($_.Version)" } })',
        ),
      out: entries('module')(
        json(z.array(module), (all) => all.map((one) => ({ name: one.Name, says: one.Version }))),
      ),
    }),
  };
}

export default [...posix, ...powershells];
