/**
 * The config of `run`: from a file, otherwise from the environment and the flags that name an account. Without a file, the
 * events of that account go to stdout, and `BERTH_WATCH_STORE`, `BERTH_WATCH_LISTEN` and `BERTH_WATCH_TOKEN` set the store, the
 * address and the token.
 */
import { type Connection, readConnection, type SettingFault } from "@berthkit/terminal/Connection"
import { allowHttpFlag, baseUrlFlag, flagsGiven, placeFlags, userAgentFlag } from "@berthkit/terminal/connectionFlags"
import { Effect, Option } from "effect"
import type { Command } from "effect/cli"
import {
  accountName,
  defaultAccount,
  defaultListen,
  isLoopback,
  type Listen,
  parseListen,
  type WatchConfig
} from "../config/Config.ts"
import { CommandFailed, misused } from "../process/CommandFailed.ts"
import { defaultRetention } from "../store/retention.ts"
import {
  checkedStore,
  checkProxy,
  defaultStorePath,
  readConfigFile,
  stdoutSink,
  type StoreOptions,
  tokenVariable,
  variable
} from "./storeSettings.ts"
import { textFlag } from "./textFlag.ts"

/** The hint about an invalid account name. */
export const nameHint = "Use 1 to 64 letters, digits, dots, @, - or _, without _ at its beginning."

/**
 * The account's name in events, from the flag or the environment. The service has no name for an account, and the key must not
 * be shown.
 */
export const readAccount = Effect.fnUntraced(function* (flag: Option.Option<string>) {
  const account = accountName(Option.getOrUndefined(flag) ?? (yield* variable("BERTH_ACCOUNT")) ?? "default")
  if (account !== undefined) return account
  return yield* misused("The account name is not usable.", nameHint)
})

const readListen = Effect.gen(function* (): Effect.fn.Return<Listen | null, CommandFailed> {
  const text = yield* variable("BERTH_WATCH_LISTEN")
  if (text === undefined) return defaultListen
  if (text === "off") return null
  const listen = parseListen(text)
  if (listen !== undefined) return listen
  return yield* misused("BERTH_WATCH_LISTEN has to be HOST:PORT or off.")
})

/** The config without a file: one account from `BERTH_*`. */
export const environmentConfig = Effect.fn("environmentConfig")(function* (
  { options }: Pick<Connection, "options">,
  account: string,
  store: Option.Option<string> = Option.none()
): Effect.fn.Return<WatchConfig, CommandFailed> {
  const listen = yield* readListen
  const token = yield* tokenVariable
  if (listen !== null && !isLoopback(listen) && token === null) {
    return yield* misused(
      "BERTH_WATCH_LISTEN is reachable from other machines, so a token is needed.",
      "Set BERTH_WATCH_TOKEN."
    )
  }
  return {
    store: Option.isSome(store) ? yield* checkedStore(store.value, "--store") : yield* defaultStorePath,
    listen,
    token,
    publicUrl: null,
    accounts: [{ ...defaultAccount, name: account, connection: options }],
    sinks: [stdoutSink],
    heartbeat: null,
    retention: defaultRetention
  }
})

/** The flags for one account that is not in a config. */
export const connectionFlags = {
  baseUrl: baseUrlFlag,
  ...placeFlags,
  userAgent: userAgentFlag,
  allowHttp: allowHttpFlag,
  account: textFlag("account", "NAME", "Name of the account in events (or BERTH_ACCOUNT; default default)")
}
export type ConnectionOptions = Command.Command.Config.Infer<typeof connectionFlags>

export const fromSettingFault = ({ exit, hint, message }: SettingFault): CommandFailed =>
  new CommandFailed({ exit, message, hint })

export const readRunConfig = Effect.fn("readRunConfig")(function* ({
  account,
  allowHttp,
  baseUrl,
  config,
  location,
  project,
  store,
  userAgent
}: ConnectionOptions & StoreOptions): Effect.fn.Return<WatchConfig, CommandFailed> {
  yield* checkProxy
  if (Option.isNone(config)) {
    const connection = yield* Effect.mapError(
      readConnection(baseUrl, allowHttp, flagsGiven({ project, location, userAgent })),
      fromSettingFault
    )
    return yield* environmentConfig(connection, yield* readAccount(account), store)
  }
  const flags = {
    "--base-url": Option.isSome(baseUrl),
    "--project": Option.isSome(project),
    "--location": Option.isSome(location),
    "--user-agent": Option.isSome(userAgent),
    "--allow-http": allowHttp,
    "--account": Option.isSome(account)
  }
  for (const [flag, isGiven] of Object.entries(flags)) {
    if (isGiven) {
      const message = `${flag} does not go with --config, which names the accounts.`
      return yield* misused(message)
    }
  }
  if (Option.isSome(store)) return yield* misused("--store does not go with --config, which names the store.")
  return yield* readConfigFile(config.value)
})
