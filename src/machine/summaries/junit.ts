import { collectFailures, type Failure, type Summary } from './summary.ts';

/** An element: its attributes as `@name`, what is in it under the names of its elements, its text as `#text`. */
type Element = Readonly<Record<string, unknown>>;

/** Larger reports take more than 0.3 s to read, and nothing else goes on meanwhile. */
const mostCharacters = 2 * 1024 * 1024;
/** testsuites, suites of suites, testcase, failure: with room to spare. */
const mostDepth = 30;

/**
 * JUnit's XML, as many test runners write it. Undefined for what is none, has a document type (and so could have entities
 * of its own), or is damaged.
 */
export async function summariseJunit(xml: string): Promise<Summary | undefined> {
  if (xml.length > mostCharacters || !/^(?:<\?xml[^>]{0,200}\?>)?\s*<testsuites?[\s>/]/.test(xml))
    return undefined;
  if (/<!(?:DOCTYPE|ENTITY)/i.test(xml)) return undefined;
  const { XMLParser, XMLValidator } = await import('fast-xml-parser');
  try {
    if (XMLValidator.validate(xml) !== true) return undefined;
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
  const visit = (element: Element) => {
    for (const suite of [...elements(element, 'testsuites'), ...elements(element, 'testsuite')]) {
      suites++;
      visit(suite);
    }
    for (const test of elements(element, 'testcase')) {
      const wrong = [...elements(test, 'failure'), ...elements(test, 'error')];
      if (wrong.length > 0) {
        counts.failed++;
        failures.add(failureOf(test, wrong));
      } else if (elements(test, 'skipped').length > 0) counts.skipped++;
      else counts.passed++;
    }
  };
  visit(root);
  return suites === 0 ? undefined : { format: 'JUnit', counts, ...failures.result, remarks: [] };
}

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
