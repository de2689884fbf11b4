import { describe, expect, it } from 'vitest';
import { recorded, reportOf } from './real-program.ts';
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

  it('looks before it applies', () => {
    const { apply, delete: remove } = programOf('kubectl').actions;
    expect(apply?.steps?.preview).toBeDefined();
    expect(remove).toMatchObject({
      effects: ['network', 'publish', 'destroy'],
      steps: { preview: expect.anything() },
    });
  });
});

describe('terraform and tofu', () => {
  it('read what would change, and what is wrong', () => {
    for (const id of ['terraform', 'tofu']) {
      expect(textOf(id, 'plan', { stdout: recorded('terraform/plan.jsonl') })).toBe(
        '1 planned change\nterraform_data.a create',
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

// Written from its documents.
