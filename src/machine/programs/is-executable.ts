import { access, constants } from 'node:fs/promises';

/** Whether we may run a file. */
export const isExecutable = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
