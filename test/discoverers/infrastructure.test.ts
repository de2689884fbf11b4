import { describe, expect, it } from 'vitest';
import { argvOf, recorded, reportOf } from './real-program.ts';
import { programOf } from './programs.ts';

const textOf = (id: string, key: string, output: Parameters<typeof reportOf>[2]) =>
  reportOf(programOf(id), key, output).text;

describe('kubectl', () => {
  it('reads the tables of one kind and of several, as the server makes them', () => {
    expect(textOf('kubectl', 'get', { stdout: recorded('kubectl/pods.txt') })).toBe(
      '2 resources\nweb-0 default Running, ready 1/1, restarts 3 (2m ago) 7h\n' +
        'web-1 default CrashLoopBackOff, ready 0/1, restarts 12 7h',
    );
    expect(textOf('kubectl', 'get', { stdout: recorded('kubectl/two-kinds.txt') })).toContain(
      'restarts 12 7h\nweb ready 1/2, up-to-date 2, available 1 7h',
    );
    expect(textOf('kubectl', 'get', { stdout: '' })).toBe('no resources');
    expect(() => textOf('kubectl', 'get', { stdout: 'Warnung\n' })).toThrow('names');
    expect(textOf('kubectl', 'contexts', { stdout: recorded('kubectl/contexts.txt') })).toBe(
      '2 contexts\n* fake fake\nother fake',
    );
  });

  it('shows no secrets as YAML, and looks before it applies', () => {
    for (const kind of ['secret', 'secrets', 'Secret', 'sealedsecrets'])
      expect(() => argvOf(programOf('kubectl'), 'yaml', { kind, name: 'x' })).toThrow(
        'secrets are not shown',
      );
    const { apply, delete: remove } = programOf('kubectl').actions;
    expect(apply?.first).toBeDefined();
    expect(remove).toMatchObject({ effects: ['network', 'publish', 'destroy'], first: expect.anything() });
  });
});

describe('terraform and tofu', () => {
  it('read what would change, and what is wrong', () => {
    for (const id of ['terraform', 'tofu']) {
      expect(textOf(id, 'plan', { stdout: recorded('terraform/plan.jsonl') })).toBe(
        '1 planned change\ncreate terraform_data.a',
      );
      expect(
        textOf(id, 'validate', { stdout: recorded('terraform/validate-bad.json'), exitCode: 1 }),
      ).toMatch(/^1 diagnostic\nmain.tf:1:14 error: Missing name for resource: /);
    }
    const bad = { stdout: recorded('terraform/plan-bad.jsonl'), exitCode: 1 };
    expect(() => textOf('terraform', 'plan', bad)).toThrow(/^main.tf: 1: Missing name for resource/);
    expect(() => textOf('terraform', 'plan', { stdout: '{"type":"version"}\n' })).toThrow('summary');
    expect(textOf('terraform', 'output', { stdout: recorded('terraform/output.json') })).toBe(
      'region = "eu-1"\nsecret = (sensitive)',
    );
  });
});

it('reads what ansible-lint finds', () => {
  const { data } = reportOf(programOf('ansible_lint'), 'lint', { stdout: recorded('ansible_lint/bad.json') });
  expect(data).toMatchObject({
    total: 5,
    items: [{ file: 'bad.yml', line: 1, code: 'name[play]', level: 'error' }, {}, {}, {}, {}],
  });
});

it('gives Ansible variables whole, as JSON', () => {
  const given = { playbook: 'site.yml', variables: ['who=a b', 'x=1=2'], tags: ['a', 'b'] };
  expect(argvOf(programOf('ansible'), 'check', given)).toEqual([
    ...['--check', '--diff', '--tags=a,b', '--extra-vars={"who":"a b","x":"1=2"}', '--', 'site.yml'],
  ]);
});

// Written from the documents of the programs.
it('reads Helm, minikube, Vagrant and Trivy', () => {
  const release = {
    name: 'shop',
    namespace: 'default',
    revision: '3',
    status: 'deployed',
    chart: 'shop-1.2.0',
  };
  const releases = JSON.stringify([
    { ...release, updated: '2025-01-02 03:04:05.6 +0000 UTC', app_version: '1' },
  ]);
  expect(textOf('helm', 'list', { stdout: releases })).toBe(
    '1 resource\nshop default deployed, shop-1.2.0, revision 3 2025-01-02 03:04',
  );
  const linted =
    '==> Linting .\n[INFO] Chart.yaml: icon is recommended\n[ERROR] templates/: parse error\n\nError: 1 chart failed\n';
  expect(textOf('helm', 'lint', { stdout: linted, exitCode: 1 })).toBe(
    '2 diagnostics\nChart.yaml info: icon is recommended\ntemplates/ error: parse error',
  );
  const profiles = { invalid: [], valid: [{ Name: 'minikube', Status: 'Running' }] };
  expect(textOf('minikube', 'list', { stdout: JSON.stringify(profiles) })).toBe(
    '1 cluster\nminikube Running',
  );
  const machine =
    '1,default,metadata,provider,x\n1,default,provider-name,virtualbox\n1,default,state,running\n';
  expect(textOf('vagrant', 'status', { stdout: machine })).toBe('1 machine\ndefault running, virtualbox');
  const found = {
    ...{ PkgName: 'lodash', Severity: 'HIGH', VulnerabilityID: 'CVE-2021-1', Title: 'Injection' },
    ...{ InstalledVersion: '4.17.20', FixedVersion: '4.17.21' },
  };
  const scanned = { SchemaVersion: 2, Results: [{ Target: 'package-lock.json', Vulnerabilities: [found] }] };
  expect(textOf('trivy', 'project', { stdout: JSON.stringify(scanned) })).toBe(
    '1 advisory\nhigh lodash 4.17.20, fixed in 4.17.21 CVE-2021-1 Injection',
  );
  expect(textOf('trivy', 'project', { stdout: '{"SchemaVersion":2}' })).toBe('no advisories');
});
