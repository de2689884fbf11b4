import type { ListProgramsServices } from './list-programs.ts';

/** Tools of our own that are about the crib itself. One line each. */
export const ownTools = {
  list_programs: (services: ListProgramsServices) =>
    import('./list-programs.ts').then((m) => m.listPrograms(services)),
};
