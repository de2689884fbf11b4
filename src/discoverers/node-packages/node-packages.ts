import { family, name, option, type Program } from '../../core/grammar.ts';
import { keeping, running } from './actions.ts';
import { inspectPackage } from './project.ts';
import { rows } from './rows.ts';

const hasAction = (id: string, key: string) =>
  id in rows && !(['outdated', 'audit'] as const).some((one) => one === key && !rows[id]?.[one]);

const unreachable = new RegExp(
  String.raw`^ ?(?:npm (?:ERR!|error)|error|ERR_PNPM|WARN|➤).*(?:ENOTFOUND|ECONNREFUSED` +
    String.raw`|EAI_AGAIN|ETIMEDOUT|ConnectionRefused)`,
  'm',
);

const hints: NonNullable<Program['hints']> = [
  {
    says: /(?:Missing|Couldn't find a) script|Command "\S+" not found|(?:Script|Task) not found/i,
    wayOut:
      'The action "scripts" lists the scripts there are; of programs, only those that are installed are run.',
  },
  {
    says: /ENOTCACHED|npx canceled|could not determine executable/,
    wayOut: 'It is not installed in this project. Only what is installed is run: add its package first.',
  },
  {
    says: /^sh: \d+: \S+: not found|: command not found|is not recognized as an internal/m,
    wayOut: 'Are its packages installed? change_packages with action=install installs them.',
  },
  {
    // Their own words: what a script says of an address is not about the registry.
    says: unreachable,
    wayOut: 'The registry cannot be reached from here.',
  },
];

const script = 'run run-script test t tst start build check dev format lint typecheck types task';
const kept =
  'add audit ci dedupe explain i info install list ls outdated prune remove rm un uninstall up update why';
// Not for the whole machine, nothing from an address, and no program in an option.
const here = String.raw`^(?!.* (?:-\w*g|--gl|--loc|--script|--node-o)|.*://)`;
const place = '--filter|-F|--workspace|-w|workspace|--prefix|-C|--dir|--cwd';
const member = String.raw`(?:(?:${place})[ =]\S+ |-[rs] |--silent )*`;
const line = String.raw`(?:(?:exec|x)(?: --)? )?(?<line>[a-z].*)`;
const known = `${script} ${kept}`.replaceAll(' ', '|');
const everyday = new RegExp(`${here}${member}(?:(?:${known})(?: |$)|${line})`);
const launched = /^(?:--?(?:no-install|no|yes|y) )*(?<line>[^-].*)/;

export default family(rows, (row, id) => {
  const { title, site, get, called, version, project, environment = [], workspace } = row;
  const scope = workspace && { workspace: option(workspace.one, name('Only this package of the workspace')) };
  const actions = { ...keeping(row, { ...scope }), ...running(row, { ...scope }) };
  return {
    title,
    category: 'package-manager',
    site,
    get,
    ...(called && { called }),
    ...(version && { version }),
    ...(project && { project }),
    environment: ['NODE_ENV', 'NODE_EXTRA_CA_CERTS', ...environment],
    settings: {
      NO_COLOR: '1',
      // What a project says to Corepack would be obeyed before its package manager starts.
      COREPACK_ENABLE_DOWNLOAD_PROMPT: '0',
      COREPACK_ENV_FILE: '0',
      ...row.settings,
    },
    everyday: Object.fromEntries([
      ...(called ?? [id]).map((one) => [one, everyday]),
      ...(row.launcher ? [[row.launcher, launched]] : []),
    ]),
    inspect: (look, situation) =>
      inspectPackage(look, situation, {
        id,
        // Looking up, and what a runtime does, needs no package.
        isFree: situation.action === 'view' || row.more?.[situation.action] !== undefined,
        by: (other) => (hasAction(other, situation.action) ? `${other}_${situation.action}` : undefined),
      }),
    hints,
    actions,
  };
});
