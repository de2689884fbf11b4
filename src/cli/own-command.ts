/** How a host starts this very program: the Node that runs now, and its script. */
export const ownCommand = (): { command: string; script: string } => ({
  command: process.execPath,
  script: process.argv[1] ?? '',
});
