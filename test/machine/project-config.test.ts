import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { usualSettings, type Settings } from '../../src/core/settings.ts';
import { createProjectConfigs } from '../../src/machine/config/project-config.ts';
import { temporaryFolder } from '../support/repository.ts';

const known = async () => ({
  tools: ['git_push', 'git_status', 'write_file'],
  toolsets: ['files', 'git'],
});

function put(root: string, path: string, content: unknown): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

function createConfigs() {
  const { inForce } = createProjectConfigs(known);
  return {
    settingsFor: async (base: Settings, roots: string[]) => (await inForce(base, roots)).settings,
    narrowedRoots: async (roots: readonly string[]) => (await inForce(usualSettings, roots)).roots,
  };
}

const settingsFor = (root: string, base: Settings = usualSettings) =>
  createConfigs().settingsFor(base, [root]);
const decisionsOf = ({ rules }: Settings) => rules.map(({ pattern, decision }) => `${pattern}=${decision}`);

describe('the settings that apply to a root', () => {
  it('are those of the files in the roots, and of no other folder', async () => {
    const [root, other] = [temporaryFolder(), temporaryFolder()];
    put(root, '.toolcrib.json', { rules: { git_push: 'ask' } });
    put(root, 'a/.toolcrib.json', { readOnly: true });
    put(other, '.toolcrib.json', { readOnly: true });
    const { settingsFor } = createConfigs();
    const settings = await settingsFor(usualSettings, [root]);
    expect(settings).toMatchObject({ readOnly: false });
    expect(decisionsOf(settings)).toEqual(['git_push=ask']);
    expect(await settingsFor(usualSettings, [root, other])).toMatchObject({ readOnly: true });
  });

  it('are those of a file as it is now, and as it was', async () => {
    const root = temporaryFolder();
    const { settingsFor } = createConfigs();
    const now = async () => decisionsOf(await settingsFor(usualSettings, [root]));
    expect(await now()).toEqual([]);
    const file = put(root, '.toolcrib.json', '{"rules": {"git_push": "ask" }}');
    expect(await now()).toEqual(['git_push=ask']);
    // As long, and of the same time: what has just been changed is not taken for what it was.
    utimesSync(file, 1, 1);
    expect(await now()).toEqual(['git_push=ask']);
    writeFileSync(file, '{"rules": {"git_push": "deny"}}');
    utimesSync(file, 1, 1);
    expect(await now()).toEqual(['git_push=ask', 'git_push=deny']);
    put(root, 'other', '{"rules": {"git_*": "deny"}}');
    renameSync(join(root, 'other'), file);
    expect(await now()).toEqual(['git_push=ask', 'git_push=deny', 'git_*=deny']);
  });

  it.each<[string, string, (root: string) => string]>([
    ['a root that is the folder', 'readOnly of folders', (root) => root],
    ['a root that lies in it', 'readOnly of folders', (root) => dirname(root)],
    ['a root that holds it', 'readOnly of folders', (root) => join(root, 'sub')],
  ])("are those of the operator's folders for %s", async (_, origin, folderOf) => {
    const root = temporaryFolder();
    const folders = { [folderOf(root)]: { readOnly: true, rules: [] } };
    const settings = await settingsFor(root, { ...usualSettings, folders });
    expect(settings).toMatchObject({
      readOnly: true,
      origins: { readOnly: expect.stringContaining(origin) },
    });
    const elsewhere = { [join(dirname(root), 'elsewhere')]: { readOnly: true } };
    const base = { ...usualSettings, folders: elsewhere };
    expect(await settingsFor(root, base)).toBe(base);
  });
});

describe('the settings of a file that has changed or is gone', () => {
  it('apply when two calls read it at once', async () => {
    const root = temporaryFolder();
    const { settingsFor } = createConfigs();
    put(root, '.toolcrib.json', { readOnly: true });
    await settingsFor(usualSettings, [root]);
    const file = put(root, '.toolcrib.json', { toolsets: ['git'] });
    const both = [settingsFor(usualSettings, [root]), settingsFor(usualSettings, [root])];
    await Promise.all(both);
    rmSync(file);
    expect(await settingsFor(usualSettings, [root])).toMatchObject({ readOnly: true, toolsets: ['git'] });
  });

  it('narrow the roots for as long as other settings apply', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'src'));
    mkdirSync(join(root, 'docs'));
    const { narrowedRoots } = createConfigs();
    const file = put(root, '.toolcrib.json', { roots: ['src'] });
    expect(await narrowedRoots([root])).toEqual([join(root, 'src')]);
    rmSync(file);
    expect(await narrowedRoots([root])).toEqual([join(root, 'src')]);
    put(root, '.toolcrib.json', { roots: ['docs'] });
    await expect(narrowedRoots([root])).rejects.toThrow('leaves no folder open');
  });
});

describe('a settings file with a mistake', () => {
  it.each([
    ['{"readOnyl": true}', ':1: readOnyl: there is no such setting; did you mean readOnly?'],
    [
      '{\n  // why\n  "budgets": {"job": 3},\n}',
      ':3: budgets.job: there is no such setting; did you mean jobs?',
    ],
    ['{"folders": {}}', 'folders: only the operator can set it'],
    ['{"questions": "none"}', 'questions: only the operator can set it'],
    ['{"rules": {"git_*": "allow"}}', 'rules.git_*: a project can only narrow: expected "ask" or "deny"'],
    ['{"rules": {"read(**/.env)": "ask"}}', 'rules.read(**/.env): a rule about reading files can only deny'],
    ['{"rules": {"git_psuh": "deny"}}', 'rules.git_psuh: there is no such tool; did you mean git_push?'],
    ['{"rules": {"git push": "deny"}}', 'expected a tool'],
    ['{"toolsets": ["gti"]}', 'did you mean git?'],
    ['{"roots": ["/"]}', 'leads outside of the project'],
    ['{"roots": ["a/../.."]}', 'leads outside of the project'],
    ['{"roots": ["out"]}', 'lies outside of the project'],
    ['{"roots": []}', 'roots: is empty'],
    ['{"readOnly": true, "readOnly": false}', 'the same key is there twice'],
    ['{"rules": {"__proto__": "deny"}}', '__proto__ is no setting'],
    ['{"readOnly": true', ':1: it does not parse'],
    ['', 'it does not parse'],
    ['[]', 'expected object'],
    ['['.repeat(60_000), 'nested too deeply'],
    [' '.repeat(65 * 1024), 'larger than 64 KB'],
    ['{"\\u001b[2J\\u202e": 1}', '"\\u001b[2J\\u{202e}": there'],
    [`{"${'x'.repeat(5000)}": 1}`, `${'x'.repeat(60)}…: there`],
  ])('is reported with its place: %.40s', async (content, message) => {
    const [root, elsewhere] = [temporaryFolder(), temporaryFolder()];
    symlinkSync(elsewhere, join(root, 'out'));
    const file = put(root, '.toolcrib.json', content);
    const { settings, roots } = await createProjectConfigs(known).inForce(usualSettings, [root]);
    expect(settings.unreadable).toContain(message);
    expect(settings.unreadable?.startsWith(`${file}:`)).toBe(true);
    expect(settings.unreadable?.length).toBeLessThan(700);
    expect(roots).toEqual([root]);
  });

  it('applies as far as it can be understood', async () => {
    const root = temporaryFolder();
    put(root, '.toolcrib.json', {
      readOnly: true,
      roots: ['../outside'],
      rules: { 'read(**/.env)': 'deny', nosuch_tool: 'deny', git_push: 'perhaps' },
    });
    const settings = await settingsFor(root);
    expect(settings).toMatchObject({ readOnly: true, unreadable: expect.any(String) });
    expect(decisionsOf(settings)).toContain('read(**/.env)=deny');
    put(root, '.toolcrib.json', '<<<<<<< HEAD\n{ "rules": { "read(**/.env)": "deny" }, ');
    expect((await settingsFor(root)).unreadable).toContain('does not parse');
  });

  it('leaves in force what it contained before', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'src'));
    const { settingsFor, narrowedRoots } = createConfigs();
    put(root, '.toolcrib.json', { readOnly: true, roots: ['src'] });
    await settingsFor(usualSettings, [root]);
    put(root, '.toolcrib.json', '');
    expect(await settingsFor(usualSettings, [root])).toMatchObject({
      readOnly: true,
      unreadable: expect.stringContaining('does not parse'),
    });
    put(root, '.toolcrib.json', { readOnly: true });
    expect((await settingsFor(usualSettings, [root])).unreadable).toBeUndefined();
    expect(await narrowedRoots([root])).toEqual([join(root, 'src')]);
  });

  it('is one with bytes that are not UTF-8', async () => {
    const root = temporaryFolder();
    writeFileSync(join(root, '.toolcrib.json'), Buffer.from([0x7b, 0xff, 0x7d]));
    expect((await settingsFor(root)).unreadable).toContain('UTF-8');
  });

  it('is not one with the mark that Windows editors put before the text', async () => {
    const root = temporaryFolder();
    put(root, '.toolcrib.json', '\ufeff{"readOnly": true,}');
    expect(await settingsFor(root)).toMatchObject({ readOnly: true });
  });
});

describe('the roots', () => {
  it('become the folders that a project names, as far as they exist', async () => {
    const [root, other] = [temporaryFolder(), temporaryFolder()];
    for (const folder of ['src', 'docs', 'secret']) mkdirSync(join(root, folder));
    put(root, '.toolcrib.json', { roots: ['src', './docs', 'dist'], readOnly: true });
    const { narrowedRoots, settingsFor } = createConfigs();
    const left = await narrowedRoots([root, other]);
    expect(left).toEqual([join(root, 'src'), join(root, 'docs'), other]);
    expect(await settingsFor(usualSettings, [root, other])).toMatchObject({ readOnly: true });
    expect(await narrowedRoots(left)).toBe(left);
  });

  it('are those that both leave of a project inside another', async () => {
    const root = temporaryFolder();
    mkdirSync(join(root, 'a'));
    mkdirSync(join(root, 'b'));
    put(root, '.toolcrib.json', { roots: ['b'] });
    const { narrowedRoots } = createConfigs();
    expect(await narrowedRoots([join(root, 'a'), root])).toEqual([join(root, 'b')]);
  });
});
