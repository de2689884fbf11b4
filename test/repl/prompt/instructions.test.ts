import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { environmentOf, noteOfChange } from '../../../src/repl/prompt/environment.ts';
import { readInstructions } from '../../../src/repl/prompt/instructions.ts';
import { systemPrompt } from '../../../src/repl/prompt/system-prompt.ts';
import { estimateTokens } from '../../../src/repl/context/tokens.ts';
import { temporaryFolder } from '../../support/repository.ts';

function workspace() {
  const folder = temporaryFolder();
  const at = (path: string) => join(folder, path);
  const write = (path: string, text: string) => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  };
  mkdirSync(at('project/.git'), { recursive: true });
  mkdirSync(at('project/packages/one'), { recursive: true });
  const places = {
    roots: [at('project/packages/one')],
    cwd: at('project/packages/one'),
    config: at('config'),
  };
  return { at, write, places };
}

it('reads the best file of each folder, the person’s own first, then from the root of the repository down', async () => {
  const { at, write, places } = workspace();
  write('AGENTS.md', 'not of the project');
  write('config/AGENTS.md', 'mine');
  write('project/CLAUDE.md', 'worse');
  write('project/AGENTS.md', 'project');
  write('project/packages/one/.github/copilot-instructions.md', 'package');
  const { files, text } = await readInstructions(places);
  expect(files.map(({ path }) => path)).toEqual([
    at('config/AGENTS.md'),
    at('project/AGENTS.md'),
    at('project/packages/one/.github/copilot-instructions.md'),
  ]);
  expect(text).toContain(`<instructions path="${at('project/AGENTS.md')}">\nproject\n</instructions>`);
});

it('reads those of other roots, and without a repository only the folder’s own', async () => {
  const { at, write, places } = workspace();
  write('AGENTS.md', 'above');
  write('other/deep/GEMINI.md', 'other');
  const { files } = await readInstructions({ ...places, roots: [...places.roots, at('other/deep')] });
  expect(files.map(({ path }) => path)).toEqual([at('other/deep/GEMINI.md')]);
});

it('follows links inside the project, and none that leads out of it; a person’s own may', async () => {
  const { at, write, places } = workspace();
  write('secret', 'secret');
  write('project/docs/agents.md', 'inside');
  symlinkSync(at('secret'), at('project/packages/AGENTS.md'));
  symlinkSync(at('project/docs/agents.md'), at('project/AGENTS.md'));
  mkdirSync(at('config'));
  symlinkSync(at('secret'), at('config/AGENTS.md'));
  const { files } = await readInstructions(places);
  expect(files.map(({ path }) => path)).toEqual([at('config/AGENTS.md'), at('project/AGENTS.md')]);
});

it('waits for no pipe', async () => {
  const { at, write, places } = workspace();
  execFileSync('mkfifo', [at('project/AGENTS.md')]);
  write('project/CLAUDE.md', 'second');
  expect((await readInstructions(places)).text).toContain('second');
});

it('takes 32 KB of them, and says what was cut', async () => {
  const { write, places } = workspace();
  write('project/AGENTS.md', 'a line of text\n'.repeat(3000));
  write('project/packages/one/AGENTS.md', 'near\n');
  const { text, files } = await readInstructions(places);
  expect(Buffer.byteLength(text)).toBeLessThan(33 * 1024);
  expect(files[0]?.text).toMatch(/a line of text\n\[truncated: \d+ of 3000 lines; .*32 KB/);
});

it('reads nothing again until a file changes, comes or goes', async () => {
  const { at, write, places } = workspace();
  write('project/AGENTS.md', 'one');
  const first = await readInstructions(places);
  expect(await readInstructions(places, first)).toBe(first);
  write('project/packages/AGENTS.md', 'new');
  const second = await readInstructions(places, first);
  expect(second.files).toHaveLength(2);
  rmSync(at('project/AGENTS.md'));
  expect((await readInstructions(places, second)).files).toHaveLength(1);
});

const parts = { instructions: '', serverInstructions: '', cwd: '/p', platform: 'linux', model: 'm' } as const;

it('makes a short system prompt that is the same whenever it is made', () => {
  const prompt = systemPrompt(parts);
  expect(systemPrompt({ ...parts })).toBe(prompt);
  expect(estimateTokens(prompt)).toBeLessThan(420);
  const full = systemPrompt({
    ...parts,
    base: 'Be a poet.',
    profilePrompt: 'In rhyme.',
    instructions: '<i>',
    serverInstructions: 'S',
  });
  expect(full.startsWith('Be a poet.')).toBe(true);
  expect(full).toMatch(/In rhyme\.[^]*<i>[^]*S$/);
});

it('tells what has changed, and nothing when nothing has', () => {
  const file = { path: '/p/AGENTS.md', hash: '1', text: '<instructions>one</instructions>' };
  const surroundings = {
    roots: ['/p'],
    mode: 'ask' as const,
    instructions: { text: '', files: [file] },
    date: new Date(2026, 0, 2),
  };
  const before = environmentOf(surroundings);
  expect(noteOfChange(undefined, before)).toMatch(
    /^<environment>\nToday is 2026-01-02\.\nMode ask: .*\n.*: \/p\.\n<\/environment>$/,
  );
  expect(noteOfChange(before, environmentOf({ ...surroundings }))).toBeUndefined();
  const after = environmentOf({
    ...surroundings,
    roots: ['/q'],
    mode: 'plan',
    instructions: {
      text: '',
      files: [{ path: '/q/AGENTS.md', hash: '2', text: '<instructions>two</instructions>' }],
    },
  });
  const note = noteOfChange(before, after);
  for (const part of [
    'Plan mode',
    'too: /q',
    'no longer work in these folders: /p',
    'no longer hold: /p/AGENTS.md',
    '<instructions>two</instructions>',
  ]) {
    expect(note).toContain(part);
  }
  expect(note).not.toContain('Today');
});
