/** The folder that holds a path; the root of a file system holds itself. */
export function parentOf(path: string): string {
  const parent = path.replace(/[\\/][^\\/]*$/, '');
  if (parent === '') return '/';
  return /^[A-Za-z]:$/.test(parent) ? `${parent}\\` : parent;
}

/** A folder and those above it, up to the root that holds it. */
export function upwards(folder: string, roots: readonly string[]): string[] {
  const folders = [folder];
  for (let here = folder; !roots.includes(here) && parentOf(here) !== here;) {
    here = parentOf(here);
    folders.push(here);
  }
  return folders;
}
