import type { Services } from './services.ts';

/** The file tools by name. Nothing is loaded before it is used. */
export const fileTools = {
  delete_path: (services: Services) =>
    import('./history/delete-path.ts').then((module) => module.deletePath(services)),
  edit_file: (services: Services) =>
    import('./editing/edit-file.ts').then((module) => module.editFile(services)),
  glob: (services: Services) => import('./listing/glob.ts').then((module) => module.glob(services)),
  grep: (services: Services) => import('./searching/grep.ts').then((module) => module.grep(services)),
  list_checkpoints: (services: Services) =>
    import('./history/list-checkpoints.ts').then((module) => module.listCheckpoints(services)),
  list_changes: (services: Services) =>
    import('./history/list-changes.ts').then((module) => module.listChanges(services)),
  list_directory: (services: Services) =>
    import('./listing/list-directory.ts').then((module) => module.listDirectory(services)),
  move_path: (services: Services) =>
    import('./history/move-path.ts').then((module) => module.movePath(services)),
  read_file: (services: Services) =>
    import('./reading/read-file.ts').then((module) => module.readFile(services)),
  read_files: (services: Services) =>
    import('./reading/read-files.ts').then((module) => module.readFiles(services)),
  restore_checkpoint: (services: Services) =>
    import('./history/restore-checkpoint.ts').then((module) => module.restoreCheckpoint(services)),
  undo_change: (services: Services) =>
    import('./history/undo-change.ts').then((module) => module.undoChange(services)),
  write_file: (services: Services) =>
    import('./editing/write-file.ts').then((module) => module.writeFile(services)),
};
