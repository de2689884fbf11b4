import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { programOf } from '../discoverers/programs.ts';
import { callAction, saidBy } from '../support/call-action.ts';
import { temporaryFolder } from '../support/repository.ts';
import { connect, eras, inherited } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

/** A project with that Compose file, and a docker that writes down what it is asked there. */
function project(file: string) {
  const folder = temporaryFolder();
  const bin = temporaryFolder();
  const log = join(bin, 'ran');
  writeFileSync(join(folder, 'compose.yaml'), file);
  writeFileSync(
    join(bin, 'docker'),
    `#!/bin/sh\ntest "$PWD" = '${folder}' && echo "$*" >> '${log}'\necho 'Docker version 28.2.2, build e6534b4'\n`,
  );
  chmodSync(join(bin, 'docker'), 0o755);
  const env = { ...inherited(), PATH: `${bin}:${process.env['PATH']}`, XDG_STATE_HOME: temporaryFolder() };
  const ran = () => (existsSync(log) ? readFileSync(log, 'utf8') : '');
  return { options: { roots: [folder], env }, ran };
}

const calls: [string, Record<string, unknown>][] = [
  ['compose_ps', {}],
  ['compose_services', {}],
  ['compose_check', {}],
  ['compose_logs', {}],
  ['compose_build', {}],
  ['compose_up', {}],
  ['compose_down', {}],
  ['compose_stop', {}],
  ['compose_run', { service: 'web', argv: ['id'] }],
  ['compose_restart', {}],
  ['compose_exec', { service: 'web', argv: ['id'] }],
];

it.each([
  ['wants the machine', 'services: {web: {image: x, privileged: true, volumes: ["/:/host"]}}'],
  ['reads files of it', 'include: [/etc/passwd]\nservices: {web: {env_file: /etc/shadow}}'],
  ['names a program of it', 'name: prod\nservices: {web: {provider: {type: ./evil.sh}}}'],
])(
  'ATTACK 20, 41, 86, 87: a Compose file that %s is not even read before it is trusted',
  async (_what, file) => {
    const { options, ran } = project(file);
    for (const era of eras) {
      const client = await connect(era, options);
      onTestFinished(() => client.close());
      for (const [name, given] of calls)
        expect(textOf(await client.callTool({ name, arguments: given })), name).toMatch(
          /^NEEDS_CONFIRM.*lets Docker Compose read/s,
        );
    }
    expect(ran()).toBe('');
  },
);

it.each([
  ['build', { context: '/' }],
  ['build', { context: '../..' }],
  ['build', { dockerfile: '/etc/passwd' }],
  ['build', { context: '~/.ssh' }],
])('ATTACK 89: docker %s %j does not leave the roots', async (name, given) => {
  const folder = temporaryFolder();
  const marker = join(folder, 'ran');
  const program = join(temporaryFolder(), 'docker');
  writeFileSync(program, `#!/bin/sh\ntouch '${marker}'\n`);
  chmodSync(program, 0o755);
  expect(saidBy(await callAction(programOf('docker'), name, given, { folder, program }))).toMatch(
    /^PATH_(?:OUTSIDE_ROOTS|NOT_FOUND|PROTECTED)/,
  );
  expect(existsSync(marker)).toBe(false);
});
