/** Milliseconds of processor time of this process since `process.cpuUsage()` was asked; waiting behind others does not count. */
export function processorMs(since: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}
