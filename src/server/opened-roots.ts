import type { Settings } from '../core/settings.ts';
import { createProjectConfigs } from '../machine/config/project-config.ts';
import type { Machine } from '../machine/machine.ts';
import type { RootedWorkspace } from '../machine/paths/workspace.ts';
import type { Crib } from './tool-call.ts';
import { namesIn, type Manifest } from './published.ts';
import { effectiveRoots, realFolders } from './roots.ts';

/** Opens the roots once for all calls that have the same, with the settings that hold in them. */
export function openRoots(settings: Settings, { host }: Machine, manifest: Manifest): Crib['opened'] {
  const projects = createProjectConfigs(() => Promise.resolve(namesIn(manifest)));
  const effective = new Map<string, readonly string[]>();
  const opened = new Map<string, RootedWorkspace>();
  return async (client) => {
    const asked = JSON.stringify(client ?? null);
    const sources = { operator: settings.roots, client, workingFolder: process.cwd() };
    const roots = effective.get(asked) ?? (await effectiveRoots(sources, host, manifest.programs));
    // A folder that is no project yet may be one with the next call.
    if (roots.length > 0) effective.set(asked, roots);
    // A project's own settings can change at any time.
    // Also where the client has opened a folder below a root of the operator's.
    const around = await realFolders(settings.roots);
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
