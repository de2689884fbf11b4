import type { Manifest } from './published.ts';

/** A manifest as JSON can carry it: patterns as text. */
export interface ManifestJson extends Pick<Manifest, 'tools'> {
  programs: (Omit<Manifest['programs'][number], 'version'> & {
    version?: { args: readonly string[]; pattern: string };
  })[];
}

export const asJson = ({ programs, tools }: Manifest): ManifestJson => ({
  tools,
  programs: programs.map(({ version, ...facts }) => ({
    ...facts,
    ...(version ? { version: { args: version.args, pattern: version.pattern.source } } : {}),
  })),
});

export function fromJson(text: string): Manifest {
  const { programs, tools } = JSON.parse(text) as ManifestJson;
  return {
    tools,
    programs: programs.map(({ version, ...facts }) => ({
      ...facts,
      ...(version ? { version: { args: version.args, pattern: new RegExp(version.pattern) } } : {}),
    })),
  };
}
