import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
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
  ['compose_check', {}],
  ['compose_up', {}],
  ['compose_run', { service: 'web', argv: ['id'] }],
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
