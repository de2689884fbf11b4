import { describe, expect, it } from 'vitest';
import { createRunsFinder } from '../../src/machine/trust/find-runs.ts';
import { masked } from '../../src/machine/trust/masked.ts';
import { parts } from '../../src/machine/trust/parts.ts';
import { processorMs } from '../support/processor-ms.ts';

const length = 1_000_000;
const long = (piece: string) => piece.repeat(length / piece.length);

/** A letter takes some tens of nanoseconds, and a line half a microsecond; in the square of the length it would be minutes. */
const limitMs = 800;

/** Each begins like something that counts, or is left out, and turns out to be something else at its end. */
const lines = {
  blanks: `a${long(' ')}@b`,
  name: `${long('a')}@b`,
  'a name and blanks': `${long('a ')}@b`,
  extras: `a[${long('a,')}@b`,
  'open extras': `${long('a[')}@b`,
  'open brackets': `a${long('(')}@b`,
  versions: `a${long('>=1,')}@b`,
  markers: `a;${long('b ')}\\c`,
  comments: `a${long(' #')}\u2028@`,
  hashes: `a${long(' --hash=')}@`,
  backslashes: `${long('a\\\n')}@`,
  export: `export${long(' ')}=`,
  'empty lines': long('\n'),
  header: `[a${long(' ')}x`,
  subsection: `[a "${long('\\a')}`,
  'long section': `[a "${'b'.repeat(length / 2)}"]\n${'t\n'.repeat(length / 4)}`,
  sections: long('[a]\n'),
  names: `[a]\n${long('t\n')}`,
  'blank values': `[a]\nb = ${long(' ')}"`,
  quotes: `[a]\nb = ${long('""')}"`,
  addresses: `[remote "a"]\nurl = ${long('a.')}\nurl = ${long('a@a:')}`,
  'deep lists': long('['),
  'deep objects': `{"a":${long('{"a":')}`,
  'a deep object': `{"overrides":${'{"a":'.repeat(length / 6)}1${'}'.repeat(length / 6 + 1)}`,
  'many keys': `{${long('"a":"1",')}"b":1}`,
  rules: `${long('a ')}$`,
  tokens: `token${long(' ')}x`,
  passwords: long('password='),
  'open quotes': long('key="'),
  'escaped quotes': `key="${long('\\"')}`,
  'both quotes': long(`key='token="`),
  elements: long('<password>a'),
  'open elements': long('<passwordpassword'),
  users: long('a://b:c'),
  schemes: `${long('a.')}://`,
  netrc: long('password \t'),
  shapes: long('ghp_'),
};

describe('a hostile line of 1 MB', () => {
  it.each(Object.entries(lines))('is no more work than another: %s', (_, text) => {
    for (const [name, count] of Object.entries({ ...parts, masked: (line: string) => masked(line, true) })) {
      const started = process.cpuUsage();
      try {
        count(text);
      } catch {
        // Nested too deeply: all of it counts then.
      }
      expect(process.cpuUsage(started).user / 1000, name).toBeLessThan(limitMs);
    }
  });

  it('is no work as a name', () => {
    const finder = createRunsFinder();
    const started = process.cpuUsage();
    for (const piece of ['.config.', '*', 'a.', '-compose.', '.test.', 'mise.'])
      for (let at = 0; at < 1000; at++) finder.fileIn('', `${piece.repeat(250 / piece.length)}${at}`);
    expect(processorMs(started)).toBeLessThan(2000);
  });
});
