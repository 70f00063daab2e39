/** Milliseconds of CPU that this thread has used. A limit on it holds beside other programs, one on wall time does not. */
export const threadCpuMillis = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (user + system) / 1000
}
