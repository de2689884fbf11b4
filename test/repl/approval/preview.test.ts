import { expect, it } from 'vitest';
import { previewOf } from '../../../src/repl/approval/preview.ts';
import { failed, replied, type Tool } from '../../../src/repl/toolbox/tool.ts';
import { aTool } from './a-tool.ts';

const idle = new AbortController().signal;
const withDryRun = (facts: Partial<Tool>) =>
  aTool({ inputSchema: { type: 'object', properties: { dry_run: { type: 'boolean' } } }, ...facts });

it('asks a trusted server for a dry run', async () => {
  const tool = withDryRun({ call: async (args) => replied(`would be: ${JSON.stringify(args)}`) });
  expect(await previewOf({ tool, args: { path: 'a' } }, idle)).toEqual({
    text: 'would be: {"path":"a","dry_run":true}',
    of: [],
  });
  const editing = withDryRun({ call: async () => replied('Would edit a\n@@ -1 +1 @@\n-x\n+y\n') });
  expect(await previewOf({ tool: editing, args: { path: 'a', edits: [] } }, idle)).toMatchObject({
    of: ['edits'],
  });
});

it('never asks one that is not trusted', async () => {
  let called = false;
  const tool = withDryRun({
    trusted: false,
    call: async () => {
      called = true;
      return replied('gone');
    },
  });
  const args = { path: 'a', old_string: 'x', new_string: 'y' };
  expect(await previewOf({ tool, args }, idle)).toEqual({
    text: '-x\n+y',
    of: ['old_string', 'new_string'],
  });
  expect(called).toBe(false);
});

it('fails when a dry run does, since the call would', async () => {
  const tool = withDryRun({ call: async () => failed('no such text') });
  expect(await previewOf({ tool, args: {} }, idle)).toEqual({ failure: 'no such text' });
});

it('reads a change off the arguments, with a little of what stays', async () => {
  const args = { old_string: 'a\nb\nc\nd\ne\nf\ng\n', new_string: 'a\nb\nc\nd\nE\nf\ng\n' };
  expect(await previewOf({ tool: aTool(), args }, idle)).toMatchObject({
    text: ' b\n c\n d\n-e\n+E\n f\n g',
  });
});

it('shows several edits, a new file, and nothing where there is nothing to show', async () => {
  const of = (args: Record<string, unknown>) => previewOf({ tool: aTool(), args }, idle);
  expect(
    await of({
      edits: [
        { oldText: 'a', newText: 'b' },
        { oldText: 'c', newText: '' },
      ],
    }),
  ).toEqual({ text: '-a\n+b\n@@\n-c', of: ['edits'] });
  expect(await of({ edits: [{ oldText: 'a', newText: 'b', all: true }] })).toEqual({
    text: '-a\n+b',
    of: [],
  });
  expect(await of({ edits: [{ oldText: 'a', newText: 'b' }, { at: 3 }] })).toBeUndefined();
  expect(await of({ path: 'a', content: 'x\ny\n' })).toEqual({ text: '+x\n+y', of: ['content'] });
  expect(await of({ query: 'x' })).toBeUndefined();
});

it('gives up when it is interrupted', async () => {
  const controller = new AbortController();
  const tool = withDryRun({
    call: (_, { signal }) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(failed('interrupted')))),
  });
  const preview = previewOf({ tool, args: {} }, controller.signal);
  controller.abort();
  expect(await preview).toBeUndefined();
});
