import { expect, it } from 'vitest';
import * as z from 'zod';
import { compileLine, fresh, glue, type Template } from '../../src/core/command-line.ts';
import { choice, input, on, operand, option, variable, words } from '../../src/core/parameter.ts';
import { list, text } from '../../src/core/params.ts';

const name = z.string();

it('interprets a template once, however often it is written', () => {
  let interpreted = 0;
  const template: Template<{ file: unknown }> = ({ file }) => {
    interpreted += 1;
    return ['--goto', file];
  };
  const line = compileLine({}, { params: { file: operand(name) } }, template as never);
  expect(line.write({ file: 'a' }).argv).toEqual(['--goto', 'a']);
  expect(line.write({ file: 'b' }).argv).toEqual(['--goto', 'b']);
  expect(interpreted).toBe(1);
});

it('writes options, "--", operands and words behind fixed words', () => {
  const params = {
    rest: words('Arguments'),
    files: operand(list(name, 'Files')),
    level: option('--level=', name),
    mode: choice({ usual: [], fast: ['-f', '-x'] }, 'Mode'),
    all: on('--all', 'All', '--some'),
  };
  const line = compileLine({}, { params }, ['go']);
  const values = { rest: ['-v'], files: ['a', 'b'], level: '3', mode: 'fast', all: false };
  expect(line.write(values).argv).toEqual(['go', '--level=3', '-f', '-x', '--some', '--', 'a', 'b', '-v']);
  expect(line.write({ ...values, files: [], rest: [] }).argv).not.toContain('--');
  expect(compileLine({}, { params, dashes: false }, ['go']).write(values).argv).not.toContain('--');
});

it('puts variables and input beside the arguments', () => {
  const params = { version: variable('VERSION', name), body: input(text('Body')) };
  const line = compileLine({}, { params }, ['use']);
  expect(line.write({ version: '20', body: '-x' })).toEqual({
    argv: ['use'],
    env: { VERSION: '20' },
    input: '-x',
  });
  expect(line.write({})).toEqual({ argv: ['use'], env: {} });
});

it('knows from the line whether it has files that are made for each call', () => {
  const params = { only: option('--only', name) };
  expect(compileLine({}, { params }, ['run']).hasFresh).toBe(false);
  const line = compileLine({}, { params }, ['run', glue('--report=', fresh('r.xml'))]);
  expect(line.hasFresh).toBe(true);
  expect(line.write({}, '/t').argv).toEqual(['run', '--report=/t/r.xml']);
});

it('leaves out an argument of which a piece is absent, and keeps inner glue apart', () => {
  const params = { at: operand(name.optional()), line: operand(name.optional()) };
  const template: Template<typeof params> = ({ at, line }) => [glue('file:', at, glue(':', line))];
  const compiled = compileLine({}, { params }, template as never);
  expect(compiled.write({ at: 'a', line: '3' }).argv).toEqual(['file:a:3']);
  expect(compiled.write({ at: 'a' }).argv).toEqual(['file:a']);
  expect(compiled.write({ line: '3' }).argv).toEqual([]);
});

it('refuses a value that begins with a mark of the program where it could be an option', () => {
  const params = { file: operand(name) };
  const line = compileLine({ marks: '/@' }, { params }, ['open']);
  for (const file of ['/t:Evil', '@args'])
    expect(() => line.write({ file })).toThrow('would be read as an option');
  expect(line.write({ file: '-x' }).argv).toEqual(['open', '--', '-x']);
  const glued = compileLine({}, { params }, (({ file }: { file: never }) => [glue('--at=', file)]) as never);
  expect(glued.write({ file: '-x' }).argv).toEqual(['--at=-x']);
});

it('refuses NUL, and a template that names no parameter', () => {
  const line = compileLine({}, { params: { file: operand(name) } }, ['open']);
  expect(() => line.write({ file: 'a\0b' })).toThrow('NUL');
  expect(() => compileLine({}, { params: {} }, (() => [{ slot: 'file' }]) as never)).toThrow(
    'no parameter "file"',
  );
});
