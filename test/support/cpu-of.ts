/** The CPU time that a task takes in this process. Compare only ratios: the milliseconds depend on the machine. */
export async function cpuMsOf(task: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await task();
  const { system, user } = process.cpuUsage(before);
  return (system + user) / 1_000;
}
