import { inspect } from 'node:util';

export type Palette = 'dark' | 'light' | 'plain';

/** Names of `inspect.colors`: attributes, and the first sixteen colours, which look as the person chose. */
const dark = {
  heading: ['bold', 'cyan'],
  strong: ['bold'],
  emphasis: ['italic'],
  struck: ['strikethrough'],
  code: ['yellow'],
  link: ['underline', 'blueBright'],
  quote: ['italic', 'white'],
  dim: ['dim'],
  tool: ['cyan'],
  good: ['green'],
  warning: ['yellow'],
  bad: ['redBright'],
  added: ['green'],
  removed: ['redBright'],
  prompt: ['bold', 'magenta'],
};
type Styles = Readonly<Record<keyof typeof dark, readonly string[]>>;

/** Colour by meaning. Every function leaves its text alone where there are no colours. */
export type Paint = Readonly<Record<keyof typeof dark, (text: string) => string>>;

const palettes: Readonly<Record<Palette, Styles>> = {
  dark,
  light: {
    ...dark,
    heading: ['bold', 'blue'],
    code: ['magenta'],
    link: ['underline', 'blue'],
    quote: ['italic', 'blackBright'],
    bad: ['red'],
    removed: ['red'],
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

/** Colour by meaning, for one stream. */
export function createPaint(options: PaintOptions): Paint {
  const { env, palette } = options;
  const styles = palettes[palette === 'auto' ? detectPalette(env) : palette];
  const colors = hasColors(options);
  const style = (names: readonly string[]) => (text: string) =>
    colors && text !== '' ? names.reduceRight(styled, text) : text;
  return Object.fromEntries(
    Object.entries(styles).map(([meaning, names]) => [meaning, style(names)]),
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

/** A style that ends inside ends ours too, as they share their ends: ours begins again there. */
function styled(text: string, name: string): string {
  const [open, close] = inspect.colors[name] ?? [0, 0];
  const [begin, end] = [`\u001b[${open}m`, `\u001b[${close}m`];
  return begin + text.replaceAll(end, end + begin) + end;
}
