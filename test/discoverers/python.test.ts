import { describe, expect, it } from 'vitest';
import { python } from '../../src/discoverers/python.ts';
import { argvOf, itKeepsItsExamples, parseRecorded } from './real-program.ts';

describe('python', () => {
  itKeepsItsExamples(python);

  it('reads which interpreter it is', () => {
    expect(parseRecorded(python, 'interpreter', 'interpreter.json')).toEqual({
      executable: '/home/dev/shop/.venv/bin/python',
      version: '3.11.7',
      prefix: '/home/dev/shop/.venv',
      base_prefix: '/usr/local',
      virtual_environment: true,
    });
  });

  it.each(['', 'Python 3.11.7', '{"executable": "/usr/bin/python3"}'])(
    'does not make an interpreter of %j',
    (output) => {
      expect(() => python.actions.interpreter.parse!(output)).toThrow();
    },
  );

  it.each(['-c', '--help', 'a b', 'os;x', './evil', 'a..b', 'a-b', 'a.', ''])(
    'refuses %j as a module',
    (module) => {
      expect(() => argvOf(python, 'run_module', { module })).toThrow(/expected a module name/);
    },
  );

  it('refuses a script that would be an option', () => {
    expect(() => argvOf(python, 'run', { file: '-cimport os' })).toThrow(/read as an option/);
    expect(() => argvOf(python, 'check', { file: '-x' })).toThrow(/read as an option/);
  });

  it('says that an interpreter of the project runs its code', () => {
    for (const action of Object.values(python.actions)) expect(action.effects).toContain('execute');
  });
});
