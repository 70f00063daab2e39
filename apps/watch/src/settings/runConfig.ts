/**
 * The config of `run`: from a file, otherwise from the environment and the flags that describe one account. Without a
 * file, the events of that account go to stdout, and `BERTH_WATCH_STORE`, `BERTH_WATCH_LISTEN` and `BERTH_WATCH_TOKEN`
 * set the store, the address and the token.
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
export const nameHint = "Use 1 to 64 letters, digits, dots, @, - or _, without - or _ at its beginning."

/**
 * The account's name in events, from the flag or the environment. The user has to choose it, because the service has no name
 * for an account, and the key must not be shown.
 */
export const readAccount = Effect.fnUntraced(function* (flag: Option.Option<string>) {
  const account = accountName(Option.getOrUndefined(flag) ?? (yield* variable("BERTH_ACCOUNT")) ?? "default")
  if (account !== undefined) return account
  return yield* misused("The account name is not usable.", nameHint)
})

/** The address of the HTTP interface, and the setting that it came from; null if HTTP is off. */
const readListen = Effect.fnUntraced(function* (
  flag: Option.Option<string>
): Effect.fn.Return<readonly [setting: string, listen: Listen | null], CommandFailed> {
  const setting = Option.isSome(flag) ? "--listen" : "BERTH_WATCH_LISTEN"
  const text = Option.getOrUndefined(flag) ?? (yield* variable("BERTH_WATCH_LISTEN"))
  if (text === undefined) return [setting, defaultListen]
  if (text === "off") return [setting, null]
  const listen = parseListen(text)
  if (listen !== undefined) return [setting, listen]
  return yield* misused(`${setting} has to be HOST:PORT or off.`)
})

/** The config without a file: one account from `BERTH_*`. */
export const environmentConfig = Effect.fn("environmentConfig")(function* (
  { options }: Pick<Connection, "options">,
  account: string,
  { listen: listenFlag, store }: Pick<RunOptions, "listen" | "store">
): Effect.fn.Return<WatchConfig, CommandFailed> {
  const [setting, listen] = yield* readListen(listenFlag)
  const token = yield* tokenVariable
  if (listen !== null && !isLoopback(listen) && token === null) {
    return yield* misused(
      `${setting} is reachable from other machines, so a token is needed.`,
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

/** The flags for settings that are in the config if there is one. */
export const withoutConfigFlags = {
  ...connectionFlags,
  listen: textFlag(
    "listen",
    "HOST:PORT|off",
    `Address of the dashboard and the API (or BERTH_WATCH_LISTEN; default ${defaultListen.host}:${defaultListen.port})`
  )
}
type RunOptions = Command.Command.Config.Infer<typeof withoutConfigFlags> & StoreOptions

export const fromSettingFault = ({ exit, hint, message }: SettingFault): CommandFailed =>
  new CommandFailed({ exit, message, hint })

export const readRunConfig = Effect.fn("readRunConfig")(function* ({
  account,
  allowHttp,
  baseUrl,
  config,
  listen,
  location,
  project,
  store,
  userAgent
}: RunOptions): Effect.fn.Return<WatchConfig, CommandFailed> {
  yield* checkProxy
  if (Option.isNone(config)) {
    const connection = yield* Effect.mapError(
      readConnection(baseUrl, allowHttp, flagsGiven({ project, location, userAgent })),
      fromSettingFault
    )
    return yield* environmentConfig(connection, yield* readAccount(account), { listen, store })
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
      const message = `${flag} cannot be combined with --config, which names the accounts.`
      return yield* misused(message)
    }
  }
  if (Option.isSome(store)) return yield* misused("--store cannot be combined with --config, which names the store.")
  if (Option.isSome(listen))
    return yield* misused("--listen cannot be combined with --config, which names the address.")
  return yield* readConfigFile(config.value)
})
