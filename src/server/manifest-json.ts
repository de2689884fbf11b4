import type { Manifest } from './published.ts';

/** A manifest as JSON can carry it: patterns as text. */
export interface ManifestJson extends Pick<Manifest, 'tools' | 'examples'> {
  programs: (Omit<Manifest['programs'][number], 'version'> & {
    version?: { args: readonly string[]; pattern: string };
  })[];
}

export const asJson = ({ programs, tools, examples }: Manifest): ManifestJson => ({
  tools,
  examples,
  programs: programs.map(({ version, ...facts }) => ({
    ...facts,
    ...(version ? { version: { args: version.args, pattern: version.pattern.source } } : {}),
  })),
});

export function fromJson(text: string): Manifest {
  const { programs, tools, examples } = JSON.parse(text) as ManifestJson;
  return {
    tools,
    examples,
    programs: programs.map(({ version, ...facts }) => ({
      ...facts,
      ...(version ? { version: { args: version.args, pattern: new RegExp(version.pattern) } } : {}),
    })),
  };
}
