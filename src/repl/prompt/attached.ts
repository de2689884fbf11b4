import { realpath, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import { ChatError } from '../errors.ts';
import type { ImagePart, Part } from '../message.ts';
import { decodeText, directoryListing, imageType, readRegularFile } from './read-files.ts';
import type { Mention } from './mentions.ts';

/** No context window holds more. */
const mostBytes = 10 * 1024 * 1024;
/** As much as every provider takes in one image. */
const mostImageBytes = 5 * 1024 * 1024;

export interface Sources {
  readonly cwd: string;
  /** The model takes images. */
  readonly images: boolean;
  /** Undefined when there is no such server: then `server:uri` is only text. */
  readResource?(server: string, uri: string): Promise<readonly Part[] | undefined>;
}

type Content =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly image: ImagePart };

/** What a mention stands for. */
export type Attached = { readonly tag: 'file' | 'directory' | 'resource'; readonly name: string } & (
  | Content
  | { readonly kind: 'refused'; readonly why: string }
  /** Looks like a file, and is none: it may well be something else. */
  | { readonly kind: 'missing' }
);

export const noSuchFile = 'no such file';

/**
 * What a mention stands for: nothing when it names nothing, or what is in `seen` already. Failures are part of the
 * result.
 */
export async function attachedBy(
  mention: Mention,
  sources: Sources,
  seen: Set<string>,
): Promise<readonly Attached[]> {
  for (const name of mention.names) {
    const path = absolute(name, sources.cwd);
    const facts = await stat(path).catch(() => undefined);
    if (!facts) continue;
    const real = await realpath(path).catch(() => path);
    if (seen.has(real)) return [];
    seen.add(real);
    if (!facts.isDirectory()) {
      return attempt('file', name, async () => [contentOf(await readRegularFile(path, mostBytes), sources)]);
    }
    return attempt('directory', name, async () => [{ kind: 'text', text: await directoryListing(path) }]);
  }
  for (const name of mention.names) {
    const [, server, uri] = /^([\w-]{2,}):([a-z][a-z\d+.-]*:\S+)$/i.exec(name) ?? [];
    if (server === undefined || uri === undefined || seen.has(name)) continue;
    const found = await attempt('resource', name, async () => {
      const parts = (await sources.readResource?.(server, uri)) ?? [];
      return parts.map((part) =>
        part.type === 'image' ? imageOf(part, sources) : { kind: 'text', text: part.text },
      );
    });
    if (found.length === 0) continue;
    seen.add(name);
    return found;
  }
  const name = mention.names.at(-1);
  if (name === undefined) return [];
  if (mention.quoted || (await isMeantAsPath(name, sources.cwd)))
    return [{ tag: 'file', name, kind: 'refused', why: noSuchFile }];
  return /[./\\]/.test(name) ? [{ tag: 'file', name, kind: 'missing' }] : [];
}

/** `~` is a person's word for the home folder, here as in a shell. */
export const absolute = (name: string, cwd: string): string =>
  resolve(cwd, /^~(?=$|[/\\])/.test(name) ? homedir() + name.slice(1) : name);

/** A package is called `@scope/name`, too: only what begins as a path, or in a folder that is there, is surely one. */
async function isMeantAsPath(name: string, cwd: string): Promise<boolean> {
  if (/^(?:\.\.?|~)[/\\]/.test(name)) return true;
  const [folder] = /^[/\\]?[^/\\]+(?=[/\\])/.exec(name) ?? [];
  const facts = folder === undefined ? undefined : await stat(absolute(folder, cwd)).catch(() => undefined);
  return facts?.isDirectory() === true;
}

async function attempt(
  tag: Attached['tag'],
  name: string,
  read: () => Promise<readonly Content[]>,
): Promise<Attached[]> {
  try {
    return (await read()).map((content) => ({ tag, name, ...content }));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const why = error instanceof ChatError ? message : (code ?? message);
    return [{ tag, name, kind: 'refused', why }];
  }
}

/** Throws ATTACHMENT_REFUSED for what the model cannot read. */
function contentOf(bytes: Buffer, sources: Sources): Content {
  const mimeType = imageType(bytes);
  if (mimeType !== undefined) {
    if (bytes.length > mostImageBytes) throw refused(`an image of ${bytes.length} bytes, more than 5 MB`);
    return imageOf({ type: 'image', mimeType, data: bytes.toString('base64') }, sources);
  }
  const text = decodeText(bytes);
  if (text === undefined) throw refused(`binary, ${bytes.length} bytes`);
  return { kind: 'text', text };
}

function imageOf(image: ImagePart, { images }: Sources): Content {
  if (!images) throw refused('an image, and this model takes none');
  return { kind: 'image', image };
}

const refused = (why: string): ChatError => new ChatError('ATTACHMENT_REFUSED', why);
