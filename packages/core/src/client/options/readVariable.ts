/**
 * Reads environment variables through the program's `ConfigProvider`.
 */
import { ConfigProvider, Effect } from "effect"

/** Reads an environment variable; undefined if unset. */
export type ReadVariable = (name: string) => Effect.Effect<string | undefined>

/** Reads a variable; blank counts as unset. Avoids `Config`, because its schemas take longer to load than the files. */
export const readVariable: ReadVariable = (name) =>
  Effect.flatMap(ConfigProvider.ConfigProvider, (provider) =>
    Effect.map(Effect.orDie(provider.load([name])), (found) => found?.value?.trim() || undefined)
  )
