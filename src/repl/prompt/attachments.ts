import { estimateTokens } from '../context/tokens.ts';
import { live } from '../text/inert.ts';
import type { Part } from '../message.ts';
import { attachedBy, noSuchFile, type Attached, type Sources } from './attached.ts';
import { fitLines, wrapped } from './elements.ts';
import { mentionsIn } from './mentions.ts';

export interface AttachmentOptions extends Sources {
  /** For all attachments of the message together; images do not count. */
  readonly budgetTokens: number;
}

export interface Attachments {
  /** The text with what it mentions below it, and the images. */
  readonly content: Part[];
  /** For the person, a line for each attachment that was read. */
  readonly notes: string[];
  /** And for each that was cut, refused or is not there. */
  readonly warnings: string[];
  /** What the person called an image of `content`. */
  nameOf(part: Part): string | undefined;
}

/**
 * Reads what a message mentions with `@`: files, folders (as listings), resources of servers. Together they fit the
 * budget: the large ones are cut, at a line end, and say so. What cannot be read is told in its place; what
 * names nothing stays text. Never throws.
 */
export async function readAttachments(text: string, options: AttachmentOptions): Promise<Attachments> {
  const seen = new Set<string>();
  const found: Attached[] = [];
  const notes: string[] = [];
  const warnings: string[] = [];
  for (const mention of mentionsIn(text)) {
    found.push(...(await attachedBy(mention, options, seen)));
  }
  const sizes = found.map((item) => (item.kind === 'text' ? estimateTokens(item.text) : 0));
  const share = fairShare(sizes, options.budgetTokens);
  const blocks: string[] = [];
  const images = new Map<Part, string>();
  for (const item of found) {
    const { tag, name } = item;
    if (item.kind === 'missing') warnings.push(`@${name}: ${noSuchFile}`);
    else if (item.kind === 'image') {
      images.set(item.image, name);
      notes.push(`${name}: ${item.image.mimeType}`);
    } else if (item.kind === 'refused') {
      blocks.push(wrapped(tag, { path: name, error: item.why }));
      warnings.push(`${name}: ${item.why}`);
    } else {
      const { text, part } = fitLines(item.text, share);
      const notice = part === undefined ? '' : `${/[^\n]$/.test(text) ? '\n' : ''}[truncated: ${part}]`;
      blocks.push(wrapped(tag, { path: name }, text + notice));
      const count = item.text.split(/\n(?!$)/).length;
      const read = part === undefined ? `${count} ${count === 1 ? 'line' : 'lines'}` : `cut to ${part}`;
      const told = part === undefined ? notes : warnings;
      told.push(`${name}: ${read}`);
    }
  }
  return {
    content: [{ type: 'text', text: [live(text), ...blocks].join('\n\n') }, ...images.keys()],
    notes,
    warnings,
    nameOf: (part) => images.get(part),
  };
}

/** The most that each may have, so that all fit: the small ones are whole, and the large ones share what they leave. */
function fairShare(sizes: readonly number[], budget: number): number {
  let left = budget;
  const sorted = sizes.toSorted((one, other) => one - other);
  for (const [at, size] of sorted.entries()) {
    const each = Math.floor(left / (sorted.length - at));
    if (size > each) return Math.max(0, each);
    left -= size;
  }
  return Infinity;
}
