/**
 * Replaces `fast-check` in `pnpm soak`. Every property runs `RUNS` times as often as in `pnpm test`, and uses the seed of
 * the run even if its test sets one.
 */
import * as original from "fast-check"
import { seed } from "./chance.ts"

export * from "fast-check"

const times = Number(process.env["RUNS"] ?? 1)

const more = <T>(parameters: original.Parameters<T> | undefined): original.Parameters<T> => ({
  ...parameters,
  seed,
  numRuns: times * (parameters?.numRuns ?? 100)
})

export function assert<T>(property: original.IAsyncProperty<T>, parameters?: original.Parameters<T>): Promise<void>
export function assert<T>(property: original.IProperty<T>, parameters?: original.Parameters<T>): void
export function assert<T>(property: original.IRawProperty<T>, parameters?: original.Parameters<T>) {
  return original.assert(property, more(parameters))
}

export const sample: typeof original.sample = (generator, parameters) =>
  original.sample(generator, more(typeof parameters === "number" ? { numRuns: parameters } : parameters))

export default { ...original.default, assert, sample }
