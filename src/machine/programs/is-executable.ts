import { access, constants, stat } from 'node:fs/promises';

/** Whether a path leads to a file that we may run. */
export const isExecutable = async (path: string): Promise<boolean> => {
  const facts = await stat(path).catch(() => undefined);
  return (
    facts?.isFile() === true &&
    access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
  );
};
