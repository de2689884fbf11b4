import { XMLParser } from 'fast-xml-parser';
import type { Reader } from '../../core/grammar.ts';
import { type TestCase } from './kinds.ts';
import { filed } from './readers.ts';

/** An element of XML: attributes and children by name, its text as `text`. */
export type XmlNode = { [key: string]: string | XmlNode | XmlNode[] | undefined };

/** The document of a text. Throws for one that is cut off, which the parser would make do with. */
export function xml(text: string): XmlNode {
  const [, root = ''] = /<([A-Za-z_][\w:.-]*)/.exec(text) ?? [];
  const end = text.replaceAll(/<!--(?:[^-]|-[^-])*-->/g, '').trimEnd();
  if (!end.endsWith(`</${root}>`) && !end.endsWith('/>')) throw new Error('the report is cut off');
  return new XMLParser({
    // Node.js gives a case an attribute with the name of the element in it.
    ignoreAttributes: ['failure'],
    attributeNamePrefix: '',
    textNodeName: 'text',
    parseTagValue: false,
    htmlEntities: true,
  }).parse(text) as XmlNode;
}

/** The elements of a name, none, one or many. */
export const nodes = (value: XmlNode[string]): XmlNode[] =>
  (Array.isArray(value) ? value : value === undefined ? [] : [value]).map((one) =>
    typeof one === 'string' ? { text: one } : one,
  );
const word = (value: XmlNode[string]) => (typeof value === 'string' ? value : undefined);

const deepCases = (node: XmlNode): XmlNode[] => [
  ...nodes(node['testcase']),
  ...[...nodes(node['testsuites']), ...nodes(node['testsuite'])].flatMap(deepCases),
];
/** The last place a trace names: `src/a.py:5:`, `(ATest.java:12)`. */
const placed = /(?:^|[\s(])([\w./\\-]+\.\w+):(\d+)/gm;
/**
 * The first place in the case's own class: `at a.CartTest.adds(CartTest.java:6)`; else the last of the trace.
 */
const placeIn = (trace: string, of: string): RegExpExecArray | undefined => {
  const own = trace.split('\n').filter((line) => of !== '' && line.includes(`at ${of}.`));
  return [...own.join('\n').matchAll(placed)][0] ?? [...trace.matchAll(placed)].at(-1);
};

/** A case as JUnit's XML has it. */
export interface JunitCase {
  name: string;
  /** Its class, or what the program has in that place. */
  of: string;
  file?: string | undefined;
}

/**
 * JUnit's XML, which a dozen programs write. `named` makes of a case what its program calls it; `isFailure`
 * knows those that were not run and should have been.
 */
export const junit = (
  named: (one: JunitCase) => string,
  isFailure: (skipped: XmlNode) => boolean = () => false,
): Reader<TestCase[]> =>
  filed((text) =>
    deepCases(xml(text)).map((one): TestCase => {
      const skipped = nodes(one['skipped']);
      const failure = [...nodes(one['failure']), ...nodes(one['error']), ...skipped.filter(isFailure)][0];
      const printed = nodes(one['system-out'])
        .map(({ text = '' }) => word(text))
        .join('\n');
      const says = failure && (word(failure['text']) || printed.trim().slice(-800));
      const known = {
        name: word(one['name']) ?? '',
        of: word(one['classname']) ?? '',
        file: word(one['file']),
      };
      const found = says === undefined ? undefined : placeIn(says, known.of);
      return {
        name: named(known),
        status: failure ? 'failed' : skipped.length > 0 ? 'skipped' : 'passed',
        ...(failure && { message: messageOf(failure, says) }),
        ...(found ? { file: found[1], line: Number(found[2]) } : known.file && { file: known.file }),
      };
    }),
  );

/** Visual Studio's XML of test results. */
export const trx: Reader<TestCase[]> = filed((text) =>
  nodes(xml(text)['TestRun'])
    .flatMap((run) => nodes(run['Results']))
    .flatMap((all) => nodes(all['UnitTestResult']))
    .map((one): TestCase => {
      const error = nodes(nodes(one['Output'])[0]?.['ErrorInfo'])[0];
      const said = (key: string) => word(nodes(error?.[key])[0]?.['text']);
      const [, file, line] = / in (.+):line (\d+)/.exec(said('StackTrace') ?? '') ?? [];
      const states: Readonly<Record<string, TestCase['status']>> = {
        Passed: 'passed',
        NotExecuted: 'skipped',
      };
      return {
        name: word(one['testName']) ?? '',
        status: states[word(one['outcome']) ?? ''] ?? 'failed',
        message: said('Message'),
        ...(file && { file, line: Number(line) }),
      };
    }),
);

/** Node.js leaves the line ends of a message out of its attribute, and not out of the text below. */
function withLineEnds(message: string, text: string): string {
  // With one in the message there would be many ways to read those of the text.
  if (message.length > 500 || message.includes('\n')) return message;
  const characters = Array.from(message, (one) => one.replace(/[\\^$.*+?()[\]{}|]/, '\\$&'));
  return new RegExp(characters.join('\n*')).exec(text)?.[0] ?? message;
}

/** Its message; the trace below it is long, and what was printed is all that some programs give. */
const messageOf = (failure: XmlNode, says = ''): string => {
  const message = word(failure['message']) ?? '';
  if (word(failure['text'])) return withLineEnds(message, says) || (says.split('\n')[0] ?? '');
  return says.startsWith(message) ? says : `${message}\n${says}`;
};
