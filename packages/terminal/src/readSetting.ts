/**
 * Reads an environment variable from the program's `ConfigProvider`. `Config` would parse it through a schema, which takes a
 * command as long as its request.
 */
import { ConfigProvider, Effect } from "effect"

/** The text of a variable; undefined if it is not set. */
export const readSetting = (name: string): Effect.Effect<string | undefined> =>
  Effect.flatMap(ConfigProvider.ConfigProvider, (provider) =>
    Effect.map(Effect.orDie(provider.load([name])), (found) => found?.value)
  )
