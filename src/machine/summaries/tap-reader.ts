import { collectFailures, type Summary } from './summary.ts';
import { readDiagnostics, type Diagnostics } from './tap-diagnostics.ts';

/** One test point, until all that is said about it has come. */
interface Point {
  readonly passed: boolean;
  readonly name: string;
  readonly directive: string;
  readonly depth: number;
  /** The names of the tests it is in, outermost first. */
  readonly within: readonly string[];
  /** What has come of its subtests; undefined when it has none. */
  readonly below: Level | undefined;
  readonly said: string[];
  diagnostics: Diagnostics;
}

/** The tests of one depth since the last one above them. */
interface Level {
  points: number;
  failed: number;
}

/** Deeper nesting is no report that somebody wrote. */
const mostDepth = 100;
const mostSaid = 20;
const mostYamlLines = 300;

/** The first line of a report that says what it is. */
export const version = /^TAP version 1[34]\s*$/;
/** A test point: its indentation, `not `, its number, the rest. */
export const pointLine = /^( *)(not )?ok(?=\s|$)(?: (\d{1,9})(?=\s|$))?(?:\s+-)?\s*(.*)$/;
const planLine = /^1\.\.(\d{1,9})\s*(?:#.*)?$/;
const total = /^# (tests|suites|pass|fail|cancelled|skipped|todo) (\d{1,9})$/;
const bail = /^ *Bail out!/;
/** What vitest writes behind a name, which ends with a brace when its tests follow; Node and it escape what is in a name. */
const timed = /\s# time=[\d.]+ms$/;
const opening = / # (?:time=[\d.]+ms|SKIP|TODO) \{$/;

/** Whether a line is the plan of a whole report. */
export const isPlan = (line: string): boolean => planLine.test(line);

/** Reads a report line by line. `hasVersion`: it says that it is TAP; `before`: lines above it that were not read. */
export function createReader({ hasVersion, before }: { hasVersion: boolean; before: number }) {
  const totals: Record<string, number> = {};
  const counts = { passed: 0, failed: 0, skipped: 0, todo: 0 };
  /** Tests that only had subtests: these are what is counted. */
  const parents = { passed: 0, failed: 0 };
  const failures = collectFailures();
  const doubts: string[] = [];
  const names: string[] = [];
  const levels = new Map<number, Level>();
  /** Of those whose tests follow in braces, outermost first. */
  const open: (Omit<Point, 'below'> & { readonly indent: number })[] = [];
  let lines = before;
  let others = before;
  let points0 = 0;
  let current: Point | undefined;
  let yaml: { readonly indent: number; readonly lines: string[] } | undefined;
  let planned: number | undefined;

  function close(): void {
    const point = current;
    current = undefined;
    if (!point) return;
    const { below, directive, passed } = point;
    const isExcused = directive !== '';
    const level = levels.get(point.depth);
    if (!passed && !isExcused && level) level.failed++;
    if (below && (passed || isExcused)) parents.passed += isExcused ? 0 : 1;
    else if (below && below.failed > 0 && !hasOwnFailure(point)) parents.failed++;
    else if (/^skip/i.test(directive)) counts.skipped++;
    else if (/^todo/i.test(directive)) counts.todo++;
    else if (passed) counts.passed++;
    else fail(point);
  }

  function fail({ within, name, said, diagnostics: { message, place } }: Point): void {
    counts.failed++;
    const text = said.join('\n');
    failures.add({
      name: [...within, name].join(' › '),
      place: place ?? placeIn(text),
      message: message || text,
    });
  }

  /** Closes all that is in braces at this indentation or further right. */
  function closeBraces(indent: number): void {
    for (let top = open.at(-1); top && top.indent >= indent; top = open.at(-1)) {
      close();
      open.pop();
      current = { ...top, below: takeBelow(top.depth) };
    }
    close();
  }

  /** What has come further in, which is then over. */
  function takeBelow(depth: number): Level | undefined {
    const below = { points: 0, failed: 0 };
    for (const [deeper, { points, failed }] of levels) {
      if (deeper <= depth) continue;
      below.points += points;
      below.failed += failed;
      levels.delete(deeper);
    }
    return below.points > 0 ? below : undefined;
  }

  function point([line, indent = '', not, , rest = '']: RegExpExecArray): void {
    closeBraces(indent.length);
    const depth = Math.min(mostDepth, Math.floor(indent.length / 4));
    const isOpening = opening.test(line);
    const { name, directive } = partsOf((isOpening ? rest.slice(0, -2) : rest).replace(timed, ''));
    // Its subtests have come before it, if they do not follow in braces.
    const below = takeBelow(depth);
    const level = levels.get(depth) ?? { points: 0, failed: 0 };
    level.points++;
    levels.set(depth, level);
    if (depth === 0) points0++;
    const within = names.slice(0, depth).filter((one) => one !== '');
    const found = { passed: not === undefined, name, directive, depth, within, said: [], diagnostics: {} };
    if (isOpening && open.length < mostDepth) {
      open.push({ ...found, indent: indent.length });
      enter(depth, name);
    } else current = { ...found, below };
  }

  function enter(depth: number, name: string): void {
    names.length = depth;
    names[depth] = name;
    for (let at = 0; at < depth; at++) names[at] ??= '';
  }

  function comment(words: string, indent: number): void {
    const [, subtest] = /^Subtest: (.*)$/.exec(words) ?? [];
    if (subtest !== undefined) enter(Math.min(mostDepth, Math.floor(indent / 4)), unescaped(subtest));
    else if (current && !current.passed && current.said.length < mostSaid) current.said.push(words.trim());
  }

  /** Whether it was a line of the block of diagnostics that has begun. */
  function isOfYaml(line: string, words: string, indent: number): boolean {
    if (!yaml) return false;
    const isEnd = indent === yaml.indent && words === '...';
    // One whose end is missing ends with what stands further left.
    const isOutside = indent < yaml.indent && words !== '';
    if (isEnd || isOutside) {
      if (current) current.diagnostics = readDiagnostics(yaml.lines);
      yaml = undefined;
    } else if (yaml.lines.length < mostYamlLines) yaml.lines.push(line.slice(yaml.indent));
    return !isOutside;
  }

  function doubt(): void {
    const { pass = 0, fail: failed = 0, cancelled = 0, tests } = totals;
    if (others > 0) doubts.push(`lines that are no TAP: ${others}`);
    if (tests === undefined && planned !== undefined && planned !== points0)
      doubts.push(`planned were ${planned} tests, and ${points0} came`);
    // Node counts a test with subtests as one more, and a suite not at all.
    if (failed + cancelled > counts.failed + parents.failed || pass > counts.passed + parents.passed)
      doubts.push(`its own totals say otherwise: ${pass} passed, ${failed + cancelled} failed`);
  }

  return {
    line(line: string): void {
      const words = line.trim();
      if (words !== '') lines++;
      const indent = line.length - line.trimStart().length;
      if (isOfYaml(line, words, indent) || words === '') return;
      if (words === '---' && current && indent > 0) {
        yaml = { indent, lines: [] };
        return;
      }
      const found = pointLine.exec(line);
      if (found && (hasVersion || found[3] !== undefined)) return point(found);
      const [, name, number] = total.exec(line) ?? [];
      if (name !== undefined) totals[name] = Number(number);
      else if (words.startsWith('#')) comment(words.slice(1).replace(/^ /, ''), indent);
      else if (isPlan(words)) planned = indent > 0 ? planned : Number(planLine.exec(words)?.[1]);
      else if (words === '}' && open.length > 0) closeBraces(indent);
      else if (bail.test(line) && doubts.length < 3) doubts.push(words);
      else if (!version.test(words) && !/^pragma [+-]/.test(words)) others++;
    },

    finish(isWhole: boolean): Summary | undefined {
      closeBraces(0);
      if (points0 + counts.passed + counts.failed === 0 && planned === undefined) return undefined;
      // What does not say that it is TAP may be text that begins like it.
      if (!hasVersion && (planned === undefined || others * 10 > lines)) return undefined;
      if (isWhole) doubt();
      else doubts.push('the middle of the report was not looked at');
      return {
        format: 'TAP',
        counts: isWhole ? counts : { ...counts, ...told(totals, counts) },
        ...failures.result,
        doubts,
      };
    },
  };
}

/** Whether more went wrong with a test than its subtests: a hook, or what it does itself. Only Node says so. */
const hasOwnFailure = ({ diagnostics: { failureType } }: Point): boolean =>
  failureType !== undefined && failureType !== 'subtestsFailed';

/** What the runner has counted itself, for a report of which a part is missing; what was seen is not fewer. */
function told(
  totals: Readonly<Record<string, number>>,
  { passed, failed, skipped, todo }: Readonly<Record<'passed' | 'failed' | 'skipped' | 'todo', number>>,
): Record<string, number> {
  const { pass = 0, fail = 0, cancelled = 0 } = totals;
  return {
    passed: Math.max(passed, pass),
    failed: Math.max(failed, fail),
    skipped: Math.max(skipped, totals['skipped'] ?? 0),
    todo: Math.max(todo, totals['todo'] ?? 0),
    ...(cancelled > 0 && { cancelled }),
  };
}

/** A name and the directive after it: `name # SKIP why`. */
function partsOf(rest: string): { name: string; directive: string } {
  const at = rest.search(/(?:^|\s)#\s*(?:skip|todo)/i);
  const name = at < 0 ? rest : rest.slice(0, at);
  return { name: unescaped(name.trim()), directive: at < 0 ? '' : rest.slice(at).replace(/^\s*#\s*/, '') };
}

const unescaped = (text: string): string => text.replaceAll(/\\([\\#])/g, '$1');

/** How Perl's tests say where they are. */
function placeIn(said: string): string | undefined {
  const [, file, line] = /\bat (\S{1,300}) line (\d{1,9})/.exec(said) ?? [];
  return file === undefined ? undefined : `${file}:${line}`;
}
