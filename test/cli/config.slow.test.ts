import {
  existsSync,
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync, spawnSync } from 'node:child_process';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/cli/config.ts';
import { knownNames } from '../../src/cli/served-settings.ts';
import { parseCommandLine, serveOptions, settingsOf, UsageError } from '../../src/cli/usage.ts';
import { mergeSettings, usualBudgets, usualSettings } from '../../src/core/settings.ts';
import { createProjectConfigs } from '../../src/machine/config/project-config.ts';
import { temporaryFolder, temporaryRepository } from '../support/repository.ts';
import { connect, eras, inherited, program } from '../support/server.ts';
import { textOf } from '../support/text-of.ts';

function configured(content: string) {
  const home = temporaryFolder();
  mkdirSync(join(home, 'toolcrib'));
  const file = join(home, 'toolcrib', 'config.json');
  writeFileSync(file, content);
  return { file, env: { ...inherited(), XDG_CONFIG_HOME: home } };
}

it('takes the roots and limits of the configuration file', async () => {
  const root = temporaryFolder();
  writeFileSync(join(root, 'a.txt'), 'hello');
  mkdirSync(join(root, '.git'));
  const { env } = configured(JSON.stringify({ roots: [root], readOnly: true, toolsets: ['files', 'git'] }));
  const client = await connect('2025-11-25', { env, cwd: '/' });
  onTestFinished(() => client.close());
  expect(textOf(await client.callTool({ name: 'read_file', arguments: { path: 'a.txt' } }))).toBe('1\thello');
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names).toContain('git_status');
  expect(names).not.toContain('git_commit');
  expect(names).not.toContain('list_programs');
});

it('lets the command line decide where both set something, except for read-only', async () => {
  const { env } = configured(JSON.stringify({ roots: ['/nowhere'], readOnly: true, toolsets: ['git'] }));
  const root = temporaryFolder();
  writeFileSync(join(root, 'a.txt'), 'hello');
  writeFileSync(join(root, 'package.json'), '{}');
  const client = await connect('2025-11-25', { env, roots: [root], args: ['--toolsets', 'files,npm'] });
  onTestFinished(() => client.close());
  expect(textOf(await client.callTool({ name: 'read_file', arguments: { path: 'a.txt' } }))).toBe('1\thello');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('npm_scripts');
  expect(tools.filter(({ annotations }) => !annotations?.readOnlyHint)).toEqual([]);
});

it('keeps the state of a work tree before project code runs, unless the operator forbids it', async () => {
  const { folder } = temporaryRepository();
  writeFileSync(join(folder, 'a.js'), 'console.log("ran"); require("fs").writeFileSync("made", "")');
  const state = temporaryFolder();
  for (const [config, args, kept] of [
    [{}, [], true],
    [{ checkpoints: true }, [], true],
    [{ checkpoints: false }, [], false],
    [{}, ['--no-checkpoints'], false],
    [{ checkpoints: true }, ['--no-checkpoints'], false],
  ] as const) {
    const { env } = configured(JSON.stringify(config));
    const client = await connect('2025-11-25', {
      env: { ...env, XDG_STATE_HOME: state },
      roots: [folder],
      args: [...args, '--questions', 'none'],
    });
    const result = await client.callTool({ name: 'node_run', arguments: { file: 'a.js' } });
    const undone = await client.callTool({ name: 'undo', arguments: { last: 1 } });
    await client.close();
    expect(textOf(result)).toBe('ran');
    expect(textOf(undone)).toMatch(kept ? /^Took back ran node .*a\.js: 1 file / : /^Nothing to take back/);
    expect(existsSync(join(folder, 'made'))).toBe(!kept);
  }
});

/** The complaint of `toolcrib serve` when it does not start. */
function stopped(env: Record<string, string>, ...args: string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, 'serve', ...args], {
    env,
    encoding: 'utf8',
    input: '',
  });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr.trim().split('\n')).toHaveLength(1);
  return stderr;
}

/** The mistakes in a file; the tools that there are do not change. */
async function complaint(file: string): Promise<string> {
  const error: unknown = await readConfig(file, { known: () => known }).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(UsageError);
  return (error as Error).message;
}

let known: ReturnType<typeof knownNames>;
beforeAll(() => {
  known = knownNames();
});

it.each([
  ['{"root": ["/"]}', 'config.json:1: root: there is no such setting; did you mean roots?'],
  ['{"roots": ["/no/such/folder"]}', 'config.json: roots: /no/such/folder: there is no such folder'],
  ['{"folders": {"/no/such/folder": {}}}', 'config.json: folders: /no/such/folder: there is no such folder'],
  ['{"rules": {"git_psuh": "ask"}}', 'rules.git_psuh: there is no such tool; did you mean git_push?'],
  ['{roots: []}', 'config.json:1: it does not parse'],
])('stops the server when the file contains %s', (content, message) => {
  expect(stopped(configured(content).env)).toContain(message);
});

it.each([
  ['{\n  // mine\n  "readOnly": "yes",\n}', ':3: readOnly: expected boolean'],
  ['{"questions": "hots"}', 'questions: expected one of "server"|"host"|"none"'],
  ['{"folders": {"sub": {}}}', 'folders.sub: sub is not absolute'],
  [
    '{"folders": {"/w": {"readOnyl": true}}}',
    'folders./w.readOnyl: there is no such setting; did you mean readOnly?',
  ],
  ['{"folders": {"/w": {"roots": ["/"]}}}', 'folders./w.roots: the folder itself is meant'],
  ['{"folders": {"/w": {"databases": {}}}}', 'folders./w.databases: only the operator can set it'],
  [
    '{"folders": {\n"/w": {\n"rules": {"git_psuh": "deny"}}}}',
    ':3: folders./w.rules.git_psuh: there is no such tool',
  ],
  [
    '{"folders": {"/w": {"toolsets": ["gti"]}}}',
    'folders./w.toolsets.0: gti: there is no such toolset; did you mean git?',
  ],
  ['{"folders": {"/w/": {}, "/w": {}}}', 'folders: /w is there twice, by two names'],
  ['{"rules": {"read(**/.env)": "ask"}}', 'rules.read(**/.env): a rule about reading files can only deny'],
  ['{"rules": {"gti_*": "deny"}}', 'did you mean git_*?'],
  ['{"rules": {"git push": "deny"}}', 'expected a tool'],
  ['{"budgets": {"callSecond": 5}}', 'did you mean callSeconds?'],
  ['{"budgets": {"callSeconds": 3601}}', 'budgets.callSeconds'],
  ['{"databases": {"main": {"engine": "oracle"}}}', 'databases.main.engine'],
  ['{"databases": {"main": {"engine": "mysql"}}}', 'needs either url, or urlFrom'],
  ['{"databases": {"a b": {"engine": "mysql", "urlFrom": "X"}}}', 'a name has small letters'],
  ['{"readOnly": true, "readOnly": false}', 'the same key is there twice'],
  ['{"__proto__": {"readOnly": true}}', '__proto__ is no setting'],
  ['{"roots": ["relative"]}', 'is not absolute'],
  ['{"roots": []}', 'roots: is empty'],
  ['', 'config.json:1: it does not parse'],
])('refuses a file that contains %s', async (content, message) => {
  expect(await complaint(configured(content).file)).toContain(message);
});

it('shows nothing of what an address contains', async () => {
  const { file } = configured(
    '{"databases": {"main": {"engine": "mysql", "url": "http://me:secret@host/x"}}}',
  );
  const said = await complaint(file);
  expect(said).toContain('databases.main.url: expected mysql://');
  expect(said).not.toContain('secret');
});

describe.skipIf(process.platform === 'win32')('a configuration file that cannot be relied on', () => {
  it.each<[string, (file: string) => void, string]>([
    ['a file that everybody can write', (file) => chmodSync(file, 0o666), 'everybody can write'],
    [
      'one in a folder that everybody can write',
      (file) => chmodSync(dirname(file), 0o777),
      'everybody can write',
    ],
    [
      'a folder',
      (file) => {
        rmSync(file);
        mkdirSync(file);
      },
      'no regular file',
    ],
    [
      'a FIFO',
      (file) => {
        rmSync(file);
        execFileSync('mkfifo', [file]);
      },
      'no regular file',
    ],
    [
      'a device',
      (file) => {
        rmSync(file);
        symlinkSync('/dev/zero', file);
      },
      'no regular file',
    ],
    [
      'a link to nothing',
      (file) => {
        rmSync(file);
        symlinkSync('nowhere', file);
      },
      'not there',
    ],
    ['a large file', (file) => writeFileSync(file, ' '.repeat(1024 * 1024 + 1)), 'larger than 1 MB'],
    ['text that is not UTF-8', (file) => writeFileSync(file, Buffer.from([0x7b, 0xff, 0x7d])), 'not UTF-8'],
  ])('is refused as %s', async (_, make, message) => {
    const { file } = configured('{}');
    make(file);
    expect(await complaint(file)).toContain(message);
  });

  it.skipIf(process.getuid?.() !== 0)('is refused as a file of another user', async () => {
    const { file } = configured('{}');
    chownSync(file, 12_345, 12_345);
    expect(await complaint(file)).toContain('another user');
  });
});

it('follows a link to the configuration file, as dotfiles are kept', async () => {
  const { env, file } = configured('{}');
  const kept = join(temporaryFolder(), 'kept.json');
  writeFileSync(kept, '{"readOnly": true}');
  rmSync(file);
  symlinkSync(kept, file);
  const client = await connect('2026-07-28', { env, roots: [temporaryFolder()] });
  onTestFinished(() => client.close());
  expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain('write_file');
});

it.each([
  ['{"readOnyl": true}', '.toolcrib.json:1: readOnyl: there is no such setting; did you mean readOnly?'],
  ['{"roots": ["/"]}', 'leads outside of the project'],
  ['{\n"roots": ["nonexist"]}', '.toolcrib.json: roots: nonexist: there is no such folder'],
  ['{"databases": {}}', 'only the operator can set it'],
])(
  'starts in a root whose own file contains %s, and reports why nothing runs there',
  async (content, message) => {
    const root = temporaryFolder();
    writeFileSync(join(root, '.toolcrib.json'), content);
    const client = await connect('2026-07-28', { roots: [root] });
    onTestFinished(() => client.close());
    const call = async (name: string, given: Record<string, unknown>) =>
      textOf(await client.callTool({ name, arguments: given }));
    expect(await call('read_file', { path: '.toolcrib.json' })).toContain('{');
    expect(await call('write_file', { path: 'a.txt', content: 'x' })).toMatch(/^Wrote/);
    expect(await call('undo', { last: 1 })).toMatch(/^Took back/);
    const refused = await call('run', { command: 'touch ran' });
    expect(refused).toMatch(/^EFFECT_DENIED: /);
    expect(refused).toContain(message);
  },
);

it('starts in a root with a folder named .toolcrib.json', () => {
  const root = temporaryFolder();
  mkdirSync(join(root, '.toolcrib.json', 'x'), { recursive: true });
  const args = [program, 'serve', '--root', root];
  expect(spawnSync(process.execPath, args, { env: inherited(), encoding: 'utf8', input: '' })).toMatchObject({
    status: 0,
    stderr: '',
  });
});

it.each([
  ['{"toolsets": ["git"]}', 'the toolsets are git (toolsets of '],
  ['{"toolsets": []}', 'the toolsets are none (toolsets of '],
])('names the file of a project that contains %s', async (content, why) => {
  const root = temporaryFolder();
  const client = await connect('2026-07-28', { roots: [root] });
  onTestFinished(() => client.close());
  writeFileSync(join(root, '.toolcrib.json'), content);
  const call = { name: 'write_file', arguments: { path: 'a.txt', content: 'x' } };
  expect(textOf(await client.callTool(call))).toContain(`${why}${join(root, '.toolcrib.json')})`);
});

it('reports why a call cannot be made when the server does not start', () => {
  const { file, env } = configured('{"readOnyl": true}');
  const args = [program, 'call', 'list_programs'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
  expect(stderr.trim().split('\n')).toEqual([
    expect.stringContaining(`${file}:1: readOnyl: there is no such setting; did you mean readOnly?`),
  ]);
});

it.each(eras)('refuses calls in a project by what its file contains now (%s)', async (era) => {
  const root = temporaryFolder();
  const file = join(root, '.toolcrib.json');
  const client = await connect(era, { roots: [root], args: ['--rule', 'write_file=allow'] });
  onTestFinished(() => client.close());
  const write = async () => {
    const result = await client.callTool({ name: 'write_file', arguments: { path: 'a.txt', content: 'x' } });
    rmSync(join(root, 'a.txt'), { force: true });
    return textOf(result);
  };
  for (const [content, said] of [
    ['{}', /^Wrote/],
    ['{"readOnyl": true}', /^Wrote/],
    ['{"readOnly": false}', /^Wrote/],
    ['{"rules": {"write_*": "allow"}}', /^Wrote/],
    // Each stricter than those before, which go on to count.
    ['{"rules": {"write_*": "ask"}}', /^NEEDS_CONFIRM: /],
    ['{"rules": {"write_*": "deny"}}', /^EFFECT_DENIED: .*rules "write_\*" of .*\.toolcrib\.json\./],
    ['{"readOnly": true}', /^EFFECT_DENIED: .*read-only \(readOnly of .*\.toolcrib\.json\)/],
    ['{"toolsets": ["git"]}', /^EFFECT_DENIED: .*readOnly of .*as it was when the server read it; restart/],
  ] as const) {
    writeFileSync(file, content);
    expect(await write()).toMatch(said);
  }
  rmSync(file);
  symlinkSync('/dev/null', file);
  expect(await write()).toMatch(/^EFFECT_DENIED: .*as it was when the server read it/);
  rmSync(file);
  expect(await write()).toMatch(/^EFFECT_DENIED: .*as it was when the server read it/);
});

describe('settings of the file and of the command line', () => {
  const merged = async (content: string, args: string[] = []) => {
    const { file } = configured(content);
    const { values } = parseCommandLine({ args, options: serveOptions });
    return mergeSettings(settingsOf(values), await readConfig(file, { home: '/h' }));
  };

  it('are read from a file with comments', async () => {
    const settings = await merged(`{
      // folders
      "roots": ["~/projects", "/srv", "~"],
      "rules": { "git_push": "ask", "run(npm test *)": "allow", "read(**/.env)": "deny" },
      "questions": "host",
      "folders": { "~/projects/shop": { "readOnly": true, "rules": { "git_push": "deny" } } },
      "checkpoints": false,
      "budgets": { "callSeconds": 10 }, /* the others as usual */
      "databases": {
        "main": { "engine": "postgresql", "url": "postgresql://me@host/main" },
        "shop": { "engine": "mysql", "urlFrom": "SHOP_URL" },
      },
    }`);
    expect(settings).toMatchObject({
      roots: ['/h/projects', '/srv', '/h'],
      questions: 'host',
      folders: { '/h/projects/shop': { readOnly: true, rules: [{ pattern: 'git_push', decision: 'deny' }] } },
      checkpoints: false,
      budgets: { ...usualBudgets, callSeconds: 10 },
      databases: { main: { engine: 'postgresql' }, shop: { urlFrom: 'SHOP_URL' } },
    });
    expect(settings.rules.map(({ pattern, decision }) => [pattern, decision])).toEqual([
      ['git_push', 'ask'],
      ['run(npm test *)', 'allow'],
      ['read(**/.env)', 'deny'],
    ]);
    expect(settings.rules[0]?.setting).toMatch(/^rules "git_push" of .*config\.json$/);
    expect(settings.folders['/h/projects/shop']?.rules?.[0]?.setting).toMatch(
      /^rules "git_push" of folders ~\/projects\/shop of .*config\.json$/,
    );
  });

  it('are decided by the command line, one by one', async () => {
    const content = '{"questions": "host", "rules": {"git_push": "allow", "git_fetch": "deny"}}';
    const rules = ['--rule', 'git_push=ask', '--rule', 'run(env A=b *)=deny'];
    const settings = await merged(content, ['--questions', 'server', ...rules]);
    expect(settings).toMatchObject({ questions: 'server' });
    expect(settings.rules.map(({ pattern, decision }) => `${pattern}=${decision}`)).toEqual([
      'git_push=ask',
      'run(env A=b *)=deny',
      'git_fetch=deny',
    ]);
  });
});

it('shows with doctor which settings are in force', () => {
  const root = temporaryFolder();
  const content = {
    roots: [root],
    rules: { git_push: 'deny' },
    folders: { [root]: { readOnly: false } },
    databases: { main: { engine: 'mysql', url: 'mysql://me:secret@h/x' } },
  };
  const { file, env } = configured(JSON.stringify(content));
  const project = join(root, '.toolcrib.json');
  writeFileSync(project, '{"readOnly": false, "rules": {"git_fetch": "deny"}}');
  const doctor = () => spawnSync(process.execPath, [program, 'doctor'], { env, encoding: 'utf8' });
  const { status, stdout } = doctor();
  expect(status).toBe(0);
  for (const part of [file, 'rules "git_push"', 'databases', project, 'rules "git_fetch"', `folders ${root}`])
    expect(stdout).toContain(part);
  expect(stdout).not.toContain('secret');
  writeFileSync(project, '{"readOnyl": true}');
  expect(doctor()).toMatchObject({ status: 1, stdout: expect.stringContaining('did you mean readOnly?') });
  writeFileSync(file, '{');
  expect(doctor()).toMatchObject({ status: 1, stdout: expect.stringContaining('it does not parse') });
});

it('reads the examples of docs/configuration.md', async () => {
  const page = readFileSync('docs/configuration.md', 'utf8').split('## Variables')[0] ?? '';
  const examples = [...page.matchAll(/```jsonc?\n([^]*?)```/g)].map(([, text = '']) => text);
  const [ofProject = '', ...ofOperator] = examples.toReversed();
  expect(ofOperator).toHaveLength(3);
  for (const text of ofOperator) {
    const config = await readConfig(configured(text).file);
    expect(Object.keys(config).length).toBeGreaterThan(1);
  }
  const root = temporaryFolder();
  mkdirSync(join(root, 'src'));
  writeFileSync(join(root, '.toolcrib.json'), ofProject);
  const { settings: narrowed } = await createProjectConfigs().inForce(usualSettings, [root]);
  expect(narrowed.budgets.jobs).toBe(2);
  for (const [name, usual] of Object.entries(usualBudgets))
    expect(page).toMatch(new RegExp(`\\| \`${name}\` +\\| ${usual} `));
});
