import { estimateTokens } from '../context/tokens.ts';
import type { Part } from '../message.ts';
import { attachedBy, type Attached, type Sources } from './attached.ts';
import { fitLines } from './fit-lines.ts';
import { mentionsIn } from './mentions.ts';
import { wrapped } from './wrapped.ts';

export interface AttachmentOptions extends Sources {
  /** The part of the text in which an @ counts, when it is not all of it: what was pasted or piped in names nothing. */
  readonly named?: string;
  /** For all attachments of the message together; images do not count. */
  readonly budgetTokens: number;
}

export interface Attachments {
  /** The text as typed with what it mentions below it, and the images. */
  readonly content: Part[];
  /** For the person, a line for each attachment: what was read, cut or refused. */
  readonly notes: string[];
  /** What the person called an image of `content`. */
  nameOf(part: Part): string | undefined;
}

/**
 * Reads what a message mentions with `@`: files, folders (as listings), resources of servers. Together they fit the budget:
 * each is cut in proportion, at a line end, and says so. What cannot be read is told in its place; what names nothing stays
 * text. Never throws.
 */
export async function readAttachments(text: string, options: AttachmentOptions): Promise<Attachments> {
  const seen = new Set<string>();
  const found: Attached[] = [];
  const notes: string[] = [];
  for (const mention of mentionsIn(options.named ?? text)) {
    found.push(...(await attachedBy(mention, options, seen)));
  }
  const wanted = found.reduce((sum, item) => sum + (item.kind === 'text' ? estimateTokens(item.text) : 0), 0);
  // All that fits is left whole.
  const share = wanted <= options.budgetTokens ? Infinity : Math.max(0, options.budgetTokens) / wanted;
  const blocks: string[] = [];
  const images = new Map<Part, string>();
  for (const item of found) {
    const { tag, name } = item;
    if (item.kind === 'image') {
      images.set(item.image, name);
      notes.push(`${name}: ${item.image.mimeType}`);
    } else if (item.kind === 'refused') {
      blocks.push(wrapped(tag, { path: name, error: item.why }));
      notes.push(`${name}: ${item.why}`);
    } else {
      const { encoding } = item;
      const { text, part } = fitLines(item.text, Math.floor(estimateTokens(item.text) * share));
      const notice = part === undefined ? '' : `${/[^\n]$/.test(text) ? '\n' : ''}[truncated: ${part}]`;
      blocks.push(wrapped(tag, { path: name, ...(encoding && { encoding }) }, text + notice));
      const read = part === undefined ? `${item.text.split(/\n(?!$)/).length} lines` : `cut to ${part}`;
      notes.push(`${name}: ${read}${encoding === undefined ? '' : `, read as ${encoding}`}`);
    }
  }
  return {
    content: [{ type: 'text', text: [text, ...blocks].join('\n\n') }, ...images.keys()],
    notes,
    nameOf: (part) => images.get(part),
  };
}
