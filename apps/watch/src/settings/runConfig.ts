/**
 * The config that `run` works from: a file, or else the environment and the flags that name an account.
 */
import { readConnection, type SettingFault } from "@berthkit/terminal/Connection"
import { allowHttpFlag, baseUrlFlag } from "@berthkit/terminal/connectionFlags"
import { Effect, Option } from "effect"
import type { Command } from "effect/cli"
import type { WatchConfig } from "../config/Config.ts"
import { CommandFailed, misused } from "../process/CommandFailed.ts"
import { accountFlag, readAccount } from "./account.ts"
import { environmentConfig } from "./environmentConfig.ts"
import { readConfigFile, type StoreOptions } from "./storeSettings.ts"

/** The flags by which one account is named that is in no config. */
export const connectionFlags = { baseUrl: baseUrlFlag, allowHttp: allowHttpFlag, account: accountFlag }
export type ConnectionOptions = Command.Command.Config.Infer<typeof connectionFlags>

export const fromSettingFault = ({ exit, hint, message }: SettingFault): CommandFailed =>
  new CommandFailed({ exit, message, hint })

export const readRunConfig = Effect.fn("readRunConfig")(function* ({
  account,
  allowHttp,
  baseUrl,
  config
}: ConnectionOptions & Pick<StoreOptions, "config">): Effect.fn.Return<WatchConfig, CommandFailed> {
  if (Option.isNone(config)) {
    const connection = yield* Effect.mapError(readConnection(baseUrl, allowHttp), fromSettingFault)
    return yield* environmentConfig(connection, yield* readAccount(account))
  }
  const flags = { "--base-url": Option.isSome(baseUrl), "--allow-http": allowHttp, "--account": Option.isSome(account) }
  for (const [flag, isGiven] of Object.entries(flags)) {
    if (isGiven) {
      const message = `${flag} does not go with --config, which names the accounts.`
      return yield* misused(message)
    }
  }
  return yield* readConfigFile(config.value)
})
