import { assert, oneof, property, string, stringMatching, tuple, uniqueArray } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isWanted, toolName } from '../../../src/repl/toolbox/names.ts';

describe('the name of a tool', () => {
  it('is what other hosts call it', () => {
    expect(toolName('files', 'read_text-file')).toBe('mcp__files__read_text-file');
  });

  it('is the same in every run, also when it had to be changed', () => {
    expect(toolName('files', 'read.file')).toBe('mcp__files__read_file_7f90ed3c');
    expect(toolName('files', 'x'.repeat(80))).toBe(`mcp__files__${'x'.repeat(43)}_fad53fd1`);
  });

  it('does not mix up servers whose names run into the tool', () => {
    expect(toolName('a__b', 'c')).not.toBe(toolName('a', 'b__c'));
    expect(toolName('a_', 'b')).not.toBe(toolName('a', '_b'));
  });

  it('is one that every model takes, and belongs to one tool only', () => {
    const part = oneof(
      string({ minLength: 1 }),
      stringMatching(/^[a-c_.-]{1,6}$/),
      stringMatching(/^[a-z]{20,40}$/),
    );
    const pairs = uniqueArray(tuple(stringMatching(/^[a-c_-]{1,40}$/), part), {
      selector: (pair) => JSON.stringify(pair),
      minLength: 2,
      maxLength: 30,
    });
    assert(
      property(pairs, (all) => {
        const names = all.map(([server, tool]) => toolName(server, tool));
        for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
        expect(new Set(names).size).toBe(all.length);
      }),
    );
  });
});

describe('the tools that are wanted', () => {
  it.each([
    ['a', undefined, true],
    ['a', [], true],
    ['read_file', ['read_*'], true],
    ['write_file', ['read_*'], false],
    ['write_file', ['!write_*'], false],
    ['read_file', ['!write_*'], true],
    ['read_secret', ['read_*', '!*secret'], false],
    ['read_secret', ['!*secret', 'read_*'], true],
    ['a.b', ['a?b'], false],
  ])('%s by %j: %s', (tool, globs, wanted) => expect(isWanted(tool, globs)).toBe(wanted));
});
