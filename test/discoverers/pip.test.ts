import { describe, expect, it } from 'vitest';
import { pip } from '../../src/discoverers/pip.ts';
import { python } from '../../src/discoverers/python.ts';
import { argvOf, itKeepsItsExamples, parseRecorded } from './real-program.ts';

describe('pip', () => {
  itKeepsItsExamples(pip);

  it('reads the installed packages', () => {
    expect(parseRecorded(pip, 'list', 'list.json')).toEqual({
      packages: [
        { name: 'blinker', version: '1.9.0' },
        { name: 'certifi', version: '2026.7.22' },
        { name: 'charset-normalizer', version: '3.5.2' },
        { name: 'click', version: '8.5.0' },
        { name: 'Flask', version: '3.1.3' },
        { name: 'itsdangerous', version: '2.2.0' },
        { name: 'Jinja2', version: '3.1.6' },
        { name: 'MarkupSafe', version: '3.0.3' },
        { name: 'pip', version: '23.2.1' },
        { name: 'requests', version: '2.34.2' },
        { name: 'setuptools', version: '65.5.0' },
        { name: 'urllib3', version: '2.8.0' },
        { name: 'Werkzeug', version: '3.1.9' },
      ],
    });
  });

  it('says where a package is edited', () => {
    const output = '[{"name": "shop", "version": "0.1", "editable_project_location": "/home/dev/shop"}]';
    expect(pip.actions.list.parse!(output)).toEqual({
      packages: [{ name: 'shop', version: '0.1', editable: '/home/dev/shop' }],
    });
  });

  it('reads descriptions of packages', () => {
    expect(parseRecorded(pip, 'show', 'show.txt')).toEqual({
      packages: [
        {
          name: 'requests',
          version: '2.34.2',
          summary: 'Python HTTP for Humans.',
          location: '/home/dev/shop/.venv/lib/python3.11/site-packages',
          editable: undefined,
          requires: ['certifi', 'charset_normalizer', 'idna', 'urllib3'],
          required_by: [],
        },
        {
          name: 'Flask',
          version: '3.1.3',
          summary: 'A simple framework for building complex web applications.',
          location: '/home/dev/shop/.venv/lib/python3.11/site-packages',
          editable: undefined,
          requires: ['blinker', 'click', 'itsdangerous', 'jinja2', 'markupsafe', 'werkzeug'],
          required_by: [],
        },
      ],
    });
  });

  it('is not led astray by a licence that fills many lines', () => {
    const output =
      'Name: a\nVersion: 1\nSummary: One\nLicense: Free.\n---\nRequires: evil\nVersion: 2\nLocation: /site\nRequires: b, c\nRequired-by: \n';
    expect(pip.actions.show.parse!(output)).toEqual({
      packages: [
        { name: 'a', version: '1', summary: 'One', location: '/site', requires: ['b', 'c'], required_by: [] },
      ],
    });
  });

  it('reads what is outdated', () => {
    expect(parseRecorded(pip, 'outdated', 'outdated.json')).toEqual({
      packages: [
        { name: 'pip', version: '23.2.1', latest: '26.2.1' },
        { name: 'setuptools', version: '65.5.0', latest: '84.0.0' },
      ],
    });
  });

  it('reads broken requirements', () => {
    expect(parseRecorded(pip, 'check', 'check-problems.txt')).toEqual({
      problems: ['requests 2.34.2 requires idna, which is not installed.'],
    });
    expect(pip.actions.check.parse!('No broken requirements found.\n')).toEqual({ problems: [] });
  });

  it('throws on what pip does not print', () => {
    for (const action of [pip.actions.list, pip.actions.show, pip.actions.outdated, pip.actions.check]) {
      for (const output of ['', '{}', 'Usage: pip [options]']) expect(() => action.parse!(output)).toThrow();
    }
  });

  it.each([
    'requests',
    'requests==2.32.3',
    'uvicorn[standard]>=0.30,<1',
    'zope.interface~=7.0',
    'torch==2.4.1+cpu',
    'django==5.*',
  ])('installs %s', (spec) => {
    expect(argvOf(pip, 'install', { requirements: [spec] }).at(-1)).toBe(spec);
  });

  it.each([
    '--index-url=http://evil',
    '-r/etc/x',
    '-e.',
    '.',
    './evil',
    'evil/',
    'git+https://evil/x',
    'https://evil/x.whl',
    'x @ https://evil/x.whl',
    'x@https://evil',
    'evil.whl',
    'evil.tar.gz',
    'evil.ZIP[extra]',
    'x==1.0.zip',
    'x; python_version > "3"',
    'x --hash=y',
    'x\n--index-url=http://evil',
    'C:evil',
    '',
  ])('22: refuses to install %j', (spec) => {
    expect(() => argvOf(pip, 'install', { requirements: [spec] })).toThrow(/expected/);
  });

  it('runs build code only when told to', () => {
    const given = { requirements: ['x'] };
    expect(argvOf(pip, 'install', given)).toContain('--only-binary=:all:');
    expect(argvOf(pip, 'install', { ...given, allow_build: true })).not.toContain('--only-binary=:all:');
  });

  it('is found where Python is, and is as honest', () => {
    expect(pip.local).toEqual(python.local);
    for (const action of Object.values(pip.actions)) expect(action.effects).toContain('execute');
  });
});
