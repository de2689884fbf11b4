import * as z from 'zod';
import { choice, on, operand } from '../core/parameter.ts';
import { path } from '../core/params.ts';
import { action, program } from '../core/program.ts';
import { advisories, diagnostics } from './reports/kinds.ts';
import { json } from './reports/readers.ts';
import { imageName } from './shared/engine.ts';
import { asks } from './shared/effects.ts';

const text = z.string();
const vulnerability = z.object({
  PkgName: text,
  Severity: text,
  VulnerabilityID: text,
  Title: text.default(''),
  InstalledVersion: text,
  FixedVersion: text.optional(),
  PrimaryURL: text.optional(),
});
const flaw = z.object({
  ID: text,
  Title: text,
  Message: text.default(''),
  Severity: text,
  CauseMetadata: z.object({ StartLine: z.int().optional() }).optional(),
});
const result = z.object({
  Target: text,
  Vulnerabilities: z.array(vulnerability).default([]),
  Misconfigurations: z.array(flaw).default([]),
});
const results = z.object({ SchemaVersion: z.int(), Results: z.array(result).default([]) });

const found = json(results, (all) =>
  all.Results.flatMap(({ Vulnerabilities }) => Vulnerabilities).map((one) => ({
    package: one.PkgName,
    severity: one.Severity.toLowerCase(),
    title: `${one.VulnerabilityID} ${one.Title}`.trim(),
    affected: one.InstalledVersion + (one.FixedVersion ? `, fixed in ${one.FixedVersion}` : ''),
    url: one.PrimaryURL,
  })),
);
const flaws = json(results, (all) =>
  all.Results.flatMap(({ Target, Misconfigurations }) =>
    Misconfigurations.map(({ ID, Title, Message, Severity, CauseMetadata }) => ({
      level: /^(?:HIGH|CRITICAL)$/.test(Severity) ? ('error' as const) : ('warning' as const),
      message: Message || Title,
      code: ID,
      file: Target,
      line: CauseMetadata?.StartLine,
    })),
  ),
);

const params = {
  severity: choice(
    { all: [], medium: '--severity=MEDIUM,HIGH,CRITICAL', high: '--severity=HIGH,CRITICAL' },
    'From which severity',
  ),
  fixed: on('--ignore-unfixed', 'Only those that a newer version fixes'),
};
const asJson = ['--quiet', '--format=json'];
const folder = operand(path('Folder or file').default('.'));

export default program('trivy', {
  title: 'Trivy',
  category: 'other',
  site: 'https://trivy.dev/latest/docs/references/configuration/cli/trivy',
  get: {
    brew: 'trivy',
    winget: 'AquaSecurity.Trivy',
    site: 'https://trivy.dev/latest/getting-started/installation',
  },
  version: { args: ['--version'], pattern: /Version: (\d\S*)/ },
  project: ['trivy.yaml', '.trivyignore'],
  environment: ['TRIVY_CACHE_DIR', 'DOCKER_HOST'],
  settings: { TRIVY_NO_PROGRESS: 'true', TRIVY_DISABLE_VEX_NOTICE: 'true', TRIVY_SKIP_VERSION_CHECK: 'true' },
  actions: {
    project: action('Find vulnerable packages with Trivy', 'Known flaws of what lock files name.', asks, {
      role: 'audit',
      run: ['filesystem', ...asJson, '--scanners=vuln'],
      params: { ...params, folder },
      out: advisories(found),
    }),
    image: action('Scan an image with Trivy', 'Known flaws of packages in an image.', asks, {
      run: ['image', ...asJson, '--scanners=vuln'],
      params: { ...params, image: operand(imageName('Image')) },
      given: { image: 'shop:dev' },
      out: advisories(found),
    }),
    config: action('Check configuration with Trivy', 'Flaws in Dockerfiles, manifests, Terraform.', asks, {
      run: ['config', ...asJson],
      params: { severity: params.severity, folder },
      out: diagnostics(flaws),
    }),
  },
});
