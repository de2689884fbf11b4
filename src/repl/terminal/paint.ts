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
  warning: ['yellow'],
  bad: ['redBright'],
  added: ['green'],
  removed: ['redBright'],
  prompt: ['bold', 'magenta'],
};
type Styles = Readonly<Record<keyof typeof dark, readonly string[]>>;

/** Colour by meaning. Every function leaves its text alone where there are no colours. */
export type Paint = Readonly<Record<keyof typeof dark, (text: string) => string>>;

const light: Styles = {
  ...dark,
  heading: ['bold', 'blue'],
  code: ['magenta'],
  link: ['underline', 'blue'],
  quote: ['italic', 'blackBright'],
  bad: ['red'],
  removed: ['red'],
};
/** For whom colours say nothing. */
const plain: Styles = {
  ...dark,
  heading: ['bold', 'underline'],
  code: ['bold'],
  link: ['underline'],
  quote: ['dim'],
  tool: ['bold'],
  warning: ['bold'],
  bad: ['bold'],
  added: ['bold'],
  removed: ['dim'],
  prompt: ['bold'],
};

export interface PaintOptions {
  /** `auto`: dark or light, as the terminal says. */
  readonly palette: Palette | 'auto';
  readonly env: NodeJS.ProcessEnv;
  readonly stream: { readonly isTTY?: boolean; getColorDepth?(env?: object): number };
}

/** Colour by meaning, for one stream. */
export function createPaint({ palette, env, stream }: PaintOptions): Paint {
  const styles = { dark, light, plain }[palette === 'auto' ? detected(env) : palette];
  // It obeys NO_COLOR, FORCE_COLOR and TERM.
  const hasColors = stream.isTTY === true && (stream.getColorDepth?.(env) ?? 1) > 1;
  const style = (names: readonly string[]) => (text: string) =>
    hasColors && text !== '' ? names.reduceRight(styled, text) : text;
  return Object.fromEntries(
    Object.entries(styles).map(([meaning, names]) => [meaning, style(names)]),
  ) as unknown as Paint;
}

/** COLORFGBG, which rxvt, Konsole and others set to "foreground;background"; `dark` where nobody says. */
function detected(env: NodeJS.ProcessEnv): Palette {
  const background = Number(/;(\d+)$/.exec(env['COLORFGBG'] ?? '')?.[1] ?? 0);
  return background === 7 || background > 8 ? 'light' : 'dark';
}

/** A style that ends inside ends ours too, as they share their ends: ours begins again there. */
function styled(text: string, name: string): string {
  const [open, close] = inspect.colors[name] ?? [0, 0];
  const [begin, end] = [`\u001b[${open}m`, `\u001b[${close}m`];
  return begin + text.replaceAll(end, end + begin) + end;
}
