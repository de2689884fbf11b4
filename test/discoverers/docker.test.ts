import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { docker } from '../../src/discoverers/docker.ts';
import { argvOf, itKeepsItsExamples, parseRecorded, runAction } from './real-program.ts';

describe('docker', () => {
  itKeepsItsExamples(docker);

  it('reads containers, also without the fields that come and go', () => {
    expect(parseRecorded(docker, 'ps', 'ps.jsonl')).toEqual({
      containers: [
        {
          id: '4f1c0ffee0dd',
          name: 'shop-db-1',
          image: 'postgres:16',
          state: 'running',
          status: 'Up 2 hours (healthy)',
          ports: '127.0.0.1:5433->5432/tcp',
          command: 'docker-entrypoint.s…',
          created_at: '2024-06-10 06:13:20 +0000 UTC',
        },
        {
          id: 'bbbbbbbbbbbb',
          name: 'old',
          image: 'alpine',
          state: 'exited',
          status: 'Exited (1) 3 days ago',
          ports: '',
          command: 'sleep 1',
          created_at: '2024-06-07 06:13:20 +0000 UTC',
        },
      ],
    });
    expect(docker.actions.ps.parse?.('')).toEqual({ containers: [] });
    expect(() => docker.actions.ps.parse?.('CONTAINER ID   IMAGE\n')).toThrow();
    expect(() => docker.actions.ps.parse?.('{"a":1}')).toThrow('expected a field ID');
  });

  it('reads images', () => {
    expect(parseRecorded(docker, 'images', 'images.jsonl')).toEqual({
      images: [
        {
          id: 'abababababab',
          repository: 'postgres',
          tag: '16',
          size: '432MB',
          created_at: '2024-05-29 16:26:40 +0000 UTC',
        },
        {
          id: 'efefefefefef',
          repository: '<none>',
          tag: '<none>',
          size: '1.2kB',
          created_at: '2024-03-09 16:00:00 +0000 UTC',
        },
      ],
    });
  });

  it('reads resource use', () => {
    expect(parseRecorded(docker, 'stats', 'stats.jsonl')).toEqual({
      containers: [
        {
          id: '4f1c0ffee0dd',
          name: 'shop-db-1',
          cpu: '10.00%',
          memory: '49MiB / 8GiB',
          network: '1.02kB / 2.05kB',
          disk: '0B / 0B',
          processes: '7',
        },
      ],
    });
  });

  it('reads a container, without the values of its variables', () => {
    const details = parseRecorded(docker, 'inspect', 'inspect.json');
    expect(details).toEqual({
      id: '4f1c0ffee0ddba11'.repeat(4),
      name: 'shop-db-1',
      image: 'postgres:16',
      created_at: '2024-06-10T06:13:20.000000000Z',
      status: 'running',
      health: 'healthy',
      exit_code: 0,
      error: '',
      started_at: '2024-06-10T06:13:21.5Z',
      finished_at: '0001-01-01T00:00:00Z',
      restarts: 1,
      command: ['docker-entrypoint.sh', 'postgres'],
      variables: ['POSTGRES_PASSWORD', 'PATH', 'EMPTY'],
      ports: ['127.0.0.1:5433->5432/tcp', '9000/tcp'],
      mounts: [{ type: 'volume', source: 'shop_data', target: '/var/lib/postgresql/data', writable: true }],
      networks: [{ name: 'shop_default', address: '172.18.0.2' }],
    });
    expect(JSON.stringify(details)).not.toContain('hunter2');
    expect(docker.actions.inspect.parse?.('[{"Id":"a","Name":"/b"}]')).toMatchObject({
      name: 'b',
      variables: [],
    });
    expect(() => docker.actions.inspect.parse?.('[]')).toThrow('one container');
  });

  it('ATTACK 86, 87: has no way to mount, to be privileged, or to choose a daemon', () => {
    expect(Object.keys(docker.actions)).not.toContain('run');
    for (const action of Object.values(docker.actions)) {
      const fixed = JSON.stringify('argv' in action ? action.argv : []);
      expect(fixed).not.toMatch(
        /volume|mount|privileged|pid|network|cap-add|device|security|--host|--config|env-file|"cp"/,
      );
    }
    for (const given of [{ volumes: ['/:/host'] }, { privileged: true }]) {
      expect(() => argvOf(docker, 'exec', { container: 'web', argv: ['id'], ...given })).toThrow(
        'Unrecognized key',
      );
    }
    for (const container of ['--privileged', '-v/:/host', 'a b', '']) {
      expect(() => argvOf(docker, 'exec', { container, argv: ['id'] })).toThrow();
      expect(() => argvOf(docker, 'start', { containers: [container] })).toThrow();
    }
    expect(() => argvOf(docker, 'build', { build_args: ['BUILDKIT_SYNTAX=evil/frontend'] })).toThrow(
      'NAME=value',
    );
    // Without a value docker would hand over the variable of that name from our own environment.
    expect(() => argvOf(docker, 'build', { build_args: ['AWS_SECRET_ACCESS_KEY'] })).toThrow('NAME=value');
  });
});

describe.skipIf(process.platform === 'win32')('docker, as it is called', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'toolcrib-docker-'));
    const program = '#!/bin/sh\nprintf "%s\\n" "$@" > "$RECORD"\necho "$BUILDKIT_PROGRESS"\n';
    writeFileSync(join(folder, 'docker'), program);
    chmodSync(join(folder, 'docker'), 0o755);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('hands every argument over as it is', () => {
    const record = join(folder, 'record');
    const argv = ['sh', '-c', 'echo "$HOME"; ls *', '--privileged', ''];
    const where = { cwd: folder, env: { RECORD: record }, program: join(folder, 'docker') };
    expect(runAction(docker, 'exec', { container: 'web', argv, user: 'app' }, where).stdout).toBe('plain\n');
    const given = ['exec', '--user', 'app', '--', 'web', ...argv];
    expect(readFileSync(record, 'utf8')).toBe(given.map((arg) => `${arg}\n`).join(''));
  });
});
