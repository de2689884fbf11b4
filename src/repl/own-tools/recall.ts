import type { Part } from '../message.ts';
import type { Entry, StoredPart } from '../session/entry.ts';
import { failed, replied, type Tool } from '../toolbox/tool.ts';
import { ownTool } from './own-tool.ts';

/** Lets the model look once more at an image that is no longer in its context. */
export const recall = (path: () => readonly Entry[], load: (stored: StoredPart) => Part): Tool =>
  ownTool({
    name: 'recall_attachment',
    description:
      'Shows an earlier attachment of this session again, by its name or the beginning of its hash.',
    properties: { name: { type: 'string' } },
    required: ['name'],
    async call({ name }) {
      const wanted = String(name);
      const all = path().flatMap((entry) => storedIn(entry));
      const found = all.findLast((stored) => stored.name === wanted || stored.sha256.startsWith(wanted));
      if (!found || wanted === '') {
        const names = all.map((stored) => stored.name).join(', ');
        return failed(
          names === ''
            ? 'This session has no attachments.'
            : `There is none of that name; there are: ${names}`,
        );
      }
      const part = load(found);
      return part.type === 'image'
        ? { text: found.name, images: [part], isError: false }
        : replied(part.text);
    },
  });

function storedIn(entry: Entry): StoredPart[] {
  if (entry.type === 'user') return entry.content.filter((part) => part.type === 'stored');
  return entry.type === 'tool' ? [...(entry.images ?? [])] : [];
}
