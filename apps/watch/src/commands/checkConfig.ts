/**
 * `berth-watch check-config FILE`: reads a config, secrets included, and reports what it would do; connects to nothing.
 */
import { Console, Effect, Redacted } from "effect"
import { isPostgres } from "@berthkit/terminal/postgresAddress"
import type { SinkOptions } from "../deliver/SinkOptions.ts"
import { readConfigFile } from "../settings/storeSettings.ts"

/** Where a sink delivers, without what may be secret in an address. */
const targetOf = ({ target }: SinkOptions): string => {
  switch (target._tag) {
    case "Webhook": {
      const signed = target.secrets.length === 0 ? "not signed" : `${target.secrets.length} signing secrets`
      return `webhook to ${Redacted.value(target.url).origin} (${target.format}, ${signed})`
    }
    case "Exec":
      return `exec ${target.command[0]}`
    case "Stdout":
      return "stdout"
  }
}

const plural = (count: number, noun: string) => `${count} ${noun}${count === 1 ? "" : "s"}`

/** Of several processes on a server. */
const placeOf = ({ target }: SinkOptions): string =>
  target._tag === "Webhook" ? "" : ", in the process that has the account"

export const checkConfig = Effect.fn("checkConfig")(function* (path: string) {
  const { accounts, heartbeat, listen, sinks, store } = yield* readConfigFile(path)
  const where = Redacted.value(store)
  const isServer = isPostgres(where)
  yield* Console.log(
    [
      `${path} is usable: ${plural(accounts.length, "account")}, ${plural(sinks.length, "sink")}.`,
      `store: ${isServer ? "PostgreSQL" : where}`,
      `http: ${listen === null ? "off" : `${listen.host}:${listen.port}`}`,
      ...accounts.map(({ connection, name }) => `account ${name}: ${new URL(connection.baseUrl).origin}`),
      ...sinks.map((sink) => `sink ${sink.name}: ${targetOf(sink)}${isServer ? placeOf(sink) : ""}`),
      ...(heartbeat === null ? [] : [`heartbeat: ${Redacted.value(heartbeat.url).origin}`])
    ].join("\n")
  )
})
