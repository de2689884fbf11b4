import { family, type Program } from '../../core/program.ts';
import { option } from '../../core/parameter.ts';
import { name } from '../../core/params.ts';
import { keeping, running } from './actions.ts';
import { inspectPackage } from './project.ts';
import { rows } from './rows.ts';

const hasAction = (id: string, key: string) =>
  id in rows && !(['outdated', 'audit'] as const).some((one) => one === key && !rows[id]?.[one]);

const unreachable =
  /^ ?(?:npm (?:ERR!|error)|error|ERR_PNPM|WARN|➤).*(?:ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ConnectionRefused)/m;

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
    inspect: (look, situation) => {
      const { action: key } = situation;
      return inspectPackage(look, situation, {
        id,
        // Looking up, and what a runtime does, needs no package.
        isFree: key === 'view' || row.more?.[key] !== undefined,
        isAnyones: ['run', 'exec', 'test'].includes(key),
        isRemoval: key === 'remove',
        by: (other) => (hasAction(other, key) ? `${other}_${key}` : undefined),
      });
    },
    hints,
    actions,
  };
});
