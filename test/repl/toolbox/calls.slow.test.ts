import { describe, expect, it } from 'vitest';
import { until } from '../../support/until.ts';
import { fixtureServer, openToolbox } from './open-toolbox.ts';

describe('results', () => {
  it('become text and images', async () => {
    const { call } = await openToolbox([fixtureServer()]);
    const { text, images } = await call('mcp__fix__mixed');
    expect(text.split('\n')).toEqual([
      'one \ufffd',
      '[audio/wav, 3 bytes, left out]',
      '[file:///a.txt]',
      'in a',
      '[file:///a.bin] [application/zip, 3 bytes, left out]',
      '[b - file:///b.txt]',
    ]);
    expect(images).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
  });

  it('are structured content only where there is no text', async () => {
    const { call } = await openToolbox([fixtureServer()]);
    expect((await call('mcp__fix__structured')).text).toBe('{"answer":42}');
  });

  it('say that they are errors', async () => {
    const { call } = await openToolbox([fixtureServer()]);
    expect(await call('mcp__fix__wrong')).toEqual({ text: 'that went wrong', images: [], isError: true });
  });

  it('are cut at a megabyte', async () => {
    const { call } = await openToolbox([fixtureServer()]);
    const { text } = await call('mcp__fix__big', { bytes: 3_000_000 });
    expect(text).toHaveLength(1024 * 1024 + '\n[cut here: 1951424 more characters]'.length);
  });
});

describe('time', () => {
  it('ends a call that says nothing', async () => {
    const { call } = await openToolbox([fixtureServer([], { timeoutMs: 1000 })]);
    expect(await call('mcp__fix__hang')).toMatchObject({
      isError: true,
      text: 'No answer within 1 s: it may or may not have run.',
    });
  });

  it('begins anew with every sign of progress', async () => {
    const { call } = await openToolbox([fixtureServer([], { timeoutMs: 3000 })]);
    expect((await call('mcp__fix__slow', { steps: 33, ms: 100 })).text).toBe('arrived');
  });

  it('does not run while the person is thinking', async () => {
    const { call } = await openToolbox([fixtureServer([], { timeoutMs: 3000 })], {
      async elicit() {
        const end = performance.now() + 3300;
        await until(() => performance.now() > end);
        return { action: 'accept', content: { colour: 'red', often: 1 } };
      },
    });
    expect((await call('mcp__fix__ask')).text).toBe('red 1');
  });
});
