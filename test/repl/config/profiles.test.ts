import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { profilePrompt, readProfiles, type Profile } from '../../../src/repl/config/profiles.ts';

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'chat-profiles-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

it('takes profiles of chat.yaml, then the files of the person, then those of the project', async () => {
  const config = folderWith({
    'profiles/b.yaml': 'description: file\nmodel: ollama/x\nmode: auto',
    'profiles/c.yml': 'description: file',
    'profiles/notes.txt': 'no profile',
  });
  const project = folderWith({
    '.toolcrib/profiles/d.yaml': 'description: project\ntools: [git_*]\nmode: plan',
  });
  const given = { profiles: { a: { description: 'own' }, b: { description: 'own', mode: 'plan' as const } } };
  const { profiles, warnings } = await readProfiles({ config, project }, given);
  expect(warnings).toEqual([]);
  expect([...profiles.values()]).toEqual([
    { name: 'a', source: 'user', description: 'own' },
    { name: 'b', source: 'user', description: 'file', model: 'ollama/x', mode: 'auto' },
    { name: 'c', source: 'user', description: 'file' },
    { name: 'd', source: 'project', description: 'project', tools: ['git_*'], mode: 'plan' },
  ]);
});

it('warns of files of the project that say too much, and refuses files of the person', async () => {
  const bad = { 'profiles/x.yaml': 'mode: yolo' };
  const project = folderWith({
    '.toolcrib/profiles/x.yaml': 'mode: auto',
    '.toolcrib/profiles/y.yaml': 'model: evil/x',
    '.toolcrib/profiles/z.yaml': 'description: fine',
  });
  const { profiles, warnings } = await readProfiles({ config: folderWith({}), project }, { profiles: {} });
  expect([...profiles.keys()]).toEqual(['z']);
  expect(warnings).toEqual([
    expect.stringMatching(/x\.yaml:1: mode should be one of plan, ask\.$/),
    expect.stringMatching(/y\.yaml:1: model is no known key/),
  ]);
  await expect(readProfiles({ config: folderWith(bad) }, { profiles: {} })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
  });
});

const profile = (prompt: string, more: Partial<Profile> = {}): Profile => ({
  name: 'p',
  source: 'user',
  prompt,
  ...more,
});

it('fills in what a prompt names', () => {
  const cwd = folderWith({ 'sub/a': '' });
  const world = { cwd: join(cwd, 'sub'), env: { USER: 'ann', SECRET: 's3' } };
  const filled = profilePrompt(
    profile('{{cwd}} {{ date }} {{platform}} {{user}} {{env.SECRET}} {{who}} {{what}} {no}', {
      variables: { who: 'you', what: 'this' },
    }),
    { what: 'that' },
    world,
  );
  expect(filled).toMatch(
    new RegExp(`sub \\d{4}-\\d\\d-\\d\\d ${process.platform} ann s3 you that \\{no\\}$`),
  );
});

it('refuses a variable that there is not, and the environment for a project', () => {
  const world = { cwd: '/', env: { SECRET: 's3' } };
  expect(() => profilePrompt(profile('{{dat}}'), {}, world)).toThrow(
    /uses \{\{dat\}\}.* Did you mean "date"\?.*--var dat=/,
  );
  expect(() => profilePrompt(profile('{{env.NONE}}'), {}, world)).toThrow(/env\.NONE/);
  expect(() => profilePrompt(profile('{{env.SECRET}}', { source: 'project' }), {}, world)).toThrow(
    /env\.SECRET/,
  );
});
