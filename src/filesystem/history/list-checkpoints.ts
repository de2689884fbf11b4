import * as z from 'zod';
import { limit } from '../../core/params.ts';
import { defineSimpleTool, type Tool } from '../../core/tool.ts';
import { shownPath } from '../../machine/paths/shown-path.ts';
import type { Services } from '../services.ts';

const params = z.strictObject({ limit: limit(200, 20) });

/** What restore_checkpoint can bring back. */
export const listCheckpoints = (services: Services): Tool =>
  defineSimpleTool({
    name: 'list_checkpoints',
    program: 'files',
    title: 'List checkpoints',
    description:
      'List states of git work trees, kept before actions that run code or can lose work, newest first, with ids for restore_checkpoint.',
    effects: ['read'],
    params,
    async call({ limit: most }, { workspace }) {
      const all = (await services.history()).checkpoint.list(workspace);
      const lines = all.slice(0, most).map(({ id, at, before, top }) => {
        const time = at.slice(0, 19).replace('T', ' ');
        return `${id}  ${time}Z  before ${before}  ${shownPath(top)}`;
      });
      if (lines.length === 0) lines.push('No checkpoints.');
      if (lines.length < all.length) lines.push(`[${lines.length} of ${all.length}: raise limit]`);
      return { content: [{ type: 'text', text: lines.join('\n') }] };
    },
  });
