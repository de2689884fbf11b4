import * as fc from 'fast-check';
import { parse as parseJson } from 'jsonc-parser';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { settingIn, withoutSetting, withSettings } from '../../src/cli/host-file.ts';

// Files of hosts as people have them, with what is easily lost when they are rewritten.

const multiline = '"""\n[mcp_servers.toolcrib]\ncommand = "x"\n"""';
const formats = {
  'a.json': {
    under: ['mcpServers', 'toolcrib'],
    parse: (text: string) => (text.trim() === '' ? {} : (parseJson(text) as unknown)),
    files: [
      '',
      '{}',
      '{}\n',
      '{ }',
      ' {\n}\n',
      '{"a":1}',
      '{\n\t"a": 1 // c\n}\n',
      '{\r\n  "a": 1,\r\n  "mcpServers": { /* x */ }\r\n}',
      '\uFEFF{\r\n    "mcpServers": {\r\n        "o": {"a": [1,2]}, // t\r\n    },\r\n}\r\n',
      '{"mcpServers":{"b":{}},"c":[1]}',
      '{"mcpServers":null,"c":1}',
      '// a\n{\n // b\n "a": "{ \\"toolcrib\\": {} }" /* c */,\n}\n// d',
      '{"mcpServers": {}}',
    ],
  },
  'a.toml': {
    under: ['mcp_servers', 'toolcrib'],
    parse: (text: string) => parseToml(text.replace(/^\uFEFF/, ''), { integersAsBigInt: 'asNeeded' }),
    files: [
      '',
      '\n',
      '# c',
      'a = 1',
      'a = 1\n',
      `\uFEFFa = 1\r\n[b]\r\nc = ${multiline.replaceAll('\n', '\r\n')}\r\n`,
      'mcp_servers = { other = { command = "a", args = ["x"] } } # c\nmodel = "x"\n',
      'mcp_servers = {}\n',
      'mcp_servers.other = { command = "b" }\nx = 2\n',
      'mcp_servers.other.command = "b"\n',
      `"mcp_servers"."o t".command = 'b'\n[[x]]\na = 1\n[[x]]\na = 2\n`,
      '[mcp_servers]\no = { command = "x" }\n[tui]\n',
      `[ mcp_servers . 'other' ]\ncommand = ${multiline.replaceAll('"""', "'''")}\n\n\n`,
      'd = 1979-05-27 07:32:00\nbig = 9007199254740993\n\t[t]\n\tx = [\n 1, # c ]\n 2 ]\n',
      'a = """x""""" # "\nb = "\\"#"\n',
    ],
  },
  'a.yaml': {
    under: ['extensions', 'toolcrib'],
    parse: (text: string) => (parseYaml(text) as unknown) ?? {},
    files: [
      '',
      '# c\n',
      'a: 1',
      'a: 1\r\nextensions:\r\n    # c\r\n    dev:\r\n        x: 1 # d\r\n# e\r\nb: 2\r\n',
      'extensions:\n',
      'extensions:',
      'extensions: # c\nb: 1\n',
      'extensions: ~\nb: 2\n',
      'extensions: {}\n',
      'extensions: {dev: {a: 1}}\n',
      '{a: 1}\n',
      'a: |+\n  x\n\n\n',
      'extensions:\n  dev:\n    a: |\n      [x]\n      toolcrib: x\n\n  "t wo": &x {a: 1}\nz: *x\n',
      '\uFEFFa: 1\n',
      '---\na: 1\n',
    ],
  },
} as const;

const entry = { command: '/opt/node', args: ['/a b/ü.cjs', 'serve', '--expose', 'no-files'], timeout: 20 };

describe.each(Object.entries(formats))('settings in the format %s', (name, { under, parse, files }) => {
  const put = (text: string, value: unknown) => withSettings(name, text, [{ under, value }]);

  it.each(files)('take the entry, a change of it, and its removal: %j', (text) => {
    const written = put(text, entry);
    const [key, id] = under;
    const before = parse(text) as Record<string, object | null | undefined>;
    expect(parse(written)).toEqual({ ...before, [key]: { ...before[key], [id]: entry } });
    expect(written.startsWith('\uFEFF')).toBe(text.startsWith('\uFEFF'));
    if (text.includes('\n')) expect(/[^\r]\n/.test(written)).toBe(/[^\r]\n|^\n/.test(text));
    for (const [comment] of text.matchAll(/(?:#|\/\/|\/\*) \w/g)) expect(written).toContain(comment);
    expect(withoutSetting(name, written, under, text)).toBe(text);
    const other = { ...entry, command: 'npx', args: ['-y', 'x', 'serve', '--rule', 'a=deny'] };
    expect(settingIn(name, put(written, other), under)).toEqual(other);
    expect(parse(put(put(written, other), entry))).toEqual(parse(written));
    // Without the copy: what is empty then need not stay.
    const left = put(written, undefined);
    expect(settingIn(name, left, under)).toBeUndefined();
    if (before[key] !== null && Object.keys(before[key] ?? {}).length > 0) expect(left).toBe(text);
  });

  it('change nothing but what is given, and keep comments between', () => {
    fc.assert(
      fc.property(fc.constantFrom(...files), fc.array(fc.string({ unit: 'grapheme' })), (text, words) => {
        const args = ['/new.cjs', 'serve', ...words];
        expect(settingIn(name, put(put(text, entry), { ...entry, args }), under)).toEqual({ ...entry, args });
      }),
      { numRuns: 40 },
    );
  });
});

it('replaces a word of a list, and leaves the others with their comments', () => {
  const args = ['/new.cjs', 'serve', '--rule', 'a=deny'];
  const put = (name: keyof typeof formats, text: string) =>
    withSettings(name, text, [{ under: formats[name].under, value: { args } }]);
  expect(
    put(
      'a.json',
      '{"mcpServers": {"toolcrib": {"args": [\n"/old.cjs",\n"serve", // c\n"--questions", "host",\n// no\n"--rule", "a=deny"]}}}',
    ),
  ).toBe('{"mcpServers": {"toolcrib": {"args": [\n"/new.cjs",\n"serve", // c\n// no\n"--rule", "a=deny"]}}}');
  const toml = (words: string) => `[mcp_servers.toolcrib]\nargs = [ # a\n  ${words}, # c\n]\n`;
  expect(put('a.toml', toml(`'/old.cjs', "serve", # b\n  "--rule", "a=deny"`))).toBe(
    toml(`"/new.cjs", "serve", # b\n  "--rule", "a=deny"`),
  );
  const yaml = (words: string) => `extensions:\n  toolcrib:\n    args:\n${words}  # end\n`;
  expect(
    put(
      'a.yaml',
      yaml(
        '    - /old.cjs # b\n    - serve\n    - --questions\n    - host\n    - --rule # c\n    - a=deny\n',
      ),
    ),
  ).toBe(yaml('    - "/new.cjs" # b\n    - serve\n    - --rule # c\n    - a=deny\n'));
});

it.each([
  ['a.json', '{"mcpServers": {"toolcrib": {"a": 1}}, "mcpServers": {}}'],
  ['a.json', '{"mcpServers": []}'],
  ['a.toml', '[[mcp_servers]]\na = 1\n'],
  ['a.toml', 'a = 1\na = 2\n'],
  ['a.yaml', 'extensions: &e\n  toolcrib: &t {a: 1}\nb: *t\n'],
  ['a.yaml', 'extensions: [1]\n'],
  ['a.yaml', 'a: 1\n---\nb: 2\n'],
] as const)('refuses a text that it could not leave as it is: %s %j', (name, text) => {
  const { under } = formats[name];
  expect(() => withSettings(name, text, [{ under, value: { a: 2 } }])).toThrow(/nothing was written/);
});

it.each([
  ['a.toml', '[mcp_servers.toolcrib] # c\n[x]\n'],
  ['a.toml', '[mcp_servers]\n  toolcrib.command = "node" # c\n[x]\n'],
  ['a.toml', '[mcp_servers.toolcrib.env]\nA = "b" # c\n'],
  ['a.yaml', 'extensions:\n  toolcrib:\n    command: >-\n      node\n    args:\n    - |-\n      old\n# c\n'],
  ['a.yaml', '"extensions":\n  "toolcrib": {command: node} # c'],
  ['a.json', '{"mcpServers": {"toolcrib": null, // c\n}}'],
] as const)('fills in an entry that is there, however it is written: %s %j', (name, text) => {
  const { under, parse } = formats[name];
  const there = settingIn(name, text, under) as object;
  const after = withSettings(name, text, [{ under, value: { ...there, ...entry } }]);
  expect(settingIn(name, after, under)).toEqual({ ...there, ...entry });
  expect(after).toMatch(/(?:#|\/\/) c/);
  const left = parse(withSettings(name, after, [{ under, value: undefined }]));
  expect(JSON.stringify(left)).not.toContain('node');
});
