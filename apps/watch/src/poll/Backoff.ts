/**
 * How long to leave a failing service alone. Pure; chance is handed in.
 */

const baseMillis = 1000
const capMillis = 60_000

/**
 * Milliseconds to wait after `failures` failures in a row: doubling from one second up to a minute, of which `chance`
 * (0 to 1) takes off up to half, so that several daemons do not march in step. Never less than the service asked for.
 */
export const backoffMillis = (failures: number, chance: number, askedMillis: number | null): number => {
  const full = Math.min(capMillis, baseMillis * 2 ** Math.min(failures - 1, 30))
  return Math.max(full * (1 - chance / 2), askedMillis ?? 0)
}
