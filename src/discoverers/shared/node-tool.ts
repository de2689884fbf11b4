import { program, type Program } from '../../core/program.ts';
import { nodeBin } from './own.ts';

type Spec = Omit<Program, 'id' | 'category' | 'get' | 'own'> & { readonly from?: string };

/** A program of npm's registry that projects keep in node_modules; `from`: its package, when that has another name. */
export const nodeTool = (id: string, { from = id, project = [], settings, ...spec }: Spec): Program =>
  program(id, {
    ...spec,
    category: 'build',
    get: { npm: from },
    own: nodeBin(id),
    project: [...project, { file: 'package.json', has: new RegExp(`"${from}":`) }],
    settings: { NO_COLOR: '1', FORCE_COLOR: '0', DO_NOT_TRACK: '1', ...settings },
  });
