/**
 * Bundles for pages have this file instead of `fromEnvironment.ts`: a page has no environment.
 */
import { InvalidOption } from "./Failure.ts"

export const readVariable = (): undefined => undefined

export const ensureAllowanceFile = (): void => {}

export const fromEnvironment = (): never => {
  throw new InvalidOption(
    "createClientFromEnv",
    "BERTH_API_KEY",
    "this program is bundled for browsers; use createClient"
  )
}
