import type { Settings } from '../core/settings.ts';
import { createProjectConfigs } from '../machine/config/project-config.ts';
import type { Machine } from '../machine/machine.ts';
import type { RootedWorkspace } from '../machine/paths/workspace.ts';
import { namesIn, type Manifest } from './published.ts';
import { effectiveRoots, realFolders } from './roots.ts';

/** The folders a call may touch, given what the client has said, and what holds there. */
export type Opened = (
  clientRoots: readonly string[] | undefined,
) => Promise<{ readonly workspace: RootedWorkspace; readonly settings: Settings }>;

/** Opens the roots once for all calls that have the same, with the settings that hold in them. */
export function openRoots(settings: Settings, { host }: Machine, manifest: Manifest): Opened {
  const projects = createProjectConfigs(() => Promise.resolve(namesIn(manifest)));
  const found = new Map<string, { readonly roots: readonly string[]; readonly around: readonly string[] }>();
  const opened = new Map<string, RootedWorkspace>();
  const look = async (client: readonly string[] | undefined) => ({
    roots: await effectiveRoots(
      { operator: settings.roots, client, workingFolder: process.cwd() },
      host,
      manifest.programs,
    ),
    // Also where the client has opened a folder below a root of the operator's.
    around: await realFolders(settings.roots),
  });
  return async (client) => {
    const asked = JSON.stringify(client ?? null);
    const { roots, around } = found.get(asked) ?? (await look(client));
    // A folder that is no project yet may be one with the next call.
    if (roots.length > 0) found.set(asked, { roots, around });
    // A project's own settings can change at any time.
    const narrowed = await projects.narrowedRoots(roots, around);
    const there = await projects.settingsFor(settings, [...new Set([...around, ...roots])]);
    const key = JSON.stringify([narrowed, there.rules]);
    const known = opened.get(key);
    if (known) return { workspace: known, settings: there };
    const { openWorkspace } = await import('../machine/paths/workspace.ts');
    const workspace = await openWorkspace(narrowed, { rules: there.rules });
    opened.set(key, workspace);
    return { workspace, settings: there };
  };
}
