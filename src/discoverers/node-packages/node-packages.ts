import { family, present, type Program } from '../../core/program.ts';
import { changing, looking, running } from './actions.ts';
import { inspectPackage } from './project.ts';
import { rows, type Row } from './rows.ts';

/** The same action of another package manager. */
function actionOf(other: string, { change }: Row, key: string): string | undefined {
  const found = rows[other];
  const verb = { [change.remove]: found?.change.remove, [change.update]: found?.change.update }[key] ?? key;
  return found && (verb in found || !['outdated', 'audit'].includes(verb)) ? `${other}_${verb}` : undefined;
}

const hints: NonNullable<Program['hints']> = [
  {
    says: /(?:Missing|Couldn't find a) script|Command "\S+" not found|(?:Script|Task) not found/i,
    wayOut:
      'The action "scripts" lists the scripts there are; of programs, only those that are installed are run.',
  },
  {
    says: /ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ConnectionRefused/,
    wayOut: 'The registry cannot be reached from here.',
  },
];

export default family(rows, (row, id) => {
  const { title, site, get, called, version, project, environment = [] } = row;
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
      const isAnyones = ['run', 'exec', 'test'].includes(key);
      // Looking up, and what a runtime does, needs no package.
      const isFree = key === 'view' || row.more?.[key] !== undefined;
      const by = (other: string) => actionOf(other, row, key);
      return inspectPackage(look, situation, {
        id,
        isFree,
        isAnyones,
        isRemoval: key === row.change.remove,
        by,
      });
    },
    hints,
    actions: present({ ...looking(row), ...changing(row), ...running(row) }),
  };
});
