import { readFileSync } from 'node:fs';

export const [repl, configuration] = ['docs/repl.md', 'docs/configuration.md'].map((file) =>
  readFileSync(file, 'utf8'),
) as [string, string];

/** The first example of a language after a text. */
export const example = (page: string, after: string, language: string): string => {
  const [, found] =
    new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(page.slice(page.indexOf(after))) ?? [];
  if (!page.includes(after) || found === undefined) throw new Error(`no ${language} after "${after}"`);
  return found;
};
