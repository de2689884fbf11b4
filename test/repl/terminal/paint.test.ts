import { describe, expect, it } from 'vitest';
import { createPaint, detectPalette, type PaintOptions } from '../../../src/repl/terminal/paint.ts';

const terminal = { isTTY: true };
const paintFor = (options: Partial<PaintOptions>) =>
  createPaint({ palette: 'dark', env: {}, stream: terminal, ...options });

describe('createPaint', () => {
  it('colours on a terminal', () => {
    expect(paintFor({}).bad('x')).toBe('\u001b[91mx\u001b[39m');
  });

  it.each<[string, Partial<PaintOptions>]>([
    ['NO_COLOR', { env: { NO_COLOR: '1' } }],
    ['FORCE_COLOR=0', { env: { FORCE_COLOR: '0' } }],
    ['TERM=dumb', { env: { TERM: 'dumb' } }],
    ['a pipe', { stream: {} }],
    ['a terminal without any', { stream: { isTTY: true, getColorDepth: () => 1 } }],
  ])('leaves text alone with %s', (_why, options) => {
    for (const style of Object.values(paintFor(options))) expect(style('text')).toBe('text');
  });

  it.each<[string, Partial<PaintOptions>]>([
    ['an empty NO_COLOR', { env: { NO_COLOR: '' } }],
    ['FORCE_COLOR in a pipe', { env: { FORCE_COLOR: '1' }, stream: {} }],
  ])('colours with %s', (_why, options) => {
    expect(paintFor(options).bad('x')).not.toBe('x');
  });

  it('goes on with a style after one that ended inside it', () => {
    const paint = paintFor({ palette: 'plain' });
    expect(paint.strong(`a${paint.code('b')}c`)).toBe('\u001b[1ma\u001b[1mb\u001b[22m\u001b[1mc\u001b[22m');
  });

  it('uses no colour in the plain palette', () => {
    for (const style of Object.values(paintFor({ palette: 'plain' })))
      expect(style('x')).toMatch(/^(?:\u001b\[[1249]m)*x(?:\u001b\[2[249]m)*$/);
  });
});

it.each([
  ['15;0', 'dark'],
  ['0;15', 'light'],
  ['0;default;7', 'light'],
  ['15;8', 'dark'],
  [undefined, 'dark'],
])('takes COLORFGBG %s for %s', (value, palette) => {
  expect(detectPalette(value === undefined ? {} : { COLORFGBG: value })).toBe(palette);
});
