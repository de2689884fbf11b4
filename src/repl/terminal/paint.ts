import { inspect } from 'node:util';

type Palette = 'dark' | 'light' | 'plain';

const palettes: readonly Palette[] = ['dark', 'light', 'plain'];

/**
 * The styles by palette, as names of `inspect.colors`: attributes, and the first sixteen colours, which look
 * as the person chose. `plain` is for whom colours say nothing.
 */
const styles = {
  heading: ['bold cyan', 'bold blue', 'bold underline'],
  strong: ['bold', 'bold', 'bold'],
  emphasis: ['italic', 'italic', 'italic'],
  struck: ['strikethrough', 'strikethrough', 'strikethrough'],
  code: ['yellow', 'magenta', 'bold'],
  link: ['underline blueBright', 'underline blue', 'underline'],
  quote: ['italic white', 'italic blackBright', 'dim'],
  dim: ['dim', 'dim', 'dim'],
  tool: ['cyan', 'cyan', 'bold'],
  warning: ['yellow', 'yellow', 'bold'],
  bad: ['redBright', 'red', 'bold'],
  added: ['green', 'green', 'bold'],
  removed: ['redBright', 'red', 'dim'],
  prompt: ['bold magenta', 'bold magenta', 'bold'],
};

/** Colour by meaning. Every function leaves its text alone where there are no colours. */
export type Paint = Readonly<Record<keyof typeof styles, (text: string) => string>>;

/** Colour by meaning, for standard output. `auto`: dark or light, as the terminal says. */
export function createPaint(palette: Palette | 'auto', env: NodeJS.ProcessEnv): Paint {
  const which = palettes.indexOf(palette === 'auto' ? detected(env) : palette);
  // It obeys NO_COLOR, FORCE_COLOR and TERM.
  const hasColors = process.stdout.isTTY && process.stdout.getColorDepth(env) > 1;
  const style = (names: readonly string[]) => (text: string) =>
    hasColors && text !== '' ? names.reduceRight(styled, text) : text;
  return Object.fromEntries(
    Object.entries(styles).map(([meaning, names]) => [meaning, style(names[which]?.split(' ') ?? [])]),
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
