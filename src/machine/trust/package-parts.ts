/** Keys of package.json that describe the package, or say where its own code is, and run nothing. */
const describing: ReadonlySet<string> = new Set(
  (
    'name version description keywords homepage bugs license licenses author authors contributors maintainers funding ' +
    'repository private files man engines os cpu libc main module browser types typings typesVersions exports type ' +
    'sideEffects unpkg jsdelivr browserslist displayName icon categories publisher peerDependenciesMeta'
  ).split(' '),
);

/** Keys that say what to fetch: by a version, or from elsewhere. */
const fetching: ReadonlySet<string> = new Set(
  'dependencies devDependencies optionalDependencies peerDependencies overrides resolutions catalog catalogs'.split(
    ' ',
  ),
);

/**
 * What of package.json decides what runs, indented: all but what describes; of dependencies those that are fetched from
 * an address, a path or under another name. Undefined when it is no JSON object: then programs may
 * read it differently.
 */
export function packageParts(text: string): string | undefined {
  const parsed = objectIn(text);
  if (!parsed) return undefined;
  const kept = Object.entries(parsed).flatMap(([key, value]) => {
    if (describing.has(key)) return [];
    const counts = fetching.has(key) ? fromElsewhere(value) : value;
    return counts === undefined ? [] : [[key, counts] as const];
  });
  return kept.length === 0 ? '' : JSON.stringify(Object.fromEntries(kept), undefined, 2);
}

function objectIn(text: string): object | undefined {
  try {
    const parsed: unknown = JSON.parse(text.replace(/^\ufeff/, ''));
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? parsed : undefined;
  } catch {
    // Some programs take comments and more: for them the whole text decides.
    return undefined;
  }
}

/** What is left of a tree of versions when those of the registry are taken away. */
function fromElsewhere(value: unknown): unknown {
  if (typeof value === 'string') return /[:/\\]/.test(value) ? value : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  const kept = Object.entries(value).flatMap(([key, inner]) => {
    const counts = fromElsewhere(inner);
    return counts === undefined ? [] : [[key, counts] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
