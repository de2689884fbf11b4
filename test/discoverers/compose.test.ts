import { describe, expect, it } from 'vitest';
import { compose } from '../../src/discoverers/compose.ts';
import { inspected } from '../support/inspected.ts';
import { argvOf, itKeepsItsExamples, parseRecorded } from './real-program.ts';

describe('compose', () => {
  itKeepsItsExamples(compose);

  it('reads containers, one a line', () => {
    expect(parseRecorded(compose, 'ps', 'ps-2.21.jsonl')).toEqual({
      containers: [
        {
          name: 'shop-db-1',
          service: 'db',
          image: 'postgres:16',
          state: 'running',
          status: 'Up 2 hours (healthy)',
          health: 'healthy',
          exit_code: 0,
          ports: ['127.0.0.1:5433->5432/tcp', '9000/udp'],
        },
        {
          name: 'shop-web-1',
          service: 'web',
          image: 'shop-web',
          state: 'exited',
          status: 'Exited (1) 3 minutes ago',
          health: '',
          exit_code: 1,
          ports: [],
        },
      ],
    });
  });

  it('reads containers as versions before 2.21 print them, in one array', () => {
    expect(parseRecorded(compose, 'ps', 'ps-2.0.json')).toEqual({
      containers: [
        {
          name: 'shop-db-1',
          service: 'db',
          image: '',
          state: 'running',
          status: '',
          health: '',
          exit_code: 0,
          ports: ['127.0.0.1:5433->5432/tcp'],
        },
      ],
    });
    expect(compose.actions.ps.parse?.('[]\n')).toEqual({ containers: [] });
    expect(compose.actions.ps.parse?.('')).toEqual({ containers: [] });
    expect(() => compose.actions.ps.parse?.('{"ID":"x"}')).toThrow('Name and Service');
    expect(() => compose.actions.ps.parse?.('NAME   IMAGE')).toThrow();
  });

  it('reads services', () => {
    expect(compose.actions.services.parse?.('db\nweb\n')).toEqual({ services: ['db', 'web'] });
    expect(compose.actions.services.parse?.('')).toEqual({ services: [] });
  });

  it('puts Compose files before the command', () => {
    expect(argvOf(compose, 'stop', { files: ['a.yaml', 'b.yaml'], services: ['web'] })).toEqual([
      'compose',
      '--file',
      'a.yaml',
      '--file',
      'b.yaml',
      'stop',
      '--',
      'web',
    ]);
  });

  it('reads nothing that a project names before it is trusted', async () => {
    for (const name of Object.keys(compose.actions))
      expect((await inspected(compose, name, { folder: '/' })).trust, name).toContain(
        'files of this project',
      );
  });

  it('does not let a project fetch its files from elsewhere', () => {
    expect(compose.settings).toMatchObject({
      COMPOSE_EXPERIMENTAL_GIT_REMOTE: 'false',
      COMPOSE_EXPERIMENTAL_OCI_REMOTE: 'false',
    });
  });

  it('ATTACK 86, 87: has no way to mount, to be privileged, or to remove volumes', () => {
    for (const action of Object.values(compose.actions)) {
      expect(JSON.stringify('argv' in action && action.argv)).not.toMatch(
        /volume|privileged|--host|--env-file|"run"|"cp"/,
      );
    }
    for (const service of ['--privileged', '-v', 'a b', '']) {
      expect(() => argvOf(compose, 'exec', { service, argv: ['id'] })).toThrow();
      expect(() => argvOf(compose, 'up', { services: [service] })).toThrow();
    }
    expect(() => argvOf(compose, 'down', { volumes: true })).toThrow('Unrecognized key');
  });
});
