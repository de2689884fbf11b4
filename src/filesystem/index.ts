import type { Services } from './services.ts';

/** The file tools by name. Nothing is loaded before it is used. */
export const fileTools = {
  glob: (services: Services) => import('./glob.ts').then((module) => module.glob(services)),
  grep: (services: Services) => import('./grep.ts').then((module) => module.grep(services)),
  list_directory: () => import('./list-directory.ts').then((module) => module.listDirectory()),
  read_file: () => import('./read-file.ts').then((module) => module.readFile()),
};
