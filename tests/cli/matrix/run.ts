/**
 * Runs the rows against the service under test, all formats of a row before the next row. Each format has its own nodes, profiles and
 * files.
 */
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { tree } from "@berthkit/cli/commands"
import { verbsOf } from "@berthkit/cli/commandTree"
import { TestServer } from "@berthkit/server/testing"
import type { Ended } from "@berthkit/testing/Program"
import { Context, Effect, Fiber, Layer, Schedule } from "effect"
import { inDialect } from "../../account.ts"
import { json, type RunOptions, settings } from "../berth.ts"
import { invoke } from "../invoke.ts"
import { checkCell, type Places, type Valid, validator } from "./check.ts"
import { fleetArgs } from "./fleetFile.ts"
import { type Format, formats, type Row } from "./rows.ts"

/** How many processes run at a time. */
const concurrency = 3

/** A profile in a config folder. */
const spare = (baseUrl: string) =>
  JSON.stringify({ version: 1, current: "spare", profiles: { spare: { baseUrl, apiKey: "k", accessToken: "t" } } })

/** The environment of each format: its own folders, and a stub of ssh. */
const environments = Effect.gen(function* () {
  const account = yield* settings
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "berth-matrix-"))),
    (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
  )
  const ssh = join(folder, "ssh")
  yield* Effect.promise(() => writeFile(ssh, '#!/bin/sh\necho "$@"\n'))
  yield* Effect.promise(() => chmod(ssh, 0o755))
  const environmentOf = Effect.fnUntraced(function* (format: Format) {
    const config = join(folder, format, "config")
    yield* Effect.promise(() => mkdir(join(config, "berth"), { recursive: true, mode: 0o700 }))
    yield* Effect.promise(() =>
      writeFile(join(config, "berth", "profiles.json"), spare(account.BERTH_BASE_URL), { mode: 0o600 })
    )
    return {
      ...account,
      PATH: `${folder}${delimiter}${process.env["PATH"]}`,
      XDG_CONFIG_HOME: config,
      XDG_STATE_HOME: join(folder, format, "state"),
      XDG_CACHE_HOME: join(folder, format, "cache")
    }
  })
  return new Map(
    yield* Effect.forEach(formats, (format) => Effect.map(environmentOf(format), (env) => [format, env] as const))
  )
})

/** The checks of each command's data, by the command's path, and the check of errors. */
const readSchemas = Effect.gen(function* () {
  const { commands, error } = json<{ readonly commands: Record<string, object | null>; readonly error: object }>(
    yield* invoke(["schema"])
  )
  const schemas: ReadonlyMap<string, Valid> = new Map(
    Object.entries(commands).flatMap(([command, schema]) => (schema === null ? [] : [[command, validator(schema)]]))
  )
  return { schemas, error: validator(error) }
})

/** What all rows of a suite share: the schemas, and an environment for each format. */
export class Shared extends Context.Service<
  Shared,
  {
    readonly environmentOf: (format: Format) => Record<string, string>
    /** The schemas by the command's path. */
    readonly schemas: ReadonlyMap<string, Valid>
    readonly error: Valid
  }
>()("@berthkit/tests/cli/matrix/Shared") {
  static readonly layer = Layer.effect(
    Shared,
    Effect.gen(function* () {
      const made = yield* environments
      return { environmentOf: (format) => made.get(format)!, ...(yield* readSchemas) }
    })
  ).pipe(Layer.provideMerge(TestServer.layer(inDialect({ scenario: "small", rateLimit: { limit: 100_000 } }))))
}

/** Runs a command and returns its output. */
export type Runner<R> = (
  args: ReadonlyArray<string>,
  options: { readonly env: Record<string, string>; readonly format: Format } & Pick<RunOptions, "input">
) => Effect.Effect<Ended, never, R>

/** The node and the profile of a format. */
const ownOf = (format: Format): string => `own-${format}`

/** The arguments of a row, with the fleet file of its environment if it needs one. */
export const argsIn = (
  row: Row,
  own: string,
  { XDG_STATE_HOME = "" }: Record<string, string>
): ReadonlyArray<string> => [...row.args(own), ...fleetArgs(row, join(XDG_STATE_HOME, "..", "fleets"), own)]

/** Waits until each of these nodes was read this many more times. */
const untilRead = Effect.fnUntraced(function* (ids: ReadonlyArray<number>, times: number) {
  const { journal } = yield* TestServer
  const counts = Effect.map(journal, (entries) =>
    ids.map((id) => entries.filter(({ method, path }) => method === "GET" && path.endsWith(`/nodes/${id}/`)).length)
  )
  const before = yield* counts
  yield* Effect.repeat(counts, {
    until: (now) => now.every((count, index) => count >= before[index]! + times),
    schedule: Schedule.spaced("100 millis")
  })
})

/** Changes the watched nodes until they are gone and the watches end. */
const events = Effect.fnUntraced(function* (asked: ReadonlyArray<Format>) {
  const { advance } = yield* TestServer
  const env = yield* settings
  const listed = json<ReadonlyArray<{ readonly id: number; readonly name: string }>>(
    yield* invoke(["node", "list", "-o", "json"], { env })
  )
  const ids = asked.map((format) => listed.find(({ name }) => name === ownOf(format))!.id)
  // Each node is read once to find it, and then by the watch.
  yield* untilRead(ids, 3)
  yield* advance("1 minute")
  yield* untilRead(ids, 2)
  yield* invoke(["node", "delete", ...ids.map(String), "--yes"], { env })
  yield* untilRead(ids, 2)
  yield* advance("1 minute")
})

/** Lets time pass, so that the node of a `berth run` starts. */
const provisioning = Effect.gen(function* () {
  const { advance } = yield* TestServer
  return yield* Effect.forever(Effect.andThen(Effect.sleep("500 millis"), advance("20 seconds")))
})

/** How the rows run. */
export interface Suite<R> {
  readonly places: Places
  readonly run: Runner<R>
  /** The formats; default all. */
  readonly asked?: ReadonlyArray<Format>
}

/** Runs a row in its formats, and checks each. */
export const runRow = Effect.fnUntraced(function* <R>(row: Row, { asked = formats, places, run }: Suite<R>) {
  const { environmentOf, schemas } = yield* Shared
  const isEndless = row.kind === "changes"
  const cells = Effect.forEach(
    asked,
    (format) =>
      run([...row.command.split(" "), "-o", format, ...argsIn(row, ownOf(format), environmentOf(format))], {
        env: environmentOf(format),
        format,
        ...(row.input !== undefined && { input: row.input })
      }),
    { concurrency: isEndless ? "unbounded" : concurrency }
  )
  const happening = isEndless ? yield* Effect.forkChild(events(asked)) : undefined
  const passing = row.command === "run" ? yield* Effect.forkChild(provisioning) : undefined
  const ended = yield* cells
  if (happening) yield* Fiber.join(happening)
  if (passing) yield* Fiber.interrupt(passing)
  const valid = schemas.get(row.command)
  for (const [index, format] of asked.entries()) checkCell(row, format, places, ended[index]!, valid)
})

/**
 * Other tests cover the server, the command that needs a person at a terminal, and those that need a database: `mcp/`,
 * `machine/approve.machine.ts` and `sharedState.test.ts`.
 */
const apart: ReadonlySet<string> = new Set(["mcp", "approve", "state migrate", "state accept"])

/** Records that need a daemon: `tests/watch/cost.machine.ts` prints them. */
const ofDaemon: ReadonlySet<string> = new Set(["spending[]"])

/** The commands that the rows leave out, and the records that no row prints. */
export const missingOf = (rows: ReadonlyArray<Row>) =>
  verbsOf(tree).flatMap(({ path, verb }) => {
    const command = path.join(" ")
    if (apart.has(command)) return []
    const own = rows.filter((row) => row.command === command)
    return own.length === 0
      ? [command]
      : verb.prints
          .filter((record) => !ofDaemon.has(record) && own.every(({ prints }) => prints !== record))
          .map((record) => `${command}: ${record}`)
  })
