import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMcpConfig } from '../../../src/repl/config/mcp-config.ts';

function fileWith(content: unknown): string {
  const file = join(mkdtempSync(join(tmpdir(), 'chat-mcp-')), 'mcp.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}
const env = { TOKEN: 't0', HOME: '/home/ann', EMPTY: '' };
const read = (content: unknown, source: 'user' | 'project' = 'user') =>
  readMcpConfig(fileWith(content), { source, env, needed: true });

const common = { trust: false, protocol: 'auto', timeoutMs: 60_000, source: 'user' };

describe('mcp.json', () => {
  it('names servers over stdio and HTTP', async () => {
    const { servers, warnings } = await read({
      mcpServers: {
        fs: {
          command: 'npx',
          args: ['-y', 'fs', ''],
          env: { A: 'b', N: 1 },
          cwd: '/tmp',
          trust: true,
          tools: ['read_*'],
        },
        web: {
          type: 'http',
          url: 'https://x.example/mcp',
          headers: { Authorization: 'Bearer x' },
          timeout: 5,
        },
        old: { type: 'streamable-http', url: 'http://127.0.0.1:1/', protocol: '2025-11-25' },
        bare: { url: 'https://y.example' },
        off: { command: 'x', disabled: true },
      },
    });
    expect(warnings).toEqual([]);
    expect(servers).toEqual({
      fs: {
        ...common,
        name: 'fs',
        kind: 'stdio',
        command: 'npx',
        args: ['-y', 'fs', ''],
        env: { A: 'b', N: '1' },
        cwd: '/tmp',
        trust: true,
        tools: ['read_*'],
      },
      web: {
        ...common,
        name: 'web',
        kind: 'http',
        url: 'https://x.example/mcp',
        headers: { Authorization: 'Bearer x' },
        timeoutMs: 5,
      },
      old: {
        ...common,
        name: 'old',
        kind: 'http',
        url: 'http://127.0.0.1:1/',
        headers: {},
        protocol: '2025-11-25',
      },
      bare: { ...common, name: 'bare', kind: 'http', url: 'https://y.example', headers: {} },
    });
  });

  it('may be one of VS Code, and begin with a mark of its encoding', async () => {
    const { servers } = await read(
      `\uFEFF${JSON.stringify({ inputs: [], servers: { a: { type: 'stdio', command: '${env:HOME}/a' } } })}`,
    );
    expect(servers.a).toMatchObject({ command: '/home/ann/a' });
  });

  it('takes values from the environment, everywhere', async () => {
    const { servers } = await read({
      mcpServers: {
        a: {
          command: '${HOME}/a',
          args: ['${NONE:-b c}', '$TOKEN'],
          env: { X: '${TOKEN}-${EMPTY:-e}' },
          cwd: '${HOME}',
        },
        b: { url: 'https://${NONE:-h.example}/', headers: { A: 'Bearer ${TOKEN}' } },
      },
    });
    expect(servers.a).toMatchObject({
      command: '/home/ann/a',
      args: ['b c', '$TOKEN'],
      env: { X: 't0-e' },
      cwd: '/home/ann',
    });
    expect(servers.b).toMatchObject({ url: 'https://h.example/', headers: { A: 'Bearer t0' } });
  });

  it('leaves out a broken server with one warning each, and keeps the rest', async () => {
    const { servers, warnings } = await read({
      mcpServers: {
        'a b': { command: 'x' },
        none: {},
        list: { command: 'x', args: 'y' },
        unset: { command: 'x', args: ['${NONE}'] },
        sse: { type: 'sse', url: 'https://x.example' },
        url: { url: 'ftp://x.example' },
        text: 'x',
        good: { command: 'x', autoApprove: ['y'], arg: ['z'] },
      },
    });
    expect(Object.keys(servers)).toEqual(['good']);
    expect(warnings.map((warning) => warning.replace(/^\S+mcp\.json: /, ''))).toEqual([
      'a b: The name may have letters, digits, "_" and "-".',
      'none: It needs "command" (a program) or "url" (Streamable HTTP).',
      'list: args should be a list.',
      'unset: args.0 uses ${NONE}, which is not set. Set it, or write ${NONE:-otherwise}.',
      'sse: type is the old SSE transport. Use "http" (Streamable HTTP) with the URL the server has for it.',
      'url: url should be an http or https URL.',
      'text: should be keys with values.',
      'good: "arg" is ignored. Did you mean "args"?',
    ]);
  });

  it('of a project cannot ask to be trusted, and stops nothing when it is broken', async () => {
    const { servers, warnings } = await read({ mcpServers: { a: { command: 'x', trust: true } } }, 'project');
    expect(servers.a).toMatchObject({ trust: false, source: 'project' });
    expect(warnings).toEqual([expect.stringContaining('"trust" is ignored')]);
    expect(await read('{', 'project')).toMatchObject({
      servers: {},
      warnings: [expect.stringMatching(/mcp\.json:1 is no JSON/)],
    });
  });

  it('may be missing unless it was named, and is refused with its line when it is no JSON', async () => {
    const none = join(tmpdir(), 'no', 'such', 'mcp.json');
    expect(await readMcpConfig(none, { source: 'user', env, needed: false })).toMatchObject({
      servers: {},
      warnings: [],
    });
    await expect(readMcpConfig(none, { source: 'flag', env, needed: true })).rejects.toThrow(
      /mcp\.json does not exist/,
    );
    await expect(read('{\n "mcpServers": {\n  x }')).rejects.toThrow(/mcp\.json:3 is no JSON/);
    await expect(read('{"mcpServers": []}')).rejects.toThrow(/"mcpServers" should be names with servers/);
    await expect(read('{"mcpServers": {"__proto__": {"command": "x"}}}')).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
    });
  });
});
