/**
 * What `berth-watch` has to do: accounts, sinks, store. Read from YAML by `readConfig`; secrets come from the environment or
 * from files, never from the config itself.
 */
import { type ClientOptions, settingsFrom } from "@berthkit/core/client/options/Settings"
import { maxInr, toMicros } from "@berthkit/core/domain/Money"
import { isExposed } from "@berthkit/core/client/transport/loopback"
import { parseDurationMillis } from "@berthkit/terminal/duration"
import { Option, Redacted, Result } from "effect"
import { isMap, isScalar, type Node } from "yaml"
import { dirname, isAbsolute, resolve } from "node:path"
import type { HeartbeatOptions } from "../deliver/heartbeat.ts"
import { daemonAccount } from "../events/DaemonFact.ts"
import { typeProblem } from "../deliver/Filter.ts"
import { formats, type SinkOptions } from "../deliver/SinkOptions.ts"
import { isAddress, isPostgres, postgresForm } from "@berthkit/terminal/postgresAddress"
import type { Budget } from "../spend/Ledger.ts"
import { defaultRetention, type Retention } from "../store/retention.ts"
import { ConfigFile, type ConfigProblem, defaulted, needed, type Place, type Read } from "@berthkit/terminal/ConfigFile"
import { isPrivateUrl } from "../deliver/webhook/addressCheck.ts"
import { signingKey } from "../deliver/webhook/sign.ts"

export interface AccountOptions {
  /** In events and cursors. */
  readonly name: string
  readonly connection: Pick<ClientOptions, "baseUrl" | "credentials">
  /** From one sweep to the next; null: from the size of the account and the share. */
  readonly intervalMillis: number | null
  /** Of the rate limit, at most: above 0, up to 1. */
  readonly share: number
  /** How long 404s and absence must agree before a node counts as deleted. */
  readonly graceMillis: number
  /** How long a suspiciously short list must persist before it is believed. */
  readonly holdMillis: number
  /** What a month may cost, and which parts of that are reported; null: nothing is. */
  readonly budget: Budget | null
  /** How long a node may be off before it is reported; null: it is not, whatever its lease. */
  readonly forgottenMillis: number | null
}

export interface Listen {
  readonly host: string
  readonly port: number
}

export interface WatchConfig {
  /** Path of a file, or a `postgres://` address. */
  readonly store: Redacted.Redacted
  /** Null: no HTTP. */
  readonly listen: Listen | null
  readonly token: Redacted.Redacted | null
  /** `https://host`, the origin that browsers see where a proxy with TLS is in front; null: there is none. */
  readonly publicOrigin: string | null
  /** None where a store on a server has them. */
  readonly accounts: ReadonlyArray<AccountOptions>
  readonly sinks: ReadonlyArray<SinkOptions>
  readonly heartbeat: HeartbeatOptions | null
  readonly retention: Retention
}

/** What the config refers to. */
export interface Surroundings {
  /** Path of the config; other paths in it are relative to its folder. */
  readonly path: string
  readonly variable: (name: string) => string | undefined
  /** The content of a file; throws when it cannot be read. */
  readonly file: (path: string) => string
}

export const defaultListen: Listen = { host: "127.0.0.1", port: 9464 }
export const defaultAccount = {
  intervalMillis: null,
  share: 0.6,
  graceMillis: 60_000,
  holdMillis: 600_000,
  budget: null,
  forgottenMillis: null
} as const
const defaultWarnPercent: ReadonlyArray<number> = [50, 80, 100]
export const defaultMaxLag = 1_000_000

const second = 1000
const day = 86_400_000
const year = 365 * day

const loopback = /^(localhost|127(\.\d+){3}|::1)$/

/** `host:port`, with an IPv6 address in brackets. */
export const parseListen = (text: string): Listen | undefined => {
  const found = /^(?:\[([0-9a-f:]+)\]|([\w.-]+)):(\d{1,5})$/i.exec(text)
  const port = Number(found?.[3])
  return found === null || port > 65_535 ? undefined : { host: found[1] ?? found[2]!, port }
}

export const isLoopback = ({ host }: Listen): boolean => loopback.test(host)

/** What a client can show in a header, and nobody guesses. */
export const tokenForm = "at least 16 printable ASCII characters without spaces"
export const isToken = (token: Redacted.Redacted): boolean => /^[\x21-\x7e]{16,}$/.test(Redacted.value(token))

const parseUrl = (text: string): Redacted.Redacted<URL> | undefined => {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined
  try {
    // They are decoded when they are sent.
    decodeURIComponent(url.username + url.password)
    return Redacted.make(url)
  } catch {
    return undefined
  }
}

/** An origin and nothing more. */
const parsePublicUrl = (text: string): string | undefined => {
  const url = URL.parse(text)
  return url?.protocol === "https:" && url.href === `${url.origin}/` ? url.origin : undefined
}

export const parseShare = (text: string): number | undefined => {
  const percent = /^(\d{1,3})\s?%$/.exec(text)?.[1]
  const share = Number(percent) / 100
  return share > 0 && share <= 1 ? share : undefined
}

const parsePercent = (text: string): number | undefined => {
  const percent = Number(/^(\d{1,4})\s?%$/.exec(text)?.[1])
  return percent >= 1 && percent <= 1000 ? percent : undefined
}

/** A decimal size, in bytes. */
const parseSize = (text: string): number | undefined => {
  const found = /^(\d{1,6})\s?(MB|GB|TB)$/.exec(text)
  const bytes = Number(found?.[1]) * { MB: 1e6, GB: 1e9, TB: 1e12 }[found?.[2] ?? "MB"]!
  return bytes > 0 ? bytes : undefined
}

const duplicates = (names: ReadonlyArray<string>): ReadonlyArray<number> =>
  names.flatMap((name, index) => (names.indexOf(name) < index ? [index] : []))

/** Which option of a connection cannot be used, and why; null where all can. */
export const connectionProblem = (
  connection: AccountOptions["connection"],
  allowHttp: boolean
): { readonly option: string; readonly why: string } | null => {
  const settings = settingsFrom(connection)
  if (Result.isFailure(settings)) {
    return { option: settings.failure.option, why: `is not usable: ${settings.failure.detail}` }
  }
  return isExposed(connection.baseUrl) && !allowHttp
    ? {
        option: "baseUrl",
        why: "is plain http, where anyone on the way could read the credentials: use https, or add allowHttp: true"
      }
    : null
}

/** The readers of a config's parts. */
class ConfigReader {
  readonly #file: ConfigFile
  readonly #surroundings: Surroundings

  constructor(file: ConfigFile, surroundings: Surroundings) {
    this.#file = file
    this.#surroundings = surroundings
  }

  /** A secret by reference: a variable of the environment, or a file. */
  secret: Read<Redacted.Redacted> = (place) => {
    const file = this.#file
    if (isScalar(place.node) && place.node.value === null) return file.fail(place, "is missing")
    if (!isMap(place.node)) return file.fail(place, "is written out; refer to it: { env: NAME } or { file: PATH }")
    const source = file.record({ env: defaulted(file.text, null), file: defaulted(file.text, null) })(place)
    if (source === undefined) return undefined
    if ((source.env === null) === (source.file === null)) return file.fail(place, "has to name one of env, file")
    const value = source.env === null ? this.#fileText(place, source.file!) : this.#variable(place, source.env)
    return value === undefined ? undefined : Redacted.make(value)
  }

  token: Read<Redacted.Redacted> = (place) => {
    const token = this.secret(place)
    return token === undefined || isToken(token) ? token : this.#file.fail(place, `has to be ${tokenForm}`)
  }

  #variable(place: Place, name: string): string | undefined {
    const value = this.#surroundings.variable(name)?.trim()
    return value ? value : this.#file.fail(place, `refers to ${name}, which is not set`)
  }

  #fileText(place: Place, path: string): string | undefined {
    try {
      const text = this.#surroundings.file(this.path(path)).trim()
      return text === "" ? this.#file.fail(place, `refers to ${path}, which is empty`) : text
    } catch {
      return this.#file.fail(place, `refers to ${path}, which cannot be read`)
    }
  }

  /** A path relative to the config's folder. */
  path = (path: string): string => resolve(dirname(this.#surroundings.path), path)

  /** An address in the file, or a secret that is one. */
  url: Read<Redacted.Redacted<URL>> = (place) => {
    const text = isMap(place.node) ? this.secret(place) : this.#file.text(place)
    if (text === undefined) return undefined
    const url = parseUrl(Redacted.isRedacted(text) ? Redacted.value(text) : text)
    return url ?? this.#file.fail(place, "has to be an address that begins with https:// or http://")
  }

  account: Read<AccountOptions> = (place) => {
    const file = this.#file
    const found = file.record({
      name: needed(file.parsed("1 to 64 letters, digits, dots, @, - or _, without _ at its beginning", accountName)),
      baseUrl: needed(file.text),
      apiKey: needed(this.secret),
      accessToken: needed(this.secret),
      allowHttp: defaulted(file.flag, false),
      interval: defaulted<number | null | "auto">(
        file.parsed("auto or a duration from 100ms to 1d, such as 30s", (text) =>
          text === "auto" ? text : durationWithin(text, 100, day)
        ),
        defaultAccount.intervalMillis
      ),
      share: defaulted(file.parsed("a percentage above 0%, up to 100%", parseShare), defaultAccount.share),
      grace: defaulted(file.duration(0, day), defaultAccount.graceMillis),
      hold: defaulted(file.duration(0, day), defaultAccount.holdMillis),
      budget: defaulted<Budget | null>(this.budget, defaultAccount.budget),
      forgotten: defaulted<number | null>(file.duration(second, year), defaultAccount.forgottenMillis)
    })(place)
    if (found === undefined) return undefined
    const { accessToken, allowHttp, apiKey, baseUrl, budget, forgotten, grace, hold, interval, name, share } = found
    const connection = { baseUrl, credentials: { apiKey, accessToken } }
    const problem = connectionProblem(connection, allowHttp)
    if (problem !== null) {
      const node = isMap(place.node) ? place.node.get(problem.option, true) : undefined
      return file.fail({ node: node ?? place.node, name: `${place.name}.${problem.option}` }, problem.why)
    }
    const intervalMillis = interval === "auto" ? null : interval
    return {
      name,
      connection,
      intervalMillis,
      share,
      graceMillis: grace,
      holdMillis: hold,
      budget,
      forgottenMillis: forgotten
    }
  }

  budget: Read<Budget> = (place) => {
    const file = this.#file
    const percent = file.parsed("a whole percentage from 1% to 1000%, such as 80%", parsePercent)
    const found = file.record({
      month: needed(this.rupees),
      warn: defaulted(file.list(percent, { min: 1, max: 20 }), defaultWarnPercent)
    })(place)
    return found === undefined
      ? undefined
      : { monthInr: found.month, warnPercent: Array.from(new Set(found.warn)).sort((a, b) => a - b) }
  }

  /** An amount, to the paisa. */
  rupees: Read<number> = (place) => {
    const value = isScalar(place.node) ? place.node.value : undefined
    return typeof value === "number" && value > 0 && value <= maxInr && Number.isInteger(toMicros(value) / 10_000)
      ? value
      : this.#file.fail(place, `has to be an amount in rupees above 0, up to ${maxInr}, such as 200000`)
  }

  webhook: Read<SinkOptions["target"]> = (place) => {
    const file = this.#file
    const key: Read<Redacted.Redacted<Uint8Array>> = (place) => {
      const text = this.secret(place)
      if (text === undefined) return undefined
      const key = signingKey(Redacted.value(text))
      return key === undefined ? file.fail(place, "has to be whsec_ and 16 to 64 bytes in base64") : Redacted.make(key)
    }
    const found = file.record({
      url: needed(this.url),
      secrets: defaulted(file.list(key, { max: 10 }), []),
      allowPrivate: defaulted(file.flag, false),
      format: defaulted(file.oneOf(formats), "cloudevents")
    })(place)
    if (found === undefined) return undefined
    const { allowPrivate, format, secrets, url } = found
    if (!allowPrivate && isPrivateUrl(Redacted.value(url))) {
      return file.fail(place, "has an address of this machine or a private network; add allowPrivate: true to allow it")
    }
    return { _tag: "Webhook", url, secrets, isPrivateAllowed: allowPrivate, format }
  }

  /** The name of a variable that is set. */
  variableName: Read<string> = (place) => {
    const name = this.#file.text(place)
    return name === undefined || this.#variable(place, name) === undefined ? undefined : name
  }

  exec: Read<SinkOptions["target"]> = (place) => {
    const file = this.#file
    const found = file.record({
      command: needed(file.list(file.text, { min: 1 })),
      timeout: defaulted(file.duration(100, 3_600_000), 10 * second),
      env: defaulted(file.list(this.variableName, { max: 100 }), [])
    })(place)
    if (found === undefined) return undefined
    const [program = "", ...args] = found.command
    return {
      _tag: "Exec",
      command: [program, ...args],
      timeoutMillis: found.timeout,
      variables: found.env
    }
  }

  sink: Read<SinkOptions> = (place) => {
    const file = this.#file
    const stdout: Read<SinkOptions["target"]> = (place) => file.record({})(place) && { _tag: "Stdout" }
    const globs = file.list(file.text)
    const type: Read<string> = (place) => {
      const text = file.text(place)
      const problem = text === undefined ? null : typeProblem(text)
      return problem === null ? text : file.fail(place, problem)
    }
    const found = file.record({
      name: needed(file.parsed("1 to 64 letters, digits, dots, - or _", sinkName)),
      webhook: defaulted(this.webhook, null),
      exec: defaulted(this.exec, null),
      stdout: defaulted(stdout, null),
      types: defaulted(file.list(type), []),
      nodes: defaulted(globs, []),
      accounts: defaulted(globs, []),
      start: defaulted(file.oneOf(["now", "baseline"]), "now"),
      for: defaulted(file.duration(0, day), 0),
      maxLag: defaulted(file.whole(1, 1_000_000_000), defaultMaxLag)
    })(place)
    if (found === undefined) return undefined
    const { accounts, exec, for: forMillis, maxLag, name, nodes, start, stdout: out, types, webhook } = found
    const [target, ...more] = [webhook, exec, out].filter((target) => target !== null)
    if (target === undefined || more.length > 0) return file.fail(place, "has to have one of webhook, exec, stdout")
    if (target._tag === "Stdout" && forMillis > 0)
      return file.fail(place, "cannot hold changes back on stdout: leave out for")
    return { name, target, selection: { types, nodes, accounts }, start, forMillis, maxLag }
  }

  retention: Read<Retention> = (place) => {
    const file = this.#file
    const kept = (millis: number) => defaulted(file.duration(60_000, 100 * year), millis)
    const found = file.record({
      events: kept(defaultRetention.eventsMillis),
      maxEvents: defaulted(file.whole(1000, 1_000_000_000), defaultRetention.maxEvents),
      maxSize: defaulted(file.parsed("a size from 1MB, such as 500MB or 10GB", parseSize), defaultRetention.maxBytes),
      deadLetters: kept(defaultRetention.deadLettersMillis),
      tombstones: kept(defaultRetention.tombstonesMillis)
    })(place)
    return found === undefined
      ? undefined
      : {
          eventsMillis: found.events,
          maxEvents: found.maxEvents,
          maxBytes: found.maxSize,
          deadLettersMillis: found.deadLetters,
          tombstonesMillis: found.tombstones
        }
  }

  listen: Read<Listen | "off"> = (place) =>
    this.#file.parsed("HOST:PORT or off", (text) => (text === "off" ? text : parseListen(text)))(place)

  config: Read<WatchConfig> = (place) => {
    const file = this.#file
    const found = file.record({
      store: defaulted<Redacted.Redacted | null>(this.storeText, null),
      listen: defaulted<Listen | "off">(this.listen, defaultListen),
      token: defaulted<Redacted.Redacted | null>(this.token, null),
      publicUrl: defaulted<string | null>(
        file.parsed("an https address without a path, such as https://watch.example.com", parsePublicUrl),
        null
      ),
      accounts: defaulted<ReadonlyArray<AccountOptions> | null>(file.list(this.account, { max: 2000 }), null),
      sinks: defaulted(file.list(this.sink, { max: 100 }), []),
      heartbeat: defaulted<{ url: Redacted.Redacted<URL>; every: number } | null>(
        file.record({ url: needed(this.url), every: defaulted(file.duration(second, day), 60_000) }),
        null
      ),
      retention: defaulted(this.retention, defaultRetention)
    })(place)
    if (found === undefined) return undefined
    const { heartbeat, publicUrl, sinks, token } = found
    const accounts = found.accounts ?? []
    const isServer = found.store !== null && isPostgres(Redacted.value(found.store))
    const listen = found.listen === "off" ? null : found.listen
    const placeOf = (...path: ReadonlyArray<string | number>): Place => {
      const node = isMap(place.node) ? (place.node.getIn(path, true) as Node | undefined) : undefined
      return { node: node ?? null, name: path.map((part) => (typeof part === "number" ? `[${part}]` : part)).join("") }
    }
    if (listen !== null && !isLoopback(listen) && token === null) {
      file.fail(placeOf("listen"), "is reachable from other machines, so a token is needed")
    }
    if (publicUrl !== null && token === null) {
      file.fail(placeOf("publicUrl"), "is reachable from other machines, so a token is needed")
    }
    this.#checkStore(placeOf("store"), found.store)
    // The table of a store on a server has others.
    if (accounts.length === 0 && !isServer) {
      file.fail(
        found.accounts === null ? { ...place, name: "accounts" } : placeOf("accounts"),
        found.accounts === null ? "is missing" : "is empty"
      )
    }
    for (const [key, list] of [
      ["accounts", accounts],
      ["sinks", sinks]
    ] as const) {
      for (const index of duplicates(list.map(({ name }) => name))) {
        file.fail(placeOf(key, index), `has the name of another one: ${list[index]!.name}`)
      }
    }
    const names = accounts.map(({ name }) => name)
    for (const [index, { selection }] of sinks.entries()) {
      for (const [position, name] of selection.accounts.entries()) {
        if (isServer || names.includes(name) || name === daemonAccount) continue
        const { node } = placeOf("sinks", index, "accounts", position)
        file.fail({ node, name: `sinks[${index}]` }, `selects the account ${name}, which is not configured`)
      }
    }
    return {
      store: found.store ?? Redacted.make(this.path("berth-watch.db")),
      listen,
      token,
      publicOrigin: publicUrl,
      accounts,
      sinks,
      heartbeat: heartbeat === null ? null : { url: heartbeat.url, everyMillis: heartbeat.every },
      retention: found.retention
    }
  }

  /** As a service of systemd the daemon may write to its state folder alone, and the folder of the config is not that. */
  #checkStore(place: Place, store: Redacted.Redacted | null) {
    const folder = this.#surroundings.variable("STATE_DIRECTORY")?.split(":", 1)[0]
    const isRelative = store === null || (isScalar(place.node) && !isAbsolute(String(place.node.value)))
    if (!folder || !isRelative || (store !== null && isPostgres(Redacted.value(store)))) return
    this.#file.fail(place, `has to be an absolute path where systemd runs the daemon, such as ${folder}/watch.db`)
  }

  /** An address of PostgreSQL holds a password; a path is relative to the config. */
  storeText: Read<Redacted.Redacted> = (place) => {
    const text = isMap(place.node) ? this.secret(place) : this.#file.text(place)
    if (text === undefined) return undefined
    const value = Redacted.isRedacted(text) ? Redacted.value(text) : text
    if (!isPostgres(value)) return Redacted.make(this.path(value))
    const address = Redacted.make(value)
    return isAddress(address) ? address : this.#file.fail(place, `has to be ${postgresForm}`)
  }
}

/** The name, if an account may have it: those that begin with `_` are the daemon's own. */
export const accountName = (text: string): string | undefined =>
  /^[A-Za-z0-9.@-][\w.@-]{0,63}$/.test(text) ? text : undefined
const sinkName = (text: string) => (/^[\w.-]{1,64}$/.test(text) ? text : undefined)

const durationWithin = (text: string, minMillis: number, maxMillis: number): number | undefined =>
  Option.getOrUndefined(
    Option.filter(parseDurationMillis(text), (millis) => millis >= minMillis && millis <= maxMillis)
  )

/** Reads a config, or gives everything that is wrong with it. */
export const readConfig = (
  text: string,
  surroundings: Surroundings
): Result.Result<WatchConfig, ReadonlyArray<ConfigProblem>> => {
  const file = new ConfigFile(text)
  const config = file.problems.length > 0 ? undefined : new ConfigReader(file, surroundings).config(file.root)
  return config === undefined || file.problems.length > 0 ? Result.fail(file.problems) : Result.succeed(config)
}
