import type { Services } from './services.ts';

/** The file tools by name. Nothing is loaded before it is used. */
export const fileTools = {
  apply_patch: (services: Services) =>
    import('./apply-patch.ts').then((module) => module.applyPatch(services)),
  copy_path: (services: Services) => import('./move-path.ts').then((module) => module.copyPath(services)),
  delete_path: (services: Services) => import('./move-path.ts').then((module) => module.deletePath(services)),
  edit_file: (services: Services) => import('./edit-file.ts').then((module) => module.editFile(services)),
  edit_files: (services: Services) => import('./edit-file.ts').then((module) => module.editFiles(services)),
  grep: (services: Services) => import('./grep.ts').then((module) => module.grep(services)),
  list_files: (services: Services) => import('./list-files.ts').then((module) => module.listFiles(services)),
  move_path: (services: Services) => import('./move-path.ts').then((module) => module.movePath(services)),
  read_file: (services: Services) => import('./read-file.ts').then((module) => module.readFile(services)),
  replace_in_files: (services: Services) =>
    import('./replace-in-files.ts').then((module) => module.replaceInFiles(services)),
  undo: (services: Services) => import('./undo.ts').then((module) => module.undo(services)),
  write_file: (services: Services) => import('./edit-file.ts').then((module) => module.writeFile(services)),
};
