/**
 * The config that `run` works from: a file, or else the environment and the flags that name an account.
 */
import { readConnection, type SettingFault } from "@berthkit/terminal/Connection"
import { Effect, Option } from "effect"
import type { WatchConfig } from "../config/Config.ts"
import { CommandFailed } from "../process/CommandFailed.ts"
import { readAccount } from "./account.ts"
import { environmentConfig } from "./environmentConfig.ts"
import { readConfigFile } from "./storeSettings.ts"

interface RunConfigFlags {
  readonly config: Option.Option<string>
  readonly baseUrl: Option.Option<string>
  readonly allowHttp: boolean
  readonly account: Option.Option<string>
}

export const fromSettingFault = ({ exit, hint, message }: SettingFault): CommandFailed =>
  new CommandFailed({ exit, message, hint })

export const readRunConfig = Effect.fn("readRunConfig")(function* ({
  account,
  allowHttp,
  baseUrl,
  config
}: RunConfigFlags): Effect.fn.Return<WatchConfig, CommandFailed> {
  if (Option.isNone(config)) {
    const connection = yield* Effect.mapError(readConnection(baseUrl, allowHttp), fromSettingFault)
    return yield* environmentConfig(connection, yield* readAccount(account))
  }
  const flags = { "--base-url": Option.isSome(baseUrl), "--allow-http": allowHttp, "--account": Option.isSome(account) }
  for (const [flag, isGiven] of Object.entries(flags)) {
    if (isGiven) {
      const message = `${flag} does not go with --config, which names the accounts.`
      return yield* new CommandFailed({ exit: "usage", message })
    }
  }
  return yield* readConfigFile(config.value)
})
