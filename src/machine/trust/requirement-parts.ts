import { lineEnds } from './line-ends.ts';

/** A plain requirement without its blanks (PEP 508): a name, perhaps extras, perhaps versions. No two parts can share a letter. */
const plain = /^[\w.-]+(?:\[[\w.,-]*\])?(?:\([\w.,*+<>=!~-]*\)|[<>=!~,*][\w.,*+<>=!~-]*)?$/;

/** What pip takes for the path of a folder or of an archive, where there is one of that name. */
const path = /^\.|\.(?:zip|whl|tar|tgz|tbz|txz|tlz|gz|bz2|xz|lz|lzma)$/i;

/** Of requirements of pip the options, addresses and paths, one a line. */
export function requirementParts(text: string): string {
  return linesOf(text)
    .map((line) =>
      withoutComment(line)
        .replaceAll(/\s--hash=\S+/g, '')
        .trim(),
    )
    .filter((line) => line !== '' && !isPlain(line))
    .join('\n');
}

/** With those put together that end in a backslash. As pip does it, a comment ends such a line, and never goes on. */
function linesOf(text: string): string[] {
  const lines: string[] = [];
  let begun = '';
  for (const line of text.split(lineEnds)) {
    if (line === '' && begun === '') continue;
    const isComment = /^\s*#/.test(line);
    if (!isComment && line.endsWith('\\')) {
      begun += line.slice(0, -1);
      continue;
    }
    lines.push(isComment ? begun : begun + line);
    begun = '';
  }
  return [...lines, begun];
}

function withoutComment(line: string): string {
  const comment = /(?:^|\s)#/.exec(line);
  return comment ? line.slice(0, comment.index) : line;
}

function isPlain(line: string): boolean {
  // An option of the requirement, or of pip.
  if (/(?:^|\s)-|\\/.test(line)) return false;
  const markers = line.indexOf(';');
  const wanted = (markers < 0 ? line : line.slice(0, markers)).replaceAll(/\s+/g, '');
  return plain.test(wanted) && !path.test(wanted);
}
