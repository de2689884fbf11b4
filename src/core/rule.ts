import { nearest } from './nearest.ts';

export const decisions = ['allow', 'ask', 'deny'] as const;
export type RuleDecision = (typeof decisions)[number];

/** A decision about the calls that fit a pattern. */
export interface Rule {
  /**
   * - `git_push`, `docker_*`            tools by their names
   * - `npm_run(npm run build*)`         such a tool, when its act in one line fits as well
   * - `run(git push *)`                 an act in one line, whichever tool does it
   * - `fetch_url(*.example.com)`    an act by the name of the machine that it talks to
   * - `read(**\/.env)`, `write(dist/**)` files, whichever tool opens them
   */
  readonly pattern: string;
  readonly decision: RuleDecision;
  /** The place where it is written, for people: `rules "git_*" of ~/.config/toolcrib/config.json`. */
  readonly setting: string;
}

/** The facts of a call that rules are matched with. */
export interface Matched {
  readonly tools: readonly string[];
  readonly subject: string;
  /** The machine that it talks to, by its name or address. */
  readonly host?: string;
  /** Real paths that it writes although others run them. */
  readonly protects?: readonly { readonly path: string }[];
}

/** Far more than anybody writes; what a pattern costs grows with it. */
const longestPattern = 500;

/** The name that stands for the act itself, whichever tool does it. */
const anyTool = 'run';

/**
 * True for a rule that is about a call. Rules about paths are asked at the gate; here only about protected
 * files.
 */
export function fits(pattern: string, { tools, subject, host, protects = [] }: Matched): boolean {
  const { name, inside } = partsOf(pattern);
  if (inside === undefined) return tools.some((tool) => matches(name, tool));
  if (isAboutPaths(pattern))
    return name === 'write' && protects.length > 0 && protects.every(({ path }) => matchesPath(inside, path));
  const isTool = name === anyTool || tools.some((tool) => matches(name, tool));
  return isTool && (matches(inside, subject) || (host !== undefined && matches(inside, host)));
}

/**
 * True for a rule about a tool's calls to one host, or to some: `fetch_url(10.0.0.5)`, not `fetch_url(*)`.
 */
export function namesHost(pattern: string, tool: string, host: string): boolean {
  const { name, inside = '*' } = partsOf(pattern);
  return /[^*]/.test(inside) && matches(name, tool) && matches(inside, host);
}

/** True for a rule about files: `read(…)`, `write(…)`. */
export const isAboutPaths = (pattern: string): boolean => /^(?:read|write)\(/.test(pattern);

function partsOf(pattern: string): { name: string; inside?: string } {
  const open = pattern.indexOf('(');
  return open < 0 ? { name: pattern } : { name: pattern.slice(0, open), inside: pattern.slice(open + 1, -1) };
}

/**
 * The rule that denies a file to who reads or writes it, given its absolute path and the one from its root.
 */
export function pathRule(
  rules: readonly Rule[],
  doing: 'read' | 'write',
  paths: readonly string[],
): Rule | undefined {
  return rules.find(({ pattern, decision }) => {
    if (decision !== 'deny' || !isAboutPaths(pattern)) return false;
    const { name, inside = '' } = partsOf(pattern);
    // What must not be read is not written either: a difference would show it.
    return (name === 'read' || name === doing) && paths.some((path) => matchesPath(inside, path));
  });
}

/** The globs of files that must not be read, for programs that know files by themselves. */
export const deniedGlobs = (rules: readonly Rule[]): string[] =>
  rules.flatMap(({ pattern, decision }) =>
    decision === 'deny' && pattern.startsWith('read(') ? [partsOf(pattern).inside ?? ''] : [],
  );

/**
 * `**` stands for any folders, `*` for any part of a name. One without a leading slash may begin anywhere.
 * In time linear to the path for each step.
 */
export function matchesPath(glob: string, path: string): boolean {
  const wanted = glob.split('/').filter((step, at) => step !== '' || at === 0);
  const steps = path.split(/[\\/]/);
  if (wanted[0] !== '' && wanted[0] !== '**') wanted.unshift('**');
  // reached[n]: whether the pattern so far fits the first n steps of the path.
  let reached = steps.map((_, at) => at === 0).concat(false);
  for (const want of wanted) {
    const next = reached.map(() => false);
    for (let at = 0; at <= steps.length; at++) {
      if (want === '**') next[at] = reached[at] === true || next[at - 1] === true;
      else next[at] = at > 0 && reached[at - 1] === true && matches(want, steps[at - 1] ?? '');
    }
    reached = next;
  }
  return reached[steps.length] === true;
}

/** `*` stands for any characters; in time linear to the text for each star, whatever either says. */
export function matches(pattern: string, text: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  if (rest.length === 0) return text === pattern;
  if (!text.startsWith(first)) return false;
  const last = rest.pop() ?? '';
  let at = first.length;
  for (const piece of rest) {
    const found = text.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}

/** The mistake in the form of a rule; undefined when there is none. */
export function ruleProblem(pattern: string, decision: RuleDecision): string | undefined {
  if (pattern.length > longestPattern) return `is longer than ${longestPattern} characters`;
  if (!/^[a-z0-9_*]+(?:\([^\p{Cc}]+\))?$/u.test(pattern))
    return (
      'expected a tool ("git_push"), several ("git_*"), an act ("run(npm test *)"), or files ' +
      '("read(**/.env)")'
    );
  if (pattern.startsWith('read(') && decision !== 'deny')
    return 'a rule about reading files can only deny; everything inside the roots may be read otherwise';
  if (pattern.startsWith('write(') && decision === 'ask')
    return 'a rule about writing files can deny, or allow what would be asked about';
  return undefined;
}

/**
 * The mistake in a pattern that is about none of these tools, with the one that was probably meant;
 * undefined when nothing is. A rule that never fits would leave open what it was written to close.
 */
export function unknownTool(pattern: string, tools: readonly string[]): string | undefined {
  const { name, inside } = partsOf(pattern);
  if (inside !== undefined && (name === anyTool || isAboutPaths(pattern))) return undefined;
  if (tools.some((tool) => matches(name, tool))) return undefined;
  // `gti_*` is most likely meant for all tools of git.
  const families = new Set(tools.map((tool) => tool.replace(/_.*/, '_*')));
  const meant = nearest(name, name.includes('*') ? [...families] : tools);
  const line = inside === undefined ? '' : `(${inside})`;
  const hint = meant === undefined ? 'toolcrib call lists them' : `did you mean ${meant}${line}?`;
  return `there is no such tool; ${hint}`;
}
