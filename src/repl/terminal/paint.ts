import type { Paint, Palette } from './terminal.ts';

type Meaning = Exclude<keyof Paint, 'colors'>;
type Attribute = 'bold' | 'dim' | 'italic' | 'underline';
/** Number of a colour in 16 colours, and in 256. */
type Color = readonly [number, number];
type Style = readonly (Attribute | Color)[];

const attributes: Record<Attribute, readonly [number, number]> = {
  bold: [1, 22],
  dim: [2, 22],
  italic: [3, 23],
  underline: [4, 24],
};

// Colours of the first sixteen look as the person chose; those of the 256 are readable on black and on white.
const palettes: Record<Palette, Record<Meaning, Style>> = {
  dark: {
    heading: ['bold', [6, 117]],
    strong: ['bold'],
    emphasis: ['italic'],
    code: [[3, 180]],
    link: ['underline', [12, 75]],
    quote: ['italic', [7, 250]],
    dim: ['dim'],
    tool: [[6, 80]],
    good: [[2, 114]],
    warning: [[3, 221]],
    bad: [[9, 203]],
    added: [[2, 114]],
    removed: [[9, 203]],
    prompt: ['bold', [5, 141]],
  },
  light: {
    heading: ['bold', [4, 25]],
    strong: ['bold'],
    emphasis: ['italic'],
    code: [[5, 90]],
    link: ['underline', [4, 26]],
    quote: ['italic', [8, 240]],
    dim: ['dim'],
    tool: [[6, 24]],
    good: [[2, 28]],
    warning: [[3, 130]],
    bad: [[1, 160]],
    added: [[2, 28]],
    removed: [[1, 160]],
    prompt: ['bold', [5, 91]],
  },
  plain: {
    heading: ['bold', 'underline'],
    strong: ['bold'],
    emphasis: ['underline'],
    code: ['bold'],
    link: ['underline'],
    quote: ['dim'],
    dim: ['dim'],
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
  /** What the person said; undefined leaves it to the environment and the stream. */
  readonly colors?: boolean | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly stream: { readonly isTTY?: boolean; getColorDepth?(env?: object): number };
}

/** Colour by meaning, for one stream. Without colours every function gives its text back. */
export function createPaint(options: PaintOptions): Paint {
  const depth = depthFor(options);
  const palette = options.palette === 'auto' ? detectPalette(options.env) : options.palette;
  const style = (meaning: Meaning): ((text: string) => string) => {
    const codes = palettes[palette][meaning].map((part) => codesOf(part, depth));
    if (depth === 1 || codes.length === 0) return (text) => text;
    return (text) => (text === '' ? '' : codes.reduceRight(wrap, text));
  };
  const meanings = Object.keys(palettes.plain) as Meaning[];
  const styles = Object.fromEntries(meanings.map((meaning) => [meaning, style(meaning)]));
  return { colors: depth > 1, ...(styles as Record<Meaning, (text: string) => string>) };
}

/** COLORFGBG, which rxvt, Konsole and others set to "foreground;background"; `dark` where nobody says. */
export function detectPalette(env: NodeJS.ProcessEnv): Palette {
  const background = Number(/;(\d+)$/.exec(env['COLORFGBG'] ?? '')?.[1] ?? 0);
  return background === 7 || background > 8 ? 'light' : 'dark';
}

/** Bits of colour: 1 for none. FORCE_COLOR goes before NO_COLOR, as in Node; an empty NO_COLOR says nothing (no-color.org). */
function depthFor({ colors, env, stream }: PaintOptions): number {
  const forced = env['FORCE_COLOR'];
  const known = () =>
    env['TERM'] === 'dumb' ? 1 : (stream.getColorDepth?.({ ...env, NO_COLOR: undefined }) ?? 4);
  if (colors === false) return 1;
  if (forced === '0' || forced === 'false') return colors ? 4 : 1;
  if (forced !== undefined) return forced === '2' || forced === '3' ? 8 : Math.max(4, known());
  if (colors) return Math.max(4, known());
  return env['NO_COLOR'] || !stream.isTTY ? 1 : known();
}

function codesOf(part: Attribute | Color, depth: number): readonly [open: string, close: string] {
  if (typeof part === 'string') return [`\u001b[${attributes[part][0]}m`, `\u001b[${attributes[part][1]}m`];
  const [few, many] = part;
  const code = depth >= 8 ? `38;5;${many}` : few < 8 ? 30 + few : 82 + few;
  return [`\u001b[${code}m`, '\u001b[39m'];
}

/** A style that ends inside ends ours too, as they share their ends: ours begins again there. */
const wrap = (text: string, [open, close]: readonly [string, string]): string =>
  open + text.replaceAll(close, close + open) + close;
