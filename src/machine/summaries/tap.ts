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
  readonly isParent: boolean;
  readonly said: string[];
  diagnostics: Diagnostics;
}

/** A command that is echoed before its output, by npm or make, has few lines. */
const mostBefore = 20;
/** Deeper nesting is no report that somebody wrote. */
const mostDepth = 100;
const mostSaid = 20;
const mostYamlLines = 300;

const version = /^TAP version 1[34]\s*$/;
const plan = /^1\.\.\d{1,9}(?:\s|$)/;
const pointLine = /^( *)(not )?ok\b(?: (\d{1,9}))?(?:\s+-)?\s*(.*)$/;
const total = /^# (tests|suites|pass|fail|cancelled|skipped|todo) (\d{1,9})$/;

/**
 * The Test Anything Protocol, versions 13 and 14, subtests and YAML diagnostics included, as Node's test runner, Perl's
 * and others print it. Undefined for what is none. Time and memory are linear in the text.
 */
export function summariseTap(text: string, isWhole: boolean): Summary | undefined {
  const start = startOf(text);
  if (start === undefined) return undefined;
  const reader = createReader();
  for (let from = start; from < text.length;) {
    const end = text.indexOf('\n', from);
    reader.line(text.slice(from, end < 0 ? text.length : end).slice(0, 4000));
    if (end < 0) break;
    from = end + 1;
  }
  return reader.finish(isWhole);
}

/** Where the report begins: at its version, or at once with a plan or a test. */
function startOf(text: string): number | undefined {
  let from = 0;
  for (let count = 0; count < mostBefore && from < text.length; count++) {
    const end = text.indexOf('\n', from);
    const line = text.slice(from, Math.min(end < 0 ? text.length : end, from + 200));
    if (version.test(line)) return from;
    const isFirst = text.slice(0, from).split('\n').every(isEcho);
    if (isFirst && (plan.test(line) || /^(?:not )?ok 1\b/.test(line))) return from;
    if (end < 0) break;
    from = end + 1;
  }
  return undefined;
}

/** A blank line, or one with which npm says what it runs. */
export const isEcho = (line: string): boolean => line.trim() === '' || line.startsWith('> ');

function createReader() {
  const totals: Record<string, number> = {};
  const counts = { passed: 0, failed: 0, skipped: 0, todo: 0 };
  const failures = collectFailures();
  const remarks: string[] = [];
  const names: string[] = [];
  const points = new Map<number, number>();
  let points0 = 0;
  let current: Point | undefined;
  let yaml: { readonly indent: number; readonly lines: string[] } | undefined;
  let planned: number | undefined;

  function close(): void {
    const point = current;
    current = undefined;
    if (!point || point.isParent) return;
    if (/^skip/i.test(point.directive)) counts.skipped++;
    else if (/^todo/i.test(point.directive)) counts.todo++;
    else if (point.passed) counts.passed++;
    else {
      counts.failed++;
      const { message, place } = point.diagnostics;
      const said = point.said.join('\n');
      failures.add({
        name: [...point.within, point.name].join(' › '),
        place: place ?? placeIn(said),
        message: message || said,
      });
    }
  }

  function point([, indent = '', not, , rest = '']: RegExpExecArray): void {
    close();
    const depth = Math.min(mostDepth, Math.floor(indent.length / 4));
    const { name, directive } = partsOf(rest);
    // Its subtests have come before it.
    const isParent = (points.get(depth + 1) ?? 0) > 0;
    for (const deeper of points.keys()) if (deeper > depth) points.delete(deeper);
    points.set(depth, (points.get(depth) ?? 0) + 1);
    if (depth === 0) points0++;
    current = {
      passed: not === undefined,
      name,
      directive,
      depth,
      within: names.slice(0, depth).filter((one) => one !== ''),
      isParent,
      said: [],
      diagnostics: {},
    };
  }

  function comment(words: string, indent: number): void {
    const [, subtest] = /^Subtest: (.*)$/.exec(words) ?? [];
    if (subtest !== undefined) {
      const depth = Math.min(mostDepth, Math.floor(indent / 4));
      names.length = depth;
      names[depth] = unescaped(subtest);
      for (let at = 0; at < depth; at++) names[at] ??= '';
    } else if (current && !current.passed && current.said.length < mostSaid) current.said.push(words.trim());
  }

  return {
    line(line: string): void {
      const indent = line.length - line.trimStart().length;
      if (yaml) {
        const isEnd = indent === yaml.indent && line.trim() === '...';
        // One whose end is missing ends with what stands further left.
        const isOutside = indent < yaml.indent && line.trim() !== '';
        if (!isEnd && !isOutside) {
          if (yaml.lines.length < mostYamlLines) yaml.lines.push(line.slice(yaml.indent));
          return;
        }
        if (current) current.diagnostics = readDiagnostics(yaml.lines);
        yaml = undefined;
        if (isEnd) return;
      }
      const words = line.trim();
      if (words === '---' && current && indent > 0) {
        yaml = { indent, lines: [] };
        return;
      }
      const found = pointLine.exec(line);
      const [, name, number] = total.exec(line) ?? [];
      if (found) point(found);
      else if (name !== undefined) totals[name] = Number(number);
      else if (words.startsWith('#')) comment(words.slice(1).replace(/^ /, ''), indent);
      else if (indent === 0 && plan.test(line)) planned = Number(/^1\.\.(\d+)/.exec(line)?.[1]);
      else if (/^ *Bail out!/.test(line) && remarks.length < 3) remarks.push(words);
    },

    finish(isWhole: boolean): Summary | undefined {
      close();
      if (points0 + counts.passed + counts.failed === 0 && planned === undefined) return undefined;
      if (!isWhole) remarks.push('the middle of the report was not looked at');
      if (isWhole && planned !== undefined && totals['tests'] === undefined && planned !== points0)
        remarks.push(`planned were ${planned} tests, and ${points0} came`);
      return {
        format: 'TAP',
        counts: isWhole ? counts : { ...counts, ...told(totals) },
        ...failures.result,
        remarks,
      };
    },
  };
}

/**
 * What the runner has counted itself, for a report of which a part is missing. Node counts a test with subtests as one
 * more.
 */
function told(totals: Readonly<Record<string, number>>): Record<string, number> {
  const { pass, fail, skipped, todo, cancelled = 0 } = totals;
  if (pass === undefined || fail === undefined) return {};
  return {
    passed: pass,
    failed: fail,
    skipped: skipped ?? 0,
    todo: todo ?? 0,
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
