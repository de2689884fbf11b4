import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { completePath } from '../../../src/repl/prompt/complete-path.ts';
import { processorMs } from '../../support/processor-ms.ts';
import { temporaryFolder } from '../../support/repository.ts';

it('completes names, with a slash after folders and quotes where they are needed', async () => {
  const cwd = temporaryFolder();
  mkdirSync(join(cwd, 'src', 'my parts'), { recursive: true });
  for (const name of ['src/main.ts', 'src/Make.ts', 'src/my file.ts', '.env', 'src/a"b', 'src/e\x1b[2J']) {
    writeFileSync(join(cwd, name), '');
  }
  expect(await completePath('@', cwd)).toEqual(['@src/']);
  expect(await completePath('@.e', cwd)).toEqual(['@.env']);
  expect(await completePath('@src/m', cwd)).toEqual(['@src/main.ts', '@"src/my file.ts"', '@"src/my parts/']);
  expect(await completePath('@src/ma', cwd)).toEqual(['@src/main.ts']);
  expect(await completePath('@src/mak', cwd)).toEqual(['@src/Make.ts']);
  expect(await completePath('@"src/my f', cwd)).toEqual(['@"src/my file.ts"']);
  expect(await completePath('@src/a', cwd)).toEqual([]);
  expect(await completePath('@src/e', cwd)).toEqual([]);
  expect(await completePath('@./sr', cwd)).toEqual(['@./src/']);
  expect(await completePath(`@${cwd}/s`, '/')).toEqual([`@${cwd}/src/`]);
  expect(await completePath('@no/such', cwd)).toEqual([]);
});

it('offers 200 names of a folder of 20,000, quickly', async () => {
  const cwd = temporaryFolder();
  for (let n = 0; n < 20_000; n++) writeFileSync(join(cwd, `file${n}`), '');
  const startedAt = process.cpuUsage();
  expect(await completePath('@file', cwd)).toHaveLength(200);
  expect(processorMs(startedAt)).toBeLessThan(2000);
});
