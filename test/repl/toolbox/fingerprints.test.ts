import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { definitionOf, identityOf } from '../../../src/repl/toolbox/fingerprints.ts';
import { httpServer, nodeServer } from './open-toolbox.ts';

const server = nodeServer('one', ['a.js'], { cwd: '/x' });
const identity = identityOf(server, {});

describe('the identity of a server', () => {
  it('is how it is reached, and nothing else', () => {
    expect(identity).toMatch(/^[0-9a-f]{16}$/);
    expect(
      identityOf({ ...server, name: 'two', env: { KEY: 'secret' }, trust: false, timeoutMs: 1 }, {}),
    ).toBe(identity);
    expect(identityOf({ ...server, args: ['b.js'] }, {})).not.toBe(identity);
    expect(identityOf({ ...server, cwd: '/y' }, {})).not.toBe(identity);
    const web = httpServer('one', 'http://127.0.0.1/mcp');
    expect(identityOf({ ...web, headers: { Authorization: 'x' } }, {})).toBe(identityOf(web, {}));
    expect(identityOf({ ...web, url: 'http://127.0.0.1/other' }, {})).not.toBe(identityOf(web, {}));
  });

  it.skipIf(process.platform === 'win32')('is another one when the command means another program', () => {
    const folders = ['one', 'two'].map(() => mkdtempSync(join(tmpdir(), 'path-')));
    onTestFinished(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));
    for (const folder of folders) {
      writeFileSync(join(folder, 'served'), '');
      chmodSync(join(folder, 'served'), 0o755);
    }
    const named = { ...server, command: 'served' };
    const inPath = (all: string[]) => identityOf(named, { PATH: all.join(delimiter) });
    expect(inPath(folders)).not.toBe(inPath(folders.toReversed()));
    expect(inPath(['/nowhere', ...folders])).toBe(inPath(folders));
    expect(inPath([])).toBe(inPath(['/nowhere']));
  });
});

describe('the definition of a tool', () => {
  const tool = {
    name: 'a',
    title: 'A',
    description: 'b',
    inputSchema: { type: 'object', properties: { x: {}, y: {} } },
    annotations: {},
  };
  const definition = definitionOf(tool);

  it('does not depend on the order of keys', () => {
    const turned = {
      annotations: {},
      inputSchema: { properties: { y: {}, x: {} }, type: 'object' },
      description: 'b',
      title: 'A',
      name: 'a',
    };
    expect(definitionOf(turned)).toBe(definition);
  });

  it.each([
    { description: 'c' },
    { name: 'b' },
    { title: undefined },
    { annotations: { readOnlyHint: true } },
    { inputSchema: { type: 'object', properties: { x: {}, y: { type: 'string' } } } },
  ])('changes with %j', (change) => expect(definitionOf({ ...tool, ...change })).not.toBe(definition));
});
