import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import compose from '../../src/discoverers/compose.ts';
import { callAction, saidBy } from '../support/call-action.ts';
import { temporaryFolder } from '../support/repository.ts';
import { programOf } from './programs.ts';
import { argvOf, recorded, reportOf } from './real-program.ts';

const docker = programOf('docker');
const podman = programOf('podman');

describe('containers, as Docker and Podman list them', () => {
  it('reads those of Docker, also without the fields that come and go', () => {
    expect(reportOf(docker, 'ps_all', { stdout: recorded('docker/ps.jsonl') }).text).toBe(
      '2 containers\n' +
        'shop-db-1 running (healthy) postgres:16 127.0.0.1:5433->5432/tcp 4f1c0ffee0dd\n' +
        'old exited (1) alpine bbbbbbbbbbbb',
    );
    expect(reportOf(docker, 'images', { stdout: recorded('docker/images.jsonl') }).text).toBe(
      '2 images\npostgres:16 abababababab 432MB\n<none>:<none> efefefefefef 1.2kB',
    );
    expect(() => reportOf(docker, 'ps', { stdout: 'CONTAINER ID   IMAGE\n' })).toThrow();
  });

  it('reads those of Podman', () => {
    expect(reportOf(podman, 'ps_all', { stdout: recorded('podman/ps.json') }).text).toBe(
      '3 containers\nlong running localhost/box:1 75f4cecdb842\nweb exited (3) localhost/box:1 cb6c67fd9604\n' +
        'made created localhost/box:1 127.0.0.1:8080->80/tcp 0fe10f1aa33b',
    );
    expect(reportOf(podman, 'images', { stdout: recorded('podman/images.json') }).text).toBe(
      '3 images\nlocalhost/shop:2 8078384f9beb 2MB\nlocalhost/shop:dev 8078384f9beb 2MB\nlocalhost/box:1 421563066166 2MB',
    );
  });

  it('reads those of Compose, before and since 2.21', () => {
    expect(reportOf(compose, 'ps', { stdout: recorded('compose/ps-2.21.jsonl') }).text).toBe(
      '2 containers\n' +
        'shop-db-1 running (healthy) postgres:16 127.0.0.1:5433->5432/tcp, 9000/udp\n' +
        'shop-web-1 exited (1) shop-web',
    );
    expect(reportOf(compose, 'ps', { stdout: recorded('compose/ps-2.0.json') }).text).toBe(
      '1 container\nshop-db-1 running 127.0.0.1:5433->5432/tcp',
    );
    expect(reportOf(compose, 'services', { stdout: 'db\nweb\n' }).text).toBe('2 services\ndb\nweb');
  });

  it('asks for the names of variables only', () => {
    const [, , format] = argvOf(docker, 'inspect', { container: 'web' });
    expect(format?.match(/[^\n]*\.Env[^\n]*/)?.[0]).toBe(
      'variables: {{range .Config.Env}}{{index (split . "=") 0}} {{end}}',
    );
  });

  it('tells what the containers that were asked about are now', () => {
    const now = { now: recorded('docker/ps.jsonl') };
    const { data } = reportOf(docker, 'stop', {
      stdout: 'old\n',
      after: now,
      given: { containers: ['old'] },
    });
    expect(data).toMatchObject({ total: 1, items: [{ name: 'old', state: 'exited (1)' }] });
    expect(() => reportOf(docker, 'stop', { stdout: 'old\n', after: { now: '{"nothing":1}' } })).toThrow();
  });
});

describe('logs of a container', () => {
  const stdout =
    '2024-06-10T06:13:20.1Z one\n2024-06-10T06:13:20.3Z three\n  of it\n2024-06-10T06:13:20.3Z \n';
  const stderr = '2024-06-10T06:13:20.2Z two\n2024-06-10T06:13:20.4Z four\n';
  it('keeps the order of standard output and standard error', () => {
    expect(reportOf(docker, 'logs', { stdout, stderr }).text).toBe('one\ntwo\nthree\n  of it\n\nfour');
    expect(reportOf(docker, 'logs', { stdout, stderr, given: { timestamps: true } }).text).toContain(
      '2024-06-10T06:13:20.2Z two\n2024-06-10T06:13:20.3Z three',
    );
  });
  it('keeps the order of each stream when the clock was set back', () => {
    const back = '2024-06-10T06:13:20.9Z one\n2024-06-10T06:13:20.1Z two\n';
    expect(reportOf(docker, 'logs', { stdout: back, stderr }).text).toBe('two\nfour\none\ntwo');
  });
});

it('ATTACK 86, 87: has no way to mount, to be privileged, or to choose a daemon', () => {
  for (const of of [docker, podman, compose])
    for (const [key, { run, params }] of Object.entries(of.actions)) {
      expect(`${Array.isArray(run) ? run.join(' ') : String(run)}`, key).not.toMatch(
        /--(?:volume|mount|privileged|pid|cap-add|device|host|config|env-file)\b/,
      );
      expect(Object.keys(params).join(' '), key).not.toMatch(/host|daemon|config|privileged|mount/);
    }
  for (const given of [{ mounts: ['/:/host'] }, { privileged: true }])
    expect(() => argvOf(docker, 'exec', { container: 'web', argv: ['id'], ...given })).toThrow(
      'Unrecognized key',
    );
  for (const container of ['--privileged', '-v/:/host', 'a b', '']) {
    expect(() => argvOf(docker, 'exec', { container, argv: ['id'] })).toThrow();
    expect(() => argvOf(docker, 'run', { image: container })).toThrow();
  }
  expect(() => argvOf(docker, 'build', { build_args: ['BUILDKIT_SYNTAX=evil/frontend'] })).toThrow(
    'NAME=value',
  );
  // Without a value docker would hand over the variable of that name from our own environment.
  expect(() => argvOf(docker, 'run', { image: 'a', variables: ['AWS_SECRET_ACCESS_KEY'] })).toThrow(
    'NAME=value',
  );
});

describe.skipIf(process.platform === 'win32')('docker, as it is called', () => {
  /** A docker that writes down its arguments, and answers with the named file. */
  function fake(answer = '') {
    const folder = temporaryFolder();
    writeFileSync(
      join(folder, 'docker'),
      `#!/bin/sh\nprintf "%s\\n" "$@" >> '${folder}/ran'\ncat <<'E'\n${answer}\nE\n`,
    );
    chmodSync(join(folder, 'docker'), 0o755);
    return {
      place: { folder: temporaryFolder(), program: join(folder, 'docker') },
      ran: () => readFileSync(join(folder, 'ran'), 'utf8'),
    };
  }

  it('is handed every argument as it is', async () => {
    const { place, ran } = fake();
    const argv = ['sh', '-c', 'echo "$HOME"; ls *', '--privileged', ''];
    await callAction(docker, 'exec', { container: 'web', argv, workdir: '/srv' }, place);
    expect(ran()).toBe(['exec', '--workdir=/srv', '--', 'web', ...argv].map((arg) => `${arg}\n`).join(''));
  });

  it('is asked what is there after a change, and Compose is its first word', async () => {
    const { place, ran } = fake(recorded('compose/ps-2.21.jsonl'));
    const result = await callAction(compose, 'up', { services: ['db'] }, { ...place, trusted: true });
    expect(saidBy(result)).toContain('shop-db-1 running (healthy)');
    expect(ran().replaceAll('\n', ' ')).toBe(
      'compose up --detach --quiet-pull -- db compose ps --all --format=json ',
    );
  });
});
