import type { Paint, Palette } from './terminal.ts';

type Attribute = 'bold' | 'dim' | 'italic' | 'underline' | 'struck';
/** Attributes, and numbers of colours: of the first sixteen, which look as the person chose. */
type Style = readonly (Attribute | number)[];

const attributes: Record<Attribute, readonly [number, number]> = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
  struck: [9, 29],
};

const dark: Record<keyof Paint, Style> = {
  heading: ['bold', 6],
  strong: ['bold'],
  emphasis: ['italic'],
  struck: ['struck'],
  code: [3],
  link: ['underline', 12],
  quote: ['italic', 7],
  dim: ['dim'],
  tool: [6],
  good: [2],
  warning: [3],
  bad: [9],
  added: [2],
  removed: [9],
  prompt: ['bold', 5],
};

const palettes: Record<Palette, Record<keyof Paint, Style>> = {
  dark,
  light: {
    ...dark,
    heading: ['bold', 4],
    code: [5],
    link: ['underline', 4],
    quote: ['italic', 8],
    bad: [1],
    removed: [1],
  },
  plain: {
    ...dark,
    heading: ['bold', 'underline'],
    emphasis: ['underline'],
    code: ['bold'],
    link: ['underline'],
    quote: ['dim'],
    tool: ['bold'],
    good: [],
    warning: ['bold'],
    bad: ['bold'],
    added: ['bold'],
    removed: ['dim'],
    prompt: ['bold'],
  },
};

export interface PaintOptions {
  /** `auto`: dark or light, as the terminal says. */
  readonly palette: Palette | 'auto';
  readonly env: NodeJS.ProcessEnv;
  readonly stream: { readonly isTTY?: boolean; getColorDepth?(env?: object): number };
}

/** Colour by meaning, for one stream. Without colours every function gives its text back. */
export function createPaint(options: PaintOptions): Paint {
  const { env } = options;
  const palette = palettes[options.palette === 'auto' ? detectPalette(env) : options.palette];
  const colors = hasColors(options);
  const style = (parts: Style): ((text: string) => string) => {
    if (!colors) return (text) => text;
    return (text) => (text === '' ? '' : parts.map(codesOf).reduceRight(wrap, text));
  };
  return Object.fromEntries(
    Object.entries(palette).map(([meaning, parts]) => [meaning, style(parts)]),
  ) as unknown as Paint;
}

/** COLORFGBG, which rxvt, Konsole and others set to "foreground;background"; `dark` where nobody says. */
function detectPalette(env: NodeJS.ProcessEnv): Palette {
  const background = Number(/;(\d+)$/.exec(env['COLORFGBG'] ?? '')?.[1] ?? 0);
  return background === 7 || background > 8 ? 'light' : 'dark';
}

/** FORCE_COLOR goes before NO_COLOR, as in Node; an empty NO_COLOR says nothing (no-color.org). */
function hasColors({ env, stream }: PaintOptions): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if (env['NO_COLOR'] || env['TERM'] === 'dumb' || !stream.isTTY) return false;
  return (stream.getColorDepth?.({ ...env, NO_COLOR: undefined }) ?? 4) > 1;
}

function codesOf(part: Attribute | number): readonly [open: string, close: string] {
  const [open, close] = typeof part === 'string' ? attributes[part] : [part < 8 ? 30 + part : 82 + part, 39];
  return [`\u001b[${open}m`, `\u001b[${close}m`];
}

/** A style that ends inside ends ours too, as they share their ends: ours begins again there. */
const wrap = (text: string, [open, close]: readonly [string, string]): string =>
  open + text.replaceAll(close, close + open) + close;
