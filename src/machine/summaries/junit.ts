import { collectFailures, tooLarge, type Failure, type Summary } from './summary.ts';
import { hasMore, othersTurn } from './turn.ts';

/** An element: its attributes as `@name`, what is in it under the names of its elements, its text as `#text`. */
type Element = Readonly<Record<string, unknown>>;

/** Larger reports take more than 0.1 s to read, and nothing else goes on meanwhile. Tags and attributes take most of it. */
const mostCharacters = 512 * 1024;
const mostParts = 25_000;
/** testsuites, suites of suites, testcase, failure: with room to spare. */
const mostDepth = 30;

/**
 * JUnit's XML, as many test runners write it. Undefined for what is none, has a document type (and so could have entities
 * of its own), or is damaged.
 */
export async function summariseJunit(
  xml: string,
  isWhole: boolean,
): Promise<Summary | typeof tooLarge | undefined> {
  if (!/^(?:<\?xml[^>]{0,200}\?>)?\s*<testsuites?[\s>/]/.test(xml)) return undefined;
  if (!isWhole || xml.length > mostCharacters || hasMore(xml, '<=', mostParts)) return tooLarge;
  if (/<!(?:DOCTYPE|ENTITY)/i.test(xml)) return undefined;
  const { XMLParser, XMLValidator } = await import('fast-xml-parser');
  try {
    if (XMLValidator.validate(xml) !== true) return undefined;
    await othersTurn();
    const parser = new XMLParser({
      ignoreAttributes: false,
      attributeNamePrefix: '@',
      parseTagValue: false,
      parseAttributeValue: false,
      maxNestedTags: mostDepth,
      isArray: (name) =>
        ['testsuites', 'testsuite', 'testcase', 'failure', 'error', 'skipped'].includes(name),
    });
    return summaryOf(parser.parse(xml) as Element);
  } catch {
    // Nested too deeply, or no XML after all: it is shown as the text it is.
    return undefined;
  }
}

function summaryOf(root: Element): Summary | undefined {
  const failures = collectFailures();
  const counts = { passed: 0, failed: 0, skipped: 0 };
  let suites = 0;
  let wrongs = 0;
  /** What is in a suite; returns how many it says that went wrong. */
  const visit = (element: Element): number => {
    let said = 0;
    for (const suite of [...elements(element, 'testsuites'), ...elements(element, 'testsuite')]) {
      suites++;
      const wrong = wrongIn(suite);
      wrongs += wrong.length;
      // It could not be set up, or taken down.
      if (wrong.length > 0) {
        counts.failed++;
        failures.add(failureOf(suite, wrong));
      }
      // Some count in a suite what is in the suites in it, some do not.
      said += Math.max(number(suite, 'failures') + number(suite, 'errors'), visit(suite));
    }
    for (const test of elements(element, 'testcase')) {
      const wrong = wrongIn(test);
      wrongs += wrong.length;
      if (wrong.length > 0) {
        counts.failed++;
        failures.add(failureOf(test, wrong));
      } else if (isSkipped(test)) counts.skipped++;
      else counts.passed++;
    }
    return said;
  };
  const said = visit(root);
  if (suites === 0) return undefined;
  // One test can have several, which some count as one.
  const doubts = said > wrongs ? [`its own totals say otherwise: ${said} failed`] : [];
  return { format: 'JUnit', counts, ...failures.result, doubts };
}

const wrongIn = (element: Element): Element[] => [
  ...elements(element, 'failure'),
  ...elements(element, 'error'),
];

/** CTest and GoogleTest say it in an attribute. */
const isSkipped = (test: Element): boolean =>
  elements(test, 'skipped').length > 0 ||
  /^(?:disabled|notrun|skipped|suppressed)$/.test(attribute(test, 'status')) ||
  /^(?:skipped|suppressed)$/.test(attribute(test, 'result'));

/** A number that an element says; 0 when it says none. */
const number = (element: Element, name: string): number =>
  /^\d{1,9}$/.test(attribute(element, name)) ? Number(attribute(element, name)) : 0;

function failureOf(test: Element, wrong: readonly Element[]): Failure {
  const name = [attribute(test, 'classname'), attribute(test, 'name')].filter(Boolean).join(' › ');
  const file = attribute(test, 'file');
  const line = attribute(test, 'line');
  const message = wrong
    .slice(0, 3)
    .map((one) => {
      const said = attribute(one, 'message');
      const text = typeof one['#text'] === 'string' ? one['#text'].trim() : '';
      return text.includes(said) ? text : `${said}\n${text}`;
    })
    .join('\n');
  return { name, place: file === '' ? undefined : `${file}${line === '' ? '' : `:${line}`}`, message };
}

const attribute = (element: Element, name: string): string => {
  const value = element[`@${name}`];
  return typeof value === 'string' ? value : '';
};

/** The elements of that name; one without attributes and elements is only its text. */
function elements(element: Element, name: string): Element[] {
  const found = Object.hasOwn(element, name) ? element[name] : undefined;
  if (!Array.isArray(found)) return [];
  return found.map((one: unknown) =>
    typeof one === 'object' && one !== null ? (one as Element) : { '#text': String(one) },
  );
}
