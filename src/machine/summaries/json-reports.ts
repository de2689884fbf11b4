import * as z from 'zod';
import { collectFailures, type Summary } from './summary.ts';

const place = z.object({
  physicalLocation: z
    .object({
      artifactLocation: z.object({ uri: z.string().optional() }).optional(),
      region: z.object({ startLine: z.number().optional() }).optional(),
    })
    .optional(),
});

/** What is looked at of SARIF 2.1.0 (OASIS). */
const sarif = z.object({
  version: z.literal('2.1.0'),
  runs: z.array(
    z.object({
      tool: z.object({ driver: z.object({ name: z.string() }) }),
      results: z
        .array(
          z.object({
            level: z.enum(['none', 'note', 'warning', 'error']).default('warning'),
            ruleId: z.string().optional(),
            message: z.object({ text: z.string().optional() }),
            locations: z.array(place).optional(),
          }),
        )
        .nullish(),
    }),
  ),
});

/** What `jest --json` and `vitest --reporter=json` have in common. */
const jest = z.object({
  numTotalTests: z.number(),
  numPassedTests: z.number(),
  numFailedTests: z.number(),
  numPendingTests: z.number(),
  testResults: z.array(
    z.object({
      name: z.string(),
      message: z.string().optional(),
      status: z.string().optional(),
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).nullish(),
          location: z.object({ line: z.number() }).nullish(),
        }),
      ),
    }),
  ),
});

/** `eslint --format=json`. */
const eslint = z.array(
  z.object({
    filePath: z.string(),
    errorCount: z.number(),
    warningCount: z.number(),
    messages: z.array(
      z.object({
        ruleId: z.string().nullable(),
        severity: z.number(),
        message: z.string(),
        line: z.number().optional(),
      }),
    ),
  }),
);

/** To read more, deeply nested, takes longer than half a second. */
const mostCharacters = 4 * 1024 * 1024;

/** SARIF and the reports of jest, vitest and eslint in JSON. Undefined for all else. */
export function summariseJson(json: string): Summary | undefined {
  // Cheaper than to read megabytes of other JSON.
  if (json.length > mostCharacters || !/"runs"|"numTotalTests"|"errorCount"/.test(json)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return undefined;
  }
  return summariseSarif(value) ?? summariseJest(value) ?? summariseEslint(value);
}

function summariseSarif(value: unknown): Summary | undefined {
  const { success, data } = sarif.safeParse(value);
  if (!success) return undefined;
  const counts = { errors: 0, warnings: 0, notes: 0 };
  const failures = collectFailures();
  for (const { tool, results } of data.runs)
    for (const { level, ruleId, message, locations } of results ?? []) {
      counts[level === 'error' ? 'errors' : level === 'warning' ? 'warnings' : 'notes']++;
      const { artifactLocation, region } = locations?.[0]?.physicalLocation ?? {};
      failures.add({
        name: `${level}: ${ruleId ?? tool.driver.name}`,
        place: placeOf(artifactLocation?.uri, region?.startLine),
        message: message.text ?? '',
      });
    }
  const names = data.runs.map(({ tool }) => tool.driver.name).join(', ');
  return { format: `SARIF (${names.slice(0, 200)})`, counts, ...failures.result, remarks: [] };
}

function summariseJest(value: unknown): Summary | undefined {
  const { success, data } = jest.safeParse(value);
  if (!success) return undefined;
  const failures = collectFailures();
  for (const file of data.testResults) {
    for (const { fullName, status, failureMessages, location } of file.assertionResults)
      if (status === 'failed')
        failures.add({
          name: fullName,
          place: placeOf(file.name, location?.line),
          message: (failureMessages ?? []).slice(0, 3).map(ownFrames).join('\n'),
        });
    // One that could not be loaded has no tests.
    if (file.status === 'failed' && file.assertionResults.length === 0)
      failures.add({ name: file.name, message: file.message ?? '' });
  }
  const { numPassedTests: passed, numFailedTests: failed, numPendingTests: skipped } = data;
  return { format: 'Tests', counts: { passed, failed, skipped }, ...failures.result, remarks: [] };
}

function summariseEslint(value: unknown): Summary | undefined {
  const { success, data } = eslint.safeParse(value);
  if (!success) return undefined;
  const failures = collectFailures();
  const counts = { errors: 0, warnings: 0 };
  for (const { filePath, errorCount, warningCount, messages } of data) {
    counts.errors += errorCount;
    counts.warnings += warningCount;
    for (const { ruleId, severity, message, line } of messages)
      failures.add({
        name: `${severity === 2 ? 'error' : 'warning'}: ${ruleId ?? 'problem'}`,
        place: placeOf(filePath, line),
        message,
      });
  }
  return { format: 'ESLint', counts, ...failures.result, remarks: [] };
}

/** Without the frames of what runs the tests. */
const ownFrames = (message: string): string => {
  const lines = message.slice(0, 20_000).split('\n');
  return lines.filter((line) => !/^\s+at .*(?:node_modules|node:|<anonymous>\)$)/.test(line)).join('\n');
};

const placeOf = (file: string | undefined, line: number | undefined): string | undefined =>
  file === undefined ? undefined : `${file}${line === undefined ? '' : `:${line}`}`;
