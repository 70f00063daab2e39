/**
 * Reads an environment variable from the program's `ConfigProvider`. It does not use `Config`, which parses through a
 * schema: that would take as long as the request of a command.
 */
import { ConfigProvider, Effect } from "effect"

/** The text of a variable; undefined if it is not set. */
export const readSetting = (name: string): Effect.Effect<string | undefined> =>
  Effect.flatMap(ConfigProvider.ConfigProvider, (provider) =>
    Effect.map(Effect.orDie(provider.load([name])), (found) => found?.value)
  )
