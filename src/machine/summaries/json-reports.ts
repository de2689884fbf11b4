import * as z from 'zod';
import { listOf, placeOf } from './lists.ts';
import { summariseSarif } from './sarif.ts';
import { collectFailures, tooLarge, type Summary } from './summary.ts';
import { hasMore } from './turn.ts';

/** What `jest --json` and `vitest --reporter=json` have in common. */
const jest = z.object({
  numTotalTests: z.number(),
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  numTodoTests: z.number().optional(),
  success: z.boolean().optional(),
  testResults: listOf(
    z.object({
      name: z.string(),
      message: z.string().optional(),
      status: z.string().optional(),
      assertionResults: listOf(
        z.object({
          fullName: z.string(),
          status: z.string(),
          failureMessages: listOf(z.string()).nullish(),
          location: z.object({ line: z.number() }).nullish(),
        }),
      ),
    }),
  ),
});

/** `eslint --format=json`. */
const eslint = listOf(
  z.object({
    filePath: z.string(),
    errorCount: z.number(),
    warningCount: z.number(),
    messages: listOf(
      z.object({
        ruleId: z.string().nullable(),
        severity: z.number(),
        message: z.string(),
        line: z.number().optional(),
      }),
    ),
  }),
);

/** As long as Node's own reader and the look through it take less than 0.1 s together, whatever stands in it. */
const mostCharacters = 4 * 1024 * 1024;
/** Objects, lists and values with a name: eleven thousand tests have so many. */
const mostValues = 150_000;

/** SARIF and the reports of jest, vitest and eslint in JSON. Undefined for all else. */
export function summariseJson(json: string, isWhole: boolean): Summary | typeof tooLarge | undefined {
  // Cheaper than to read megabytes of other JSON.
  if (!/"runs"\s*:\s*\[|"numTotalTests"\s*:|"errorCount"\s*:/.test(json)) return undefined;
  if (!isWhole || json.length > mostCharacters || hasMore(json, '{[:', mostValues)) return tooLarge;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  return summariseSarif(value) ?? summariseJest(value) ?? summariseEslint(value);
}

function summariseJest(value: unknown): Summary | undefined {
  const { success, data } = jest.safeParse(value);
  if (!success) return undefined;
  const failures = collectFailures();
  let failed = 0;
  let passed = 0;
  let outside = 0;
  for (const file of data.testResults) {
    const failedBefore = failed;
    for (const { fullName, status, failureMessages, location } of file.assertionResults) {
      if (status === 'passed') passed++;
      if (status !== 'failed') continue;
      failed++;
      failures.add({
        name: fullName,
        place: placeOf(file.name, location?.line),
        message: (failureMessages ?? []).slice(0, 3).map(ownFrames).join('\n'),
      });
    }
    const message = outsideOf(file.message ?? '', failed > failedBefore);
    if (file.status !== 'failed' || message === undefined) continue;
    outside++;
    failures.add({ name: file.name, message: ownFrames(message) });
  }
  const { numPassedTests, numFailedTests, numPendingTests: skipped, numTodoTests: todo = 0 } = data;
  const doubts = [
    ...(numPassedTests === passed && numFailedTests === failed
      ? []
      : [`its own totals say otherwise: ${numPassedTests} passed, ${numFailedTests} failed`]),
    ...(data.success === false && failed + outside === 0 ? ['it says that the run did not succeed'] : []),
  ];
  const counts = { passed, failed, [outsideTests]: outside, skipped, todo };
  return { format: 'Tests', counts, ...failures.result, doubts };
}

const outsideTests = 'files failed outside of their tests';

/**
 * What went wrong in a file outside of its tests: it could not be loaded, or a hook failed. Undefined when nothing did.
 * vitest has only that in a file's message; jest has all that failed, with that first under a title of its own.
 */
function outsideOf(message: string, hasFailed: boolean): string | undefined {
  const [title] = /● Test suite failed to run/.exec(message) ?? [];
  if (title !== undefined) return message.slice(message.indexOf(title));
  if (!hasFailed) return message || 'outside of its tests, and the report does not say why';
  return message.trim() === '' || message.includes('● ') ? undefined : message;
}

function summariseEslint(value: unknown): Summary | undefined {
  const { success, data } = eslint.safeParse(value);
  if (!success) return undefined;
  const failures = collectFailures();
  const counts = { errors: 0, warnings: 0 };
  const own = { errors: 0, warnings: 0 };
  for (const { filePath, errorCount, warningCount, messages } of data) {
    own.errors += errorCount;
    own.warnings += warningCount;
    for (const { ruleId, severity, message, line } of messages) {
      counts[severity === 2 ? 'errors' : 'warnings']++;
      failures.add({
        name: `${severity === 2 ? 'error' : 'warning'}: ${ruleId ?? 'problem'}`,
        place: placeOf(filePath, line),
        message,
      });
    }
  }
  const isAgreed = own.errors === counts.errors && own.warnings === counts.warnings;
  const doubts = isAgreed
    ? []
    : [`its own totals say otherwise: ${own.errors} errors, ${own.warnings} warnings`];
  return { format: 'ESLint', counts, ...failures.result, doubts };
}

/** Without the frames of what runs the tests. */
const ownFrames = (message: string): string => {
  const lines = message.slice(0, 20_000).split('\n');
  return lines.filter((line) => !/^\s+at .*(?:node_modules|node:|<anonymous>\)$)/.test(line)).join('\n');
};
