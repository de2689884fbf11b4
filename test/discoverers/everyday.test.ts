import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { callAction, planOf } from '../support/call-action.ts';
import { temporaryFolder } from '../support/repository.ts';
import { until } from '../support/until.ts';
import { programOf } from './programs.ts';
import { argvOf, recorded, reportOf } from './real-program.ts';

it('leaves a window open, with the environment of a person', async () => {
  const folder = temporaryFolder();
  const editor = join(temporaryFolder(), 'code');
  writeFileSync(
    editor,
    `#!/bin/sh\nenv > "${folder}/env"; echo "$@" > "${folder}/args"; while [ -e '${folder}' ]; do sleep 1; done\n`,
  );
  chmodSync(editor, 0o755);
  const result = await callAction(
    programOf('code'),
    'goto',
    { file: 'a.ts', line: 3 },
    { folder, trusted: true, program: editor },
  );
  expect(result.isError).toBeUndefined();
  await until(() => existsSync(join(folder, 'args')) && readFileSync(join(folder, 'args'), 'utf8') !== '');
  expect(readFileSync(join(folder, 'args'), 'utf8')).toBe(`--reuse-window --goto ${folder}/a.ts:3:1\n`);
  // Its terminals would commit nothing, and ask nobody.
  expect(readFileSync(join(folder, 'env'), 'utf8')).not.toMatch(/^(?:CI|GIT_EDITOR|EDITOR|PAGER|NO_COLOR)=/m);
});

it('asks for trust before an editor opens a folder, whose extensions run its code', async () => {
  const folder = temporaryFolder();
  const plan = await planOf(programOf('codium'), 'open', { path: '.' }, { folder, program: '/bin/true' });
  expect(plan.trust).toBe('runs code of this folder');
});

it('keeps a jq filter from reading what no path names', () => {
  const given = { filter: 'import "/etc/passwd" as $x; $x', paths: ['a.json'] };
  expect(argvOf(programOf('jq'), 'filter', given)).toEqual(['(import "/etc/passwd" as $x; $x\n)', 'a.json']);
});

it('gives PowerShell a path as data, never as code', async () => {
  const folder = temporaryFolder();
  const script = "'; Remove-Item x; '.ps1";
  const plan = await planOf(programOf('pwsh'), 'check', { script }, { folder, program: '/bin/true' });
  expect(plan.subject).not.toContain('Remove-Item');
  expect(plan.fingerprint).toContain('Remove-Item');
});

it('tells who listens, by three programs', () => {
  const system = programOf('system');
  expect(reportOf(system, 'ports', { alternative: 0, stdout: recorded('system/ss.txt') }).text).toBe(
    '3 listening ports\ntcp 0.0.0.0:2024\ntcp 127.0.0.1:18765 python3 5931\nudp [::]:5353',
  );
  const lsof = { alternative: 1, stdout: recorded('system/lsof.txt') };
  expect(reportOf(system, 'ports', lsof).text).toBe(
    '2 listening ports\ntcp *:18777 python3 21550\ntcp *:38039 java 25145',
  );
  expect(reportOf(system, 'ports', { ...lsof, given: { port: 38_039 } }).text).toContain(
    '1 listening port\n',
  );
  const netstat = [
    '  Proto  Lokale Adresse         Remoteadresse          Status           PID',
    '  TCP    0.0.0.0:135            0.0.0.0:0              ABHÖREN         1234',
    '  TCP    127.0.0.1:49670        127.0.0.1:49671        HERGESTELLT     5678',
    '  UDP    [::]:5353              *:*                                    42',
  ];
  expect(reportOf(system, 'ports', { alternative: 2, stdout: netstat.join('\r\n') }).text).toBe(
    '2 listening ports\ntcp 0.0.0.0:135 1234\nudp [::]:5353 42',
  );
});

it('lists the busiest processes first, and says how many there are', () => {
  const stdout = ' 7 1 0.5 100 node a.js\n 8 1 12,5 200 java -jar b.jar\n 9 1 0.0 300 sleep 5\n';
  const { text } = reportOf(programOf('system'), 'processes', {
    alternative: 0,
    stdout,
    given: { limit: 2 },
  });
  expect(text).toBe(
    '3 processes, 2 of them here\n8 12.5% 200 KB java -jar b.jar\n7 0.5% 100 KB node a.js\nraise limit, or give matching',
  );
});

it('shows disks in the same words on every system', () => {
  const system = programOf('system');
  expect(reportOf(system, 'disk', { alternative: 0, stdout: recorded('system/df.txt') }).text).toBe(
    '2 file systems\n/ 64978400 of 264212084 KB free (/dev/vda)\n/media/My Disk 500000 of 1000000 KB free (/dev/vdb)',
  );
  expect(reportOf(system, 'disk', { alternative: 1, stdout: 'C: 1000 0 400 0% C:\r\n' }).text).toContain(
    'C: 400 of 1000',
  );
});

it('reads what programs printed', () => {
  const code = { stdout: 'ms-python.python@2026.4.0\nvitest.explorer@1.36.0\n' };
  expect(reportOf(programOf('code'), 'list_extensions', code).text).toBe(
    '2 packages\nms-python.python 2026.4.0\nvitest.explorer 1.36.0',
  );
});
