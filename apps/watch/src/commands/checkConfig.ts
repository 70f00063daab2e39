/**
 * `berth-watch check-config FILE`: reads a config including its secrets, and reports what it would do, without connecting to
 * anything.
 */
import { Console, Effect, Redacted } from "effect"
import { isPostgres } from "@berthkit/terminal/postgresAddress"
import { accountFingerprint } from "@berthkit/terminal/accountFingerprint"
import { durationText } from "@berthkit/terminal/duration"
import type { AccountOptions } from "../config/Config.ts"
import type { SinkOptions } from "../deliver/SinkOptions.ts"
import { budgetOf } from "../observe/RequestShare.ts"
import { promisedSweepMillis, proofsMillis, stretchedFrom } from "../observe/Schedule.ts"
import { checkProxy, readConfigFile } from "../settings/storeSettings.ts"

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`

/** The target of a sink, without parts of an address that may be secret. */
const targetOf = ({ target }: SinkOptions): string => {
  switch (target._tag) {
    case "Webhook": {
      const signed = target.secrets.length === 0 ? "not signed" : `${plural(target.secrets.length, "signing secret")}`
      const further = target.headers.length === 0 ? "" : `, ${plural(target.headers.length, "header")} of its own`
      return `webhook to ${Redacted.value(target.url).origin} (${target.template === null ? target.format : "template"}, ${signed}${further})`
    }
    case "Mail": {
      const { host, login, port, tls, to } = target
      const how = [tls === "none" ? "no TLS" : tls, login === null ? "no login" : "with a login"].join(", ")
      return `mail to ${to.map(({ address }) => address).join(", ")} by ${host}:${port} (${how})`
    }
    case "Exec":
      return `exec ${target.command[0]}`
    case "Stdout":
      return "stdout"
  }
}

/** Where the target of a sink runs, if several processes share a store. A command runs in one of them. */
const placeOf = ({ target }: SinkOptions): string =>
  target._tag === "Webhook" || target._tag === "Mail" ? "" : ", in the process that has the account"

/** The numbers of nodes for which the output shows the sweep interval. */
const exampleSizes = [99, 3000, 10_000]

/** The output shows how long it takes to confirm this many deletions that happen at once. */
const exampleDeletions = 1000

/** How often the account's share of the rate limit allows a sweep. The service is not asked, so its real limit is unknown. */
const shareLine = ({ intervalMillis, name, share }: AccountOptions): string => {
  const budget = budgetOf(share)
  const sweeps = exampleSizes.map((nodes) => {
    const millis = promisedSweepMillis(nodes, intervalMillis, budget)
    const unit = millis < 300_000 ? 1000 : 60_000
    return `${durationText(Math.round(millis / unit) * unit)} with ${nodes} nodes`
  })
  return (
    `account ${name}: ${Math.round(share * 100)}% of the rate limit, ${plural(budget.requests, "request")} an hour until the service ` +
    `reports its limit. All nodes are read every ${sweeps.slice(0, -1).join(", ")} or ${sweeps.at(-1)}. ` +
    `Of ${exampleDeletions} nodes that vanish at once, the last is reported up to ${durationText(proofsMillis(exampleDeletions, budget))} later than a single one.`
  )
}

/** Warns if the share is too small for the configured interval. */
const intervalLines = ({ intervalMillis, name, share }: AccountOptions): ReadonlyArray<string> => {
  if (intervalMillis === null) return []
  const budget = budgetOf(share)
  const nodes = stretchedFrom(intervalMillis, budget)
  if (nodes === null) return []
  const promised = promisedSweepMillis(nodes, intervalMillis, budget)
  const whom = nodes === 0 ? "any number of nodes" : `${nodes} nodes or more`
  return [
    `account ${name}: an interval of ${durationText(intervalMillis)} is too short for its share, ${budget.requests} requests an hour. ` +
      `With ${whom} it is stretched, to ${durationText(Math.round(promised / 1000) * 1000)} at least.`
  ]
}

/**
 * Warns about accounts with the same key at the same service, because every event comes twice, and both accounts use one rate
 * limit.
 */
const sameLines = (accounts: ReadonlyArray<AccountOptions>): ReadonlyArray<string> => {
  const first = new Map<string, string>()
  return accounts.flatMap(({ connection, name }) => {
    const place = accountFingerprint(connection)
    const same = first.get(place)
    if (same === undefined) first.set(place, name)
    return same === undefined
      ? []
      : [
          `account ${name}: has the same key and service as account ${same}, so both report the same nodes and use one rate limit.`
        ]
  })
}

export const checkConfig = Effect.fn("checkConfig")(function* (path: string) {
  const { accounts, heartbeat, listen, sinks, store } = yield* readConfigFile(path)
  yield* checkProxy
  const where = Redacted.value(store)
  const isServer = isPostgres(where)
  yield* Console.log(
    [
      `${path} is usable: ${plural(accounts.length, "account")}, ${plural(sinks.length, "sink")}.`,
      `store: ${isServer ? "PostgreSQL" : where}`,
      `http: ${listen === null ? "off" : `${listen.host}:${listen.port}`}`,
      ...accounts.map(({ connection, name }) => `account ${name}: ${new URL(connection.baseUrl).origin}`),
      ...accounts.map(shareLine),
      ...accounts.flatMap(intervalLines),
      ...sameLines(accounts),
      ...sinks.map((sink) => `sink ${sink.name}: ${targetOf(sink)}${isServer ? placeOf(sink) : ""}`),
      ...(heartbeat === null ? [] : [`heartbeat: ${heartbeat.method} to ${Redacted.value(heartbeat.url).origin}`])
    ].join("\n")
  )
})
