import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bundle } from '../support/bundle.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';

it.runIf(process.platform === 'linux')(
  'reports what cannot be kept or changed with 40 file descriptors, and goes on',
  async () => {
    const { folder } = temporaryRepository();
    const script = await bundle('support/many-changes.ts', temporaryFolder());
    const limited = 'ulimit -n 40; exec "$0" "$@"';
    const args = [script, folder, join(temporaryFolder(), 'state'), '60'];
    const said = execFileSync('/bin/bash', ['-c', limited, process.execPath, ...args], { encoding: 'utf8' });
    const lines = said.trim().split('\n');
    expect(lines).toHaveLength(121);
    const known = /^(?:then )?(?:kept|not kept|changed|[A-Z_]+)$/;
    expect(lines.filter((line) => !known.test(line))).toEqual([]);
    expect(lines.at(-1)).toBe('then kept');
    for (let number = 0; number < 60; number++) {
      const path = join(folder, `${number}.txt`);
      const isChanged = lines[number * 2 + 1] === 'changed';
      expect([number, existsSync(path) && readFileSync(path, 'utf8')]).toEqual([
        number,
        isChanged && `${number}`,
      ]);
    }
  },
);
