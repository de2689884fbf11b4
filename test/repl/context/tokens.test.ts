import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  estimateMessage,
  estimateTokens,
  estimateTools,
  firstTokens,
} from '../../../src/repl/context/tokens.ts';
import { answer, call } from './conversation.ts';

describe('estimateTokens', () => {
  it.each([
    ['', 0],
    ['a', 1],
    ['abcd', 1],
    ['abcde', 2],
    ['你好', 2],
    ['ab你好', 3],
    ['😀', 1],
    ['é', 1],
    ['\ud800', 1],
    ['\udc00', 1],
  ])('counts %j as %i', (text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens);
  });

  it('counts characters as a string does, whatever they are', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const characters = [...text];
        const ascii = characters.filter((character) => character < '\x80').length;
        expect(estimateTokens(text)).toBe(Math.ceil(ascii / 4) + characters.length - ascii);
      }),
    );
  });
});

it('counts an image as 1,600, wherever it is', () => {
  const image = { type: 'image', mimeType: 'image/png', data: 'x'.repeat(100_000) } as const;
  expect(estimateMessage({ role: 'user', content: [{ type: 'text', text: 'abcd' }, image] })).toBe(1_601);
  expect(
    estimateMessage({
      role: 'tool',
      callId: '1',
      name: 'x',
      text: '',
      images: [image, image],
      isError: false,
    }),
  ).toBe(3_200);
});

it('counts calls, and thoughts only when they are sent back', () => {
  const calls = [call('1', '{"path":"abc"}')];
  expect(estimateMessage(answer('abcd', calls, { reasoning: 'abcdabcd' }))).toBe(1 + 3 + 4);
  expect(estimateMessage(answer('abcd', calls, { reasoning: 'abcdabcd', native: [] }))).toBe(1 + 3 + 4 + 2);
});

it('counts what is said of the tools', () => {
  const tool = { name: 'abcd', description: 'abcdabcd', inputSchema: { type: 'object' } };
  expect(estimateTools([tool, tool])).toBe(2 * (1 + 2 + 5));
});

it('cuts a text to a number of tokens, never through a character', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, tokens) => {
      const first = firstTokens(text, tokens);
      expect(text.startsWith(first)).toBe(true);
      expect(estimateTokens(first)).toBeLessThanOrEqual(tokens);
      expect(Buffer.from(first).toString()).toBe(first);
      const next = text.slice(first.length).match(/^./su)?.[0];
      if (next !== undefined) expect(estimateTokens(first + next)).toBeGreaterThan(tokens);
    }),
  );
});
