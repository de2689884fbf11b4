import * as z from 'zod';
import { limit } from '../core/params.ts';
import { defineTool, type Tool } from '../core/tool.ts';
import type { Services } from './services.ts';

const params = z.strictObject({ limit: limit(200, 20) });

const result = z.object({
  checkpoints: z.array(
    z.object({
      id: z.string(),
      at: z.string().describe('When it was taken'),
      before: z.string().describe('The action it was taken before'),
      folder: z.string().describe('Top of the work tree'),
    }),
  ),
  total: z.int(),
});

/** What restore_checkpoint can bring back. */
export const listCheckpoints = (services: Services): Tool =>
  defineTool({
    name: 'list_checkpoints',
    program: 'files',
    title: 'List checkpoints',
    description:
      'States of git work trees, kept before actions that run project code or can lose work. Newest first; the last 50 of each, for 14 days.',
    effects: ['read'],
    params,
    result,
    async call({ limit: most }, { workspace }) {
      const all = await (await services.checkpoints()).list(workspace);
      const shown = all.slice(0, most);
      return {
        data: {
          checkpoints: shown.map(({ id, at, before, top }) => ({ id, at, before, folder: top })),
          total: all.length,
        },
      };
    },
  });
