/**
 * The options of a world of a test: those of the control plane (`world/WorldOptions.ts`) in their decoded form. Credentials
 * are the server's choice.
 */
import type { WorldOptions } from "../world/WorldOptions.ts"

/** Everything has a default. */
export interface TestWorldOptions extends Omit<WorldOptions, "apiKey" | "accessToken"> {
  /** Default `frozen`, at `startAt` or 2026-01-01T00:00:00.000Z. `real` follows the `Clock` of the test. */
  readonly clock?: Exclude<WorldOptions["clock"], undefined>
}

/** The same as the body of `POST /_mock/worlds`, decoded. */
export const worldOptions = (options: TestWorldOptions): WorldOptions => ({ clock: "frozen", ...options })
