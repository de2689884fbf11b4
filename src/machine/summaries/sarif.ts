import * as z from 'zod';
import { listOf, placeOf } from './lists.ts';
import { collectFailures, type Summary } from './summary.ts';

const level = z.enum(['none', 'note', 'warning', 'error']);
const text = z.object({ text: z.string().optional() });

const place = z.object({
  physicalLocation: z
    .object({
      artifactLocation: z.object({ uri: z.string().optional() }).optional(),
      region: z.object({ startLine: z.number().optional() }).optional(),
    })
    .optional(),
});

const notifications = listOf(
  z.object({
    level: level.default('warning'),
    descriptor: z.object({ id: z.string().optional() }).optional(),
    message: text.optional(),
  }),
).optional();

const result = z.object({
  kind: z.string().optional(),
  level: level.optional(),
  baselineState: z.string().optional(),
  suppressions: listOf(z.object({ status: z.string().optional() })).nullish(),
  ruleId: z.string().optional(),
  message: text,
  locations: listOf(place).optional(),
});
type Result = z.output<typeof result>;

/** What is looked at of SARIF 2.1.0 (OASIS). */
const sarif = z.object({
  version: z.literal('2.1.0'),
  runs: listOf(
    z.object({
      tool: z.object({
        driver: z.object({
          name: z.string(),
          rules: listOf(
            z.object({
              id: z.string(),
              defaultConfiguration: z.object({ level: level.optional() }).optional(),
            }),
          ).optional(),
        }),
      }),
      invocations: listOf(
        z.object({
          executionSuccessful: z.boolean(),
          toolExecutionNotifications: notifications,
          toolConfigurationNotifications: notifications,
        }),
      ).optional(),
      results: listOf(result).nullish(),
    }),
  ),
});
type Run = z.output<typeof sarif>['runs'][number];

/** What a report in SARIF says; undefined for what is none. */
export function summariseSarif(value: unknown): Summary | undefined {
  const { success, data } = sarif.safeParse(value);
  if (!success) return undefined;
  const counts = { errors: 0, warnings: 0, notes: 0, suppressed: 0, 'errors of the tool itself': 0 };
  const failures = collectFailures();
  const doubts = new Set<string>();
  for (const run of data.runs) {
    const { name } = run.tool.driver;
    for (const { descriptor, message } of ownErrors(run)) {
      counts['errors of the tool itself']++;
      failures.add({ name: `error of ${name}: ${descriptor?.id ?? 'failed'}`, message: message?.text ?? '' });
    }
    if (run.invocations?.some(({ executionSuccessful }) => !executionSuccessful))
      doubts.add(`${name} says that it did not run well`);
    if (!run.results) doubts.add(`${name} says nothing of what it found, not even that it is nothing`);
  }
  for (const run of data.runs) {
    const usual = new Map(
      run.tool.driver.rules?.map((rule) => [rule.id, rule.defaultConfiguration?.level] as const),
    );
    for (const one of (run.results ?? []).filter(isFinding)) {
      if (isSuppressed(one)) {
        counts.suppressed++;
        continue;
      }
      const { kind = 'fail', ruleId } = one;
      const found = kind === 'fail' ? (one.level ?? usual.get(ruleId ?? '') ?? 'warning') : 'note';
      counts[found === 'error' ? 'errors' : found === 'warning' ? 'warnings' : 'notes']++;
      const { artifactLocation, region } = one.locations?.[0]?.physicalLocation ?? {};
      failures.add({
        name: `${kind === 'fail' ? found : kind}: ${ruleId ?? run.tool.driver.name}`,
        place: placeOf(artifactLocation?.uri, region?.startLine),
        message: one.message.text ?? '',
      });
    }
  }
  const names = [...new Set(data.runs.map(({ tool }) => tool.driver.name))].join(', ');
  return {
    format: `SARIF (${names.slice(0, 200)})`,
    counts,
    ...failures.result,
    doubts: [...doubts].slice(0, 5),
  };
}

const ownErrors = ({ invocations = [] }: Run) =>
  invocations
    .flatMap((one) => [
      ...(one.toolExecutionNotifications ?? []),
      ...(one.toolConfigurationNotifications ?? []),
    ])
    .filter((notification) => notification.level === 'error');

/** Not a rule that holds, does not apply or only says something, nor what was found another time. */
const isFinding = ({ kind, baselineState }: Result): boolean =>
  !['pass', 'notApplicable', 'informational'].includes(kind ?? '') && baselineState !== 'absent';

/** Whether somebody has said in the code or elsewhere that it is right as it is. */
const isSuppressed = ({ suppressions }: Result): boolean =>
  (suppressions ?? []).some(({ status = 'accepted' }) => status === 'accepted');
