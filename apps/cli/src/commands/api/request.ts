/**
 * `berth api`: any request of the service, with the account's credentials and berth's errors.
 */
import { RawApi } from "@berth/core/client/RawApi"
import type { RawReply } from "@berth/core/api/Reply"
import { escapeControlsInLines } from "@berth/terminal/escapeControls"
import { Effect, FileSystem, Option, Stdio, Stream } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { UsageFault } from "../../failure/CliFailure.ts"
import { jsonBlock, jsonLine } from "../../output/json.ts"
import { Output } from "../../output/Output.ts"
import { type Format, OutputFormat } from "../../output/OutputFormat.ts"
import { client } from "../../settings/client.ts"
import { redaction } from "../../settings/redaction.ts"
import { switchFlag } from "../../settings/switches.ts"

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const
const bodiless: ReadonlySet<string> = new Set(["GET", "HEAD"])

const isMethod = (method: string): method is (typeof methods)[number] =>
  (methods as ReadonlyArray<string>).includes(method)

const pair = (text: string): Option.Option<readonly [string, string]> => {
  const at = text.indexOf("=")
  return at < 1 ? Option.none() : Option.some([text.slice(0, at), text.slice(at + 1)])
}

/** The body: as it is, from `@file`, or from stdin for `-`. */
const bodyFrom = Effect.fnUntraced(function* (data: string) {
  if (data === "-") return yield* Stream.mkString(Stream.decodeText((yield* Stdio.Stdio).stdin))
  if (!data.startsWith("@")) return data
  const files = yield* FileSystem.FileSystem
  return yield* files.readFileString(data.slice(1))
})

const unreadable = (data: string) => () =>
  new UsageFault({
    message: data === "-" ? "stdin cannot be read." : `The file ${data.slice(1)} cannot be read.`,
    hint: "-d takes JSON, @FILE, or - for stdin."
  })

/** The body as it is, or as JSON in the format that was asked for, where it is JSON. */
const shown = (body: string, format: Format, isTerminal: boolean): string => {
  if (body === "") return ""
  if (format === "table" && !isTerminal) return escapeControlsInLines(body)
  try {
    const value: unknown = JSON.parse(body)
    return format === "ndjson" ? jsonLine(value) : jsonBlock(value)
  } catch {
    return escapeControlsInLines(body)
  }
}

const head = ({ headers, status }: RawReply): string =>
  [`HTTP ${status}`, ...Object.entries(headers).map(([name, value]) => `${name}: ${value ?? ""}`), "", ""].join("\n")

export const request = Command.make(
  "api",
  {
    method: Argument.String("METHOD").pipe(
      Argument.withMetavar(""),
      Argument.withDescription(methods.join(", ")),
      Argument.map((method) => method.toUpperCase()),
      Argument.filterMap(
        (method) => (isMethod(method) ? Option.some(method) : Option.none()),
        () => `expected ${methods.map((method) => `"${method}"`).join(", ")}`
      )
    ),
    path: Argument.String("PATH").pipe(
      Argument.withMetavar(""),
      Argument.withDescription("Below /myaccount/api/v1, such as /nodes/")
    ),
    query: Flag.String("query").pipe(
      Flag.withAlias("q"),
      Flag.withMetavar("NAME=VALUE"),
      Flag.withDescription("Query parameter; repeatable"),
      Flag.filterMap(pair, () => "expected NAME=VALUE"),
      Flag.atLeast(0)
    ),
    data: Flag.String("data").pipe(
      Flag.withAlias("d"),
      Flag.withMetavar("JSON|@FILE|-"),
      Flag.withDescription("Body of the request"),
      Flag.optional
    ),
    include: switchFlag("include", "Print the status and the headers too")
  },
  Effect.fnUntraced(function* ({ data, include, method, path, query }) {
    if (Option.isSome(data) && bodiless.has(method)) {
      return yield* new UsageFault({ message: `${method} takes no body.`, hint: "Leave out -d, or use POST." })
    }
    const body = Option.isSome(data) ? yield* Effect.mapError(bodyFrom(data.value), unreadable(data.value)) : undefined
    const { failure, reply } = yield* (yield* RawApi).exchange({ method, path, query, body })
    const redact = yield* redaction
    const { data: print, stdout } = yield* Output
    // A service may repeat the address of the request, and the API key is in it.
    const text = redact(shown(reply.body, yield* OutputFormat, stdout.isTerminal))
    if (include) yield* print(redact(escapeControlsInLines(head(reply))))
    yield* print(text === "" || text.endsWith("\n") ? text : `${text}\n`)
    if (failure !== null) return yield* failure
  })
).pipe(Command.withDescription("Send any request to the service"), Command.provide(client))
