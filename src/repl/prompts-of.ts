/**
 * The prompts of a file, written as they would be typed: one a line, a line that ends with a backslash goes on in
 * the next, and what stands between two lines of `"""` is one prompt. Empty lines and those that begin with `#` are
 * left out.
 */
export function promptsOf(text: string): string[] {
  const prompts: string[] = [];
  let open: string[] | undefined;
  let block = false;
  for (const line of text.split(/\r?\n/)) {
    if (line.trim() === '"""') {
      if (block && open) prompts.push(open.join('\n'));
      [block, open] = block ? [false, undefined] : [true, []];
    } else if (block) open?.push(line);
    else if (line.endsWith('\\')) (open ??= []).push(line.slice(0, -1));
    else if (open) {
      prompts.push([...open, line].join('\n'));
      open = undefined;
    } else if (line.trim() !== '' && !line.startsWith('#')) prompts.push(line);
  }
  if (open) prompts.push(open.join('\n'));
  return prompts.filter((prompt) => prompt.trim() !== '');
}
