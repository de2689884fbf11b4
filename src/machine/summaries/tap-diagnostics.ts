/** What a block of diagnostics says about one failure. */
export interface Diagnostics {
  readonly message?: string;
  readonly place?: string;
  /** What Node's test runner says that went wrong: `subtestsFailed`, `hookFailed`, `testCodeFailure` and others. */
  readonly failureType?: string;
}

/** Lines of one value that are kept. */
const mostValueLines = 20;

/**
 * Reads the plain keys and block texts of a block of YAML, which is all that runners write, without a YAML parser: what
 * it does not understand it leaves out, and nothing in it can refer to anything else.
 */
export function readDiagnostics(lines: readonly string[]): Diagnostics {
  const values = new Map<string, string>();
  let at = 0;
  while (at < lines.length) {
    const [, key = '', rest = ''] = /^([A-Za-z_]\w{0,50}):(?: (.*))?$/.exec(lines[at] ?? '') ?? [];
    at++;
    const block: string[] = [];
    while (at < lines.length && /^(?:\s|$)/.test(lines[at] ?? '')) {
      if (block.length < mostValueLines) block.push((lines[at] ?? '').replace(/^ {2}/, ''));
      at++;
    }
    if (key !== '' && !values.has(key)) values.set(key, valueOf(rest, block));
  }
  return diagnosticsOf(values);
}

const valueOf = (rest: string, block: readonly string[]): string =>
  block.length > 0 ? block.join('\n').trimEnd() : unquoted(rest.trim());

function unquoted(text: string): string {
  if (/^'.*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  return /^".*"$/.test(text) ? text.slice(1, -1).replaceAll('\\"', '"') : text;
}

function diagnosticsOf(values: ReadonlyMap<string, string>): Diagnostics {
  const error = values.get('error') ?? values.get('message') ?? '';
  const stack = (values.get('stack') ?? '').split('\n').find((line) => !/node:internal|^\s*$/.test(line));
  const comparison = ['expected', 'actual', 'found', 'wanted']
    .map((key) => [key, values.get(key)] as const)
    // A message of several lines has them already.
    .filter(([, value]) => value !== undefined && value !== '' && !`${error}${value}`.includes('\n'))
    .map(([key, value]) => `${key}: ${value}`);
  const message = [error, ...comparison, ...(stack ? [`at ${stack.trim()}`] : [])].filter(Boolean).join('\n');
  const file = values.get('file');
  const line = values.get('line');
  const place =
    values.get('location') ?? (file === undefined ? values.get('at') : `${file}${line ? `:${line}` : ''}`);
  const failureType = values.get('failureType');
  return {
    ...(message !== '' && { message }),
    ...(place && !place.includes('\n') && { place }),
    ...(failureType && { failureType }),
  };
}
