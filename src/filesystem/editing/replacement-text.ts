/** The groups of a regular expression: how many, and the names of some. */
function groupsIn(pattern: string): { readonly count: number; readonly names: ReadonlySet<string> } {
  const names = new Set<string>();
  let count = 0;
  // An escape, a class (of which the first member may be a bracket), or the beginning of a group.
  for (const [token, name] of pattern.matchAll(
    /\\[^]|\[\^?\]?(?:\\[^]|\[:\w+:\]|[^\]\\])*\]|\((?!\?)|\(\?P?<(\w+)>/g,
  )) {
    if (!token.startsWith('(')) continue;
    count++;
    if (name !== undefined) names.add(name);
  }
  return { count, names };
}

/**
 * A replacement as ripgrep takes it, where `$` without a group behind it is a dollar: to ripgrep `$name` of no group is
 * nothing at all, and `$1_a` is a group called so.
 */
export function replacementFor(
  given: string,
  { pattern, literal }: { readonly pattern: string; readonly literal: boolean },
): { replacement: string; notes: string[] } {
  if (literal) return { replacement: given.replaceAll('$', '$$$$'), notes: [] };
  const { count, names } = groupsIn(pattern);
  const plain = new Set<string>();
  const isGroup = (name: string) => (/^\d+$/.test(name) ? Number(name) <= count : names.has(name));
  const replacement = given.replaceAll(
    /\$\$|\$&|\$\{(\w+)\}|\$(\d{1,2})|\$([A-Za-z_]\w*)|\\(\d)|\$/g,
    (token, braced?: string, number?: string, name?: string, backslashed?: string) => {
      if (token === '$$') return token;
      if (token === '$&') return '${0}';
      const group = braced ?? number ?? name ?? backslashed;
      if (group !== undefined && isGroup(group)) return `\${${group}}`;
      if (token !== '$') plain.add(token);
      return token.replaceAll('$', '$$$$');
    },
  );
  const notes = plain.size > 0 ? [`${[...plain].join(', ')}: no group, taken as text`] : [];
  return { replacement, notes };
}
