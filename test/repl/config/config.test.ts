import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readChatConfig } from '../../../src/repl/config/config.ts';
import { nearest } from '../../../src/repl/config/nearest.ts';

function folderWith(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'chat-config-'));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}
const read = (yaml: string) => readChatConfig(folderWith({ 'chat.yaml': yaml }));

describe('chat.yaml', () => {
  it('may be missing or empty', async () => {
    const usual = await readChatConfig(folderWith({}));
    expect(usual).toEqual({
      models: {},
      endpoints: {},
      profiles: {},
      rules: [],
      hooks: {},
      palette: 'auto',
      maxTurns: 50,
      thoughts: false,
      nameSessions: true,
      historySize: 1000,
      compaction: { auto: true },
    });
    expect(await read('# nothing yet\n')).toEqual(usual);
    expect(await readChatConfig(join(tmpdir(), 'there', 'is', 'none'))).toEqual(usual);
  });

  it('says everything there is to say', async () => {
    const config = await read(`
model: fast
smallModel: ollama/qwen3
models:
  fast: { model: openai/gpt-5.6-luna, contextWindow: 50000, price: { input: 1, output: 2.5 } }
endpoints:
  work: { wire: anthropic, baseUrl: https://llm.example.org, keyCommand: [pass, show, llm], headers: { X-Team: a } }
mode: plan
palette: light
profile: review
profiles:
  review: { description: Reads only, tools: [git_*, '!git_push'], mode: plan }
rules:
  allow: ['toolcrib:git_*', 'fs:read_file(path=/tmp/*, n=1)']
  deny: ['web:*']
hooks:
  before: [{ tools: 'git_*', command: [./check, --strict], timeoutMs: 1000 }]
  end: [{ command: [notify-send, done] }]
maxTurns: 7
thoughts: true
nameSessions: false
compaction: { auto: false, window: 9000 }
systemPrompt: Be brief.
historySize: 10
`);
    expect(config).toMatchObject({
      model: 'fast',
      smallModel: 'ollama/qwen3',
      models: {
        fast: { model: 'openai/gpt-5.6-luna', contextWindow: 50_000, price: { input: 1, output: 2.5 } },
      },
      endpoints: {
        work: { wire: 'anthropic', keyCommand: ['pass', 'show', 'llm'], headers: { 'X-Team': 'a' } },
      },
      mode: 'plan',
      profiles: { review: { tools: ['git_*', '!git_push'], mode: 'plan' } },
      hooks: { before: [{ tools: 'git_*', command: ['./check', '--strict'], timeoutMs: 1000 }] },
      compaction: { auto: false, window: 9000 },
      historySize: 10,
    });
    expect(config.rules).toEqual([
      { effect: 'deny', server: 'web', tool: '*', source: 'user' },
      { effect: 'allow', server: 'toolcrib', tool: 'git_*', source: 'user' },
      { effect: 'allow', server: 'fs', tool: 'read_file', args: { path: '/tmp/*', n: '1' }, source: 'user' },
    ]);
  });

  it('may be JSON', async () => {
    const folder = folderWith({ 'chat.yaml': '{ "model": "ollama/x",\n "maxTurns": 0 }' });
    await expect(readChatConfig(folder)).rejects.toThrow(
      /chat\.yaml:2: maxTurns should be a whole number above 0/,
    );
  });

  it.each([
    ['modle: x', /chat\.yaml:1: modle is no known key\. Did you mean "model"\?/],
    [
      '\nhooks:\n  before:\n    - comand: [x]',
      /:4: hooks\.before\.0\.comand is no known key\. Did you mean "command"\?/,
    ],
    ['mode: yolo', /:1: mode cannot be yolo here: only by flag/],
    ['mode: askk', /:1: mode should be one of plan, ask, auto/],
    ['model: x\nrules:\n  allow:\n    - "a("', /:4: rules\.allow\.0 is no rule/],
    ['hooks: { end: [{ command: [] }] }', /:1: hooks\.end\.0\.command should not be empty/],
    ['models: { a: { tools: true } }', /:1: models\.a needs model: "endpoint\/id"/],
    [
      'endpoints: { a: { baseUrl: "file:///etc" } }',
      /:1: endpoints\.a\.baseUrl should be an http or https URL/,
    ],
    ['- a', /:1: it should be keys with values/],
    ['model: x\n\tmaxTurns: 3', /chat\.yaml:2: it cannot be read/],
    ['model: x\nmodel: y', /:2: it cannot be read: .*unique/],
    ['zzzzzzzz: 1', /:1: zzzzzzzz is no known key\. Known are: model, smallModel/],
  ])('is refused with its line: %j', async (yaml, message) => {
    await expect(read(yaml)).rejects.toThrow(message);
    await expect(read(yaml)).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });

  it('that grows without end when it is read is refused', async () => {
    const levels = Array.from({ length: 12 }, (_, n) => `a${n}: &a${n} [${`*a${n - 1},`.repeat(10)}]`).slice(
      1,
    );
    await expect(read(['a0: &a0 [x]', ...levels].join('\n'))).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });

  it.skipIf(process.platform === 'win32')(
    'is refused when everybody can write to it, or when it is no file',
    async () => {
      const folder = folderWith({ 'chat.yaml': 'model: x' });
      chmodSync(join(folder, 'chat.yaml'), 0o646);
      await expect(readChatConfig(folder)).rejects.toThrow(/can be written by everybody. Run: chmod o-w/);
      const other = folderWith({ 'chat.yaml/x': '' });
      await expect(readChatConfig(other)).rejects.toThrow(/no regular file/);
      const third = folderWith({});
      execFileSync('mkfifo', [join(third, 'chat.yaml')]);
      await expect(readChatConfig(third)).rejects.toThrow(/no regular file/);
    },
  );
});

it('finds the word that was meant, if any', () => {
  expect(nearest('moddel', ['mode', 'model'])).toBe('model');
  expect(nearest('Model', ['mode', 'model'])).toBe('model');
  expect(nearest('xyzxyz', ['mode', 'model'])).toBeUndefined();
  expect(nearest('m'.repeat(100_000), ['mode'])).toBeUndefined();
});
