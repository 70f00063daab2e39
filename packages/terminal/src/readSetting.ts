/**
 * A variable of the environment, from the program's `ConfigProvider`. `Config` reads one through a schema, which costs a command as much time
 * as its request.
 */
import { ConfigProvider, Effect } from "effect"

/** Its text; undefined where it is not set. */
export const readSetting = (name: string): Effect.Effect<string | undefined> =>
  Effect.flatMap(ConfigProvider.ConfigProvider, (provider) =>
    Effect.map(Effect.orDie(provider.load([name])), (found) => found?.value)
  )
