import type { Host } from './host.ts';

/** The value of an environment variable; on Windows its name counts the same in any case (`Path`). */
export function variable(host: Pick<Host, 'env' | 'platform'>, name: string): string | undefined {
  const exact = host.env[name];
  if (exact !== undefined || host.platform !== 'win32') return exact;
  // process.env answers to any case by itself; a recorded or copied environment is a plain object.
  const upper = name.toUpperCase();
  return Object.entries(host.env).find(([key]) => key.toUpperCase() === upper)?.[1];
}
