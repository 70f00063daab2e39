/**
 * The pause after failed requests. Pure; chance is handed in.
 */

const baseMillis = 1000
const maxMillis = 60_000

/**
 * Milliseconds to wait after `failures` failures in a row: doubling from one second up to a minute, of which `chance`
 * (0 to 1) takes off up to half, so that several daemons do not send at the same time. Never less than the service asks for.
 */
export const backoffMillis = (failures: number, chance: number, retryAfterMillis: number | null): number => {
  const full = Math.min(maxMillis, baseMillis * 2 ** Math.min(failures - 1, 30))
  return Math.max(full * (1 - chance / 2), retryAfterMillis ?? 0)
}
