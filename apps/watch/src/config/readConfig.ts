/** Reads the configuration of `berth-watch` from YAML, or reports everything that is wrong with it, with line and column. */
import { accountFingerprint } from "@berthkit/terminal/accountFingerprint"
import { maxInr, toMicros } from "@berthkit/core/domain/Money"
import { isSecretName } from "@berthkit/core/domain/secretName"
import { parseDurationMillis } from "@berthkit/terminal/duration"
import { variables } from "@berthkit/terminal/variables"
import { Option, Redacted, Result } from "effect"
import { isMap, isScalar, isSeq, type Node } from "yaml"
import { isIP } from "node:net"
import { dirname, isAbsolute, resolve } from "node:path"
import { heartbeatMethods, type HeartbeatOptions } from "../deliver/heartbeat.ts"
import { causes } from "../diff/Cause.ts"
import { daemonAccount } from "../events/DaemonFact.ts"
import { eventTypes } from "../events/Event.ts"
import type { Render } from "../deliver/template/Template.ts"
import { type Mailbox, parseMailbox } from "../deliver/mail/mailboxes.ts"
import {
  formats,
  type Header,
  type MailTls,
  mailTls,
  needsKey,
  matchesGlob,
  type SinkOptions,
  typeProblem
} from "../deliver/SinkOptions.ts"
import { headerProblem, isHeaderValue } from "../deliver/webhook/headers.ts"
import { isPostgres, readAddress } from "@berthkit/terminal/postgresAddress"
import type { Budget } from "../spend/Ledger.ts"
import { defaultRetention, type Retention } from "../store/retention.ts"
import { ConfigFile, type ConfigProblem, defaulted, needed, type Place, type Read } from "@berthkit/terminal/ConfigFile"
import { isPrivateHost, isPrivateUrl } from "../deliver/webhook/addressCheck.ts"
import { signingKey } from "../deliver/webhook/send.ts"
import {
  type AccountOptions,
  type Listen,
  type PublicUrl,
  type WatchConfig,
  type Surroundings,
  defaultListen,
  defaultAccount,
  defaultMaxLag,
  parseListen,
  isLoopback,
  tokenForm,
  isToken,
  parseShare,
  userAgentOf,
  connectionProblem,
  accountName,
  sinkName
} from "./Config.ts"

const second = 1000
const day = 86_400_000
const year = 365 * day

const defaultWarnPercent: ReadonlyArray<number> = [50, 80, 100]

const parseUrl = (text: string): Redacted.Redacted<URL> | undefined => {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.protocol !== "https:" && url.protocol !== "http:") return undefined
  try {
    // User and password are decoded when a request is sent, so malformed escapes must be rejected here.
    decodeURIComponent(url.username + url.password)
    return Redacted.make(url)
  } catch {
    return undefined
  }
}

/**
 * Whether the daemon can be served below this path. The path must not start like one of the daemon's own paths: some
 * proxies strip the path and some do not, and the daemon must be able to tell which.
 */
const isPublicPath = (path: string): boolean =>
  /^(\/[\w.~-]+)*$/.test(path) && !/^\/(api|events|metrics|sd|healthz|readyz)(\/|$)/.test(path)

/** An origin with an optional path, and nothing else. */
const parsePublicUrl = (text: string): PublicUrl | undefined => {
  const url = URL.parse(text)
  if (url?.protocol !== "https:" || url.href !== `${url.origin}${url.pathname}`) return undefined
  const path = url.pathname.replace(/\/$/, "")
  return isPublicPath(path) ? { origin: url.origin, path } : undefined
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

/** The name or address of a mail server, without the brackets of an IPv6 address. */
const mailHost = (text: string): string | undefined => {
  const host = text.replace(/^\[(.*)\]$/, "$1")
  return isIP(host) !== 0 || /^[a-z0-9](?:[a-z0-9_.-]{0,251}[a-z0-9.])?$/i.test(host) ? host : undefined
}

/** The ports on which mail servers usually listen. */
const mailPorts: Readonly<Record<MailTls, number>> = { starttls: 587, implicit: 465, none: 25 }

const jsonType = "application/json"

const isJsonType = (type: string): boolean => /^[^;]*[/+]json\s*(;|$)/i.test(type)

const contentType = (text: string): string | undefined =>
  /^[\w.+-]{1,80}\/[\w.+-]{1,80}(?:; ?[\w-]+=[\w-]+){0,3}$/.test(text) ? text : undefined

const duplicates = (names: ReadonlyArray<string>): ReadonlyArray<number> =>
  names.flatMap((name, index) => (names.indexOf(name) < index ? [index] : []))

/** Converts the result of another reader. */
const mapped =
  <A, B>(read: Read<A>, toOther: (found: A, place: Place) => B | undefined): Read<B> =>
  (place) => {
    const found = read(place)
    return found === undefined ? undefined : toOther(found, place)
  }

/** The reader of a whole config, composed of readers for its parts. */
const configReader = (file: ConfigFile, surroundings: Surroundings): Read<WatchConfig> => {
  /** A path relative to the config's folder. */
  const absolute = (path: string): string => resolve(dirname(surroundings.path), path)

  const variable = (place: Place, name: string): string | undefined => {
    const value = surroundings.variable(name)?.trim()
    return value ? value : file.fail(place, `refers to ${name}, which is not set`)
  }

  const fileText = (place: Place, path: string): string | undefined => {
    try {
      const text = surroundings.file(absolute(path)).trim()
      return text === "" ? file.fail(place, `refers to ${path}, which is empty`) : text
    } catch {
      return file.fail(place, `refers to ${path}, which cannot be read`)
    }
  }

  const source = file.record({ env: defaulted(file.text, null), file: defaulted(file.text, null) })

  /** A secret by reference: an environment variable, or a file. */
  const secret: Read<Redacted.Redacted> = (place) => {
    if (isScalar(place.node) && place.node.value === null) return file.fail(place, "is missing")
    if (!isMap(place.node)) return file.fail(place, "is written out; refer to it: { env: NAME } or { file: PATH }")
    const found = source(place)
    if (found === undefined) return undefined
    if ((found.env === null) === (found.file === null)) return file.fail(place, "has to name one of env, file")
    const value = found.env === null ? fileText(place, found.file!) : variable(place, found.env)
    return value === undefined ? undefined : Redacted.make(value)
  }

  /** A plain value, or a reference to a secret. */
  const textOrSecret: Read<string> = (place) =>
    isMap(place.node) ? mapped(secret, Redacted.value)(place) : file.text(place)

  const token = mapped(secret, (found, place) => (isToken(found) ? found : file.fail(place, `has to be ${tokenForm}`)))

  const url = mapped(
    textOrSecret,
    (text, place) => parseUrl(text) ?? file.fail(place, "has to be an address that begins with https:// or http://")
  )

  /** An amount, exact to the paisa. */
  const rupees: Read<number> = (place) => {
    const value = isScalar(place.node) ? place.node.value : undefined
    return typeof value === "number" && value > 0 && value <= maxInr && Number.isInteger(toMicros(value) / 10_000)
      ? value
      : file.fail(place, `has to be an amount in rupees above 0, up to ${maxInr}, such as 200000`)
  }

  const percent = file.parsed("a whole percentage from 1% to 1000%, such as 80%", parsePercent)

  const budget = mapped(
    file.record({
      month: needed(rupees),
      warn: defaulted(file.list(percent, { min: 1, max: 20 }), defaultWarnPercent)
    }),
    ({ month, warn }): Budget => ({ monthInr: month, warnPercent: Array.from(new Set(warn)).sort((a, b) => a - b) })
  )

  const account = mapped(
    file.record({
      name: needed(
        file.parsed("1 to 64 letters, digits, dots, @, - or _, without - or _ at its beginning", accountName)
      ),
      baseUrl: needed(file.text),
      apiKey: needed(secret),
      accessToken: needed(secret),
      project: defaulted<number | null>(file.whole(1, Number.MAX_SAFE_INTEGER), null),
      location: defaulted<string | null>(file.text, null),
      userAgent: defaulted<string | null>(file.text, null),
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
      budget: defaulted<Budget | null>(budget, defaultAccount.budget),
      forgotten: defaulted<number | null>(file.duration(second, year), defaultAccount.forgottenMillis)
    }),
    (found, place): AccountOptions | undefined => {
      const {
        accessToken,
        allowHttp,
        apiKey,
        baseUrl,
        forgotten,
        grace,
        hold,
        interval,
        location,
        project,
        userAgent,
        ...rest
      } = found
      const connection = {
        baseUrl,
        credentials: { apiKey, accessToken },
        ...(project !== null && { project }),
        ...(location !== null && { location }),
        ...userAgentOf(userAgent, surroundings)
      }
      const problem = connectionProblem(connection, allowHttp)
      if (problem?.option === "userAgent" && userAgent === null)
        return file.fail({ ...place, name: variables.userAgent }, problem.why)
      if (problem !== null) {
        const node = isMap(place.node) ? place.node.get(problem.option, true) : undefined
        return file.fail({ node: node ?? place.node, name: `${place.name}.${problem.option}` }, problem.why)
      }
      return {
        ...rest,
        connection,
        intervalMillis: interval === "auto" ? null : interval,
        graceMillis: grace,
        holdMillis: hold,
        forgottenMillis: forgotten
      }
    }
  )

  /** A header with a plain value, unless its name suggests that the value is secret. */
  const header = ({ key, ...place }: Place & { readonly key: string }, value: Place): Header | undefined => {
    const name = key.toLowerCase()
    const problem = headerProblem(name)
    if (problem !== null) return file.fail(place, problem)
    const read = isSecretName(name) ? secret(value) : mapped(textOrSecret, (text) => Redacted.make(text))(value)
    if (read === undefined) return undefined
    return isHeaderValue(Redacted.value(read))
      ? [name, read]
      : file.fail(value, "has characters that a header must not contain")
  }

  const headers: Read<ReadonlyArray<Header>> = mapped(file.entries(header, 50), (found, place) => {
    const [double] = duplicates(found.map(([name]) => name))
    return double === undefined ? found : file.fail(place, `has the header ${found[double]![0]} twice`)
  })

  const key = mapped(secret, (text, place): Redacted.Redacted<Uint8Array> | undefined => {
    const bytes = signingKey(Redacted.value(text))
    return bytes === undefined
      ? file.fail(place, "has to be whsec_ and 16 to 64 bytes in base64")
      : Redacted.make(bytes)
  })

  const receiverKey = mapped(secret, (found, place) =>
    isHeaderValue(Redacted.value(found)) ? found : file.fail(place, "has characters that a header must not contain")
  )

  /** The types of events for the sink whose target is being read. */
  let selectedTypes: ReadonlyArray<string> = eventTypes

  /** The compiled template under a key of a target; null if there is none, undefined if it is not usable. */
  const templateIn = ({ name, node }: Place, key: string, isJson: boolean): Render | null | undefined => {
    const found = isMap(node) ? (node.get(key, true) as Node | undefined) : undefined
    if (found === undefined || !isScalar(found) || found.value === null) return null
    const compiled = surroundings.compileTemplate?.(String(found.value), selectedTypes, isJson)
    if (compiled === undefined) return null
    if (Result.isSuccess(compiled)) return compiled.success
    for (const { column, message, row } of compiled.failure) {
      file.failWithin({ name: `${name}.${key}`, node: found }, { row, column }, message)
    }
    return undefined
  }

  const webhook = mapped(
    file.record({
      url: needed(url),
      secrets: defaulted(file.list(key, { max: 10 }), []),
      allowPrivate: defaulted(file.flag, false),
      format: defaulted(file.oneOf(formats), "cloudevents"),
      key: defaulted(receiverKey, null),
      headers: defaulted(headers, []),
      template: defaulted<string | null>(file.text, null),
      contentType: defaulted<string | null>(
        file.parsed("a type such as text/plain or application/json", contentType),
        null
      )
    }),
    ({ allowPrivate, contentType, ...rest }, place): SinkOptions["target"] | undefined => {
      const { format, key, url } = rest
      const template = templateIn(place, "template", isJsonType(contentType ?? jsonType))
      if (template === undefined) return undefined
      if (template !== null && format !== "cloudevents")
        return file.fail(place, `has a template, which ${format} does not use`)
      if (template === null && contentType !== null)
        return file.fail(place, "has a contentType, which only a template uses")
      if (needsKey(format) && key === null) return file.fail(place, `needs a key for ${format}: key: { env: NAME }`)
      if (!needsKey(format) && key !== null) return file.fail(place, `has a key, which ${format} does not use`)
      return allowPrivate || !isPrivateUrl(Redacted.value(url))
        ? {
            _tag: "Webhook",
            ...rest,
            isPrivateAllowed: allowPrivate,
            template: template && { contentType: contentType ?? jsonType, render: template }
          }
        : file.fail(place, "is on this machine or in a private network; add allowPrivate: true to allow it")
    }
  )

  const mailbox = file.parsed("an address such as ops@example.com or Ops <ops@example.com>", parseMailbox)
  const mailboxes = file.list(mailbox, { min: 1, max: 50 })
  /** One address, or a list of addresses. */
  const recipients: Read<ReadonlyArray<Mailbox>> = (place) =>
    isSeq(place.node) ? mailboxes(place) : mapped(mailbox, (found) => [found])(place)

  const mail = mapped(
    file.record({
      host: needed(file.parsed("a name or an address without a port, such as smtp.example.com", mailHost)),
      port: defaulted<number | null>(file.whole(1, 65_535), null),
      tls: defaulted(file.oneOf(mailTls), "starttls"),
      user: defaulted<string | null>(textOrSecret, null),
      password: defaulted<Redacted.Redacted | null>(secret, null),
      from: needed(mailbox),
      to: needed(recipients),
      allowPrivate: defaulted(file.flag, false),
      subject: defaulted<string | null>(file.text, null),
      template: defaulted<string | null>(file.text, null)
    }),
    ({ allowPrivate, password, port, user, ...rest }, place): SinkOptions["target"] | undefined => {
      const subject = templateIn(place, "subject", false)
      const template = templateIn(place, "template", false)
      if (subject === undefined || template === undefined) return undefined
      if ((user === null) !== (password === null))
        return file.fail(place, "has to have both user and password, or neither")
      if (!allowPrivate && isPrivateHost(rest.host))
        return file.fail(place, "is on this machine or in a private network; add allowPrivate: true to allow it")
      return {
        _tag: "Mail",
        ...rest,
        port: port ?? mailPorts[rest.tls],
        login: user === null || password === null ? null : { user: Redacted.make(user), password },
        isPrivateAllowed: allowPrivate,
        subject,
        template
      }
    }
  )

  /** The name of a variable that is set. */
  const variableName = mapped(file.text, (name, place) => (variable(place, name) === undefined ? undefined : name))

  const exec = mapped(
    file.record({
      command: needed(file.list(file.text, { min: 1 })),
      timeout: defaulted(file.duration(100, 3_600_000), 10 * second),
      env: defaulted(file.list(variableName, { max: 100 }), [])
    }),
    ({ command: [program = "", ...args], env, timeout }): SinkOptions["target"] => ({
      _tag: "Exec",
      command: [program, ...args],
      timeoutMillis: timeout,
      variables: env
    })
  )

  const stdout = mapped(file.record({}), (): SinkOptions["target"] => ({ _tag: "Stdout" }))

  const type = mapped(file.text, (text, place) => {
    const problem = typeProblem(text)
    return problem === null ? text : file.fail(place, problem)
  })

  /** The types in a sink's block, as far as they are readable. A problem with them is reported elsewhere. */
  const typesIn = ({ node }: Place): ReadonlyArray<string> => {
    const found = isMap(node) ? node.get("types") : undefined
    const globs = isSeq(found) ? found.items.map((item) => (isScalar(item) ? String(item.value) : "")) : []
    return globs.length === 0 ? eventTypes : eventTypes.filter((each) => globs.some((glob) => matchesGlob(glob, each)))
  }

  /**
   * A list that selects events. An empty list is refused: it would select all events, which its author hardly wants.
   */
  const filter = <A>(read: Read<A>): Read<ReadonlyArray<A>> =>
    mapped(file.list(read), (found, place) =>
      found.length === 0 ? file.fail(place, "has to name at least one; leave it out for all") : found
    )

  const sinkRecord = file.record({
    name: needed(file.parsed("1 to 64 letters, digits, dots, - or _, without - at its beginning", sinkName)),
    webhook: defaulted(webhook, null),
    mail: defaulted(mail, null),
    exec: defaulted(exec, null),
    stdout: defaulted(stdout, null),
    types: defaulted(filter(type), []),
    nodes: defaulted(filter(file.text), []),
    causes: defaulted(filter(file.oneOf(causes)), []),
    accounts: defaulted(filter(file.text), []),
    start: defaulted(file.oneOf(["now", "baseline"]), "now"),
    for: defaulted(file.duration(0, day), 0),
    maxLag: defaulted(file.whole(1, 1_000_000_000), defaultMaxLag)
  })

  const sink = mapped(
    (place) => {
      selectedTypes = typesIn(place)
      return sinkRecord(place)
    },
    (found, place): SinkOptions | undefined => {
      const { accounts, causes, exec, for: forMillis, mail, nodes, stdout, types, webhook, ...rest } = found
      const [target, ...more] = [webhook, mail, exec, stdout].filter((target) => target !== null)
      if (target === undefined || more.length > 0)
        return file.fail(place, "has to have one of webhook, mail, exec, stdout")
      if (target._tag === "Stdout" && forMillis > 0)
        return file.fail(place, "cannot hold changes back on stdout: leave out for")
      return { ...rest, target, selection: { types, nodes, causes, accounts }, forMillis }
    }
  )

  const kept = (millis: number) => defaulted(file.duration(60_000, 100 * year), millis)

  const retention = mapped(
    file.record({
      events: kept(defaultRetention.eventsMillis),
      maxEvents: defaulted(file.whole(1000, 1_000_000_000), defaultRetention.maxEvents),
      maxSize: defaulted(file.parsed("a size from 1MB, such as 500MB or 10GB", parseSize), defaultRetention.maxBytes),
      deadLetters: kept(defaultRetention.deadLettersMillis),
      tombstones: kept(defaultRetention.tombstonesMillis)
    }),
    ({ deadLetters, events, maxEvents, maxSize, tombstones }): Retention => ({
      eventsMillis: events,
      maxEvents,
      maxBytes: maxSize,
      deadLettersMillis: deadLetters,
      tombstonesMillis: tombstones
    })
  )

  const listen = file.parsed<Listen | "off">("HOST:PORT or off", (text) => (text === "off" ? text : parseListen(text)))

  /** The store: a PostgreSQL address, which contains a password, or a path relative to the config. */
  const storeText = mapped(textOrSecret, (value, place) => {
    if (!isPostgres(value)) return Redacted.make(absolute(value))
    return Result.getOrElse(readAddress(value, surroundings.variable), (problem) => file.fail(place, problem))
  })

  /** Under systemd the daemon may write only to its state folder, so a store next to the config would fail. */
  const checkStore = (place: Place, store: Redacted.Redacted | null) => {
    const folder = surroundings.variable("STATE_DIRECTORY")?.split(":", 1)[0]
    const isRelative = store === null || (isScalar(place.node) && !isAbsolute(String(place.node.value)))
    if (!folder || !isRelative || (store !== null && isPostgres(Redacted.value(store)))) return
    file.fail(place, `has to be an absolute path where systemd runs the daemon, such as ${folder}/watch.db`)
  }

  const heartbeat = mapped(
    file.record({
      url: needed(url),
      every: defaulted(file.duration(second, day), 60_000),
      method: defaulted(file.oneOf(heartbeatMethods), "POST"),
      headers: defaulted(headers, [])
    }),
    ({ every, ...rest }): HeartbeatOptions => ({ ...rest, everyMillis: every })
  )

  return mapped(
    file.record({
      store: defaulted<Redacted.Redacted | null>(storeText, null),
      listen: defaulted<Listen | "off">(listen, defaultListen),
      token: defaulted<Redacted.Redacted | null>(token, null),
      publicUrl: defaulted<PublicUrl | null>(
        file.parsed(
          "an https address such as https://example.com/watch, whose path does not begin like one of the daemon's own, such as /api",
          parsePublicUrl
        ),
        null
      ),
      accounts: defaulted<ReadonlyArray<AccountOptions> | null>(file.list(account, { max: 10_000 }), null),
      sinks: defaulted(file.list(sink, { max: 100 }), []),
      heartbeat: defaulted<HeartbeatOptions | null>(heartbeat, null),
      retention: defaulted(retention, defaultRetention)
    }),
    (found, place) => {
      const { publicUrl, sinks, token } = found
      const accounts = found.accounts ?? []
      const isServer = found.store !== null && isPostgres(Redacted.value(found.store))
      const listen = found.listen === "off" ? null : found.listen
      const placeOf = (...path: ReadonlyArray<string | number>): Place => {
        const node = isMap(place.node) ? (place.node.getIn(path, true) as Node | undefined) : undefined
        return {
          node: node ?? null,
          name: path.map((part) => (typeof part === "number" ? `[${part}]` : part)).join("")
        }
      }
      if (listen !== null && !isLoopback(listen) && token === null) {
        file.fail(placeOf("listen"), "is reachable from other machines, so a token is needed")
      }
      if (publicUrl !== null && token === null) {
        file.fail(placeOf("publicUrl"), "is reachable from other machines, so a token is needed")
      }
      checkStore(placeOf("store"), found.store)
      // A store in PostgreSQL may have accounts in its table, so the config may have none.
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
          file.fail(placeOf(key, index), `has the same name as another one: ${list[index]!.name}`)
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
      const store = found.store ?? Redacted.make(absolute("berth-watch.db"))
      return { ...found, store, listen, accounts: withDividedShares(accounts) }
    }
  )
}

/**
 * Divides the share among accounts with the same key at the same service, such as several locations of a project, because the
 * rate limit belongs to the key. Two accounts with the default of 60 % get 30 % each.
 */
const withDividedShares = (accounts: ReadonlyArray<AccountOptions>): ReadonlyArray<AccountOptions> => {
  const keyOf = ({ connection }: AccountOptions) =>
    accountFingerprint({ ...connection, project: undefined, location: undefined })
  const byKey = Map.groupBy(accounts, keyOf)
  return accounts.map((each) => ({ ...each, share: each.share / byKey.get(keyOf(each))!.length }))
}

const durationWithin = (text: string, minMillis: number, maxMillis: number): number | undefined =>
  Option.getOrUndefined(
    Option.filter(parseDurationMillis(text), (millis) => millis >= minMillis && millis <= maxMillis)
  )

/** Reads a config, or returns everything that is wrong with it. */
export const readConfig = (
  text: string,
  surroundings: Surroundings
): Result.Result<WatchConfig, ReadonlyArray<ConfigProblem>> => {
  const file = new ConfigFile(text)
  const config = file.problems.length > 0 ? undefined : configReader(file, surroundings)(file.root)
  return config === undefined || file.problems.length > 0 ? Result.fail(file.problems) : Result.succeed(config)
}
