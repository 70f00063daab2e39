/** CPU milliseconds that this thread has used. Unlike wall time, it does not depend on other programs. */
export const threadCpuMillis = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (user + system) / 1000
}
