import { dirname, join } from 'node:path';
import { loadManifest } from '../server/registry/manifest.ts';
import {
  withUserPrograms,
  type ProgramFolder,
  type UserCatalogue,
} from '../server/environment/user-programs.ts';
import { configFile } from './config.ts';

/** The folder in which a person describes programs of their own. */
export const ownProgramFolder = (): ProgramFolder => ({
  folder: join(dirname(configFile()), 'programs'),
  least: [],
});

/** Loads the catalogue, with the programs that this person has described. */
export const catalogueHere = async (): Promise<UserCatalogue> =>
  withUserPrograms(await loadManifest(), [ownProgramFolder()]);
