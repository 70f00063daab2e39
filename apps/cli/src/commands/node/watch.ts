/**
 * `berth node watch`: shows nodes as they change, as a live table on a terminal and otherwise as one record per change.
 */
import { CallsEnd } from "@berthkit/core/client/call/Deadline"
import type { Listed } from "@berthkit/core/client/listing/Listed"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { Node } from "@berthkit/core/domain/Node"
import { escapeControls } from "@berthkit/terminal/escapeControls"
import { Clock, DateTime, Effect, Result, Stream, Terminal } from "effect"
import { command } from "../command.ts"
import { argumentsFrom } from "../../commandLine/Parameter.ts"
import { NameChanged, type UsageFault } from "../../failure/CliFailure.ts"
import { changesBetween, fitting, type Reading } from "../../nodes/changes.ts"
import { concurrency, withListed } from "../../nodes/allNodes.ts"
import { type Found, type Resolution, resolveNodes } from "../../nodes/resolve.ts"
import { looking, nodeReference } from "../../nodes/Target.ts"
import { cut, rowsOf } from "../../output/cells.ts"
import { elapsed, nodeCount } from "../../output/format.ts"
import { Output, printNote } from "../../output/Output.ts"
import { OutputFormat, OutputOptions } from "../../output/OutputOptions.ts"
import { printNext } from "../../output/print.ts"
import { selectFields, sorted } from "../../output/Selection.ts"
import { table } from "../../output/table.ts"
import { nodeRecord } from "../../records/node.ts"
import { nodeChangeRecord } from "../../records/nodeChange.ts"
import { intervalFlag, pauseMillisOf } from "../../settings/interval.ts"
import { client } from "../../settings/client.ts"

/** At most this many nodes are read one by one; more are read from the list. */
const maxSingly = 8

/** The height if the terminal does not report one. */
const fallbackRows = 24

const flags = {
  nodes: argumentsFrom(0, "NODE", nodeReference, "Id, name, or pattern; default all"),
  interval: intervalFlag("Time between two reads; default 5s")
}

const byId = (nodes: ReadonlyArray<Node>): Reading => new Map(nodes.map((node) => [node.id, node]))

/** The nodes that the arguments name, and how each was found. */
type Named = ReadonlyMap<Node["id"], Found>

/** Fails if a node was found by a name that it no longer has. */
const ensureNamed = (named: Named, nodes: Reading) =>
  Effect.as(
    Effect.forEach(nodes.values(), ({ id, name }) => {
      const { given, isNamed } = named.get(id)!
      return isNamed(name) ? Effect.void : Effect.fail(new NameChanged({ given, id, has: name }))
    }),
    nodes
  )

/** Reads nodes one by one, and leaves out those that do not exist. `known` has fields that the replies may not have. */
const readSingly = Effect.fnUntraced(function* (known: Iterable<readonly [Node["id"], Node | null]>) {
  const nodes = yield* Nodes
  const found = yield* Effect.forEach(
    known,
    ([id, before]) =>
      nodes.get(id, { lane: "wait" }).pipe(
        Effect.map((node) => [before === null ? node : withListed(node, before)]),
        Effect.catchReason("BerthError", "NodeNotFound", () => Effect.succeed([]))
      ),
    { concurrency }
  )
  return found.flat()
})

/**
 * Reads the watched nodes: the named ones, or all. A deleted node is left out. If the list may be incomplete, the nodes of the previous
 * reading are read one by one. Fails if a node was renamed.
 */
const read = Effect.fnUntraced(function* (named: Named | undefined, before: Reading | undefined) {
  if (named !== undefined && named.size <= maxSingly) {
    const known = Array.from(named, ([id, { node }]) => [id, node] as const)
    return yield* ensureNamed(named, byId(yield* readSingly(known)))
  }
  const nodes = yield* Nodes
  let isWhole = true
  const onEnd = ({ readToEnd }: Listed) => Effect.sync(() => void (isWhole = readToEnd !== false))
  const listed = byId(yield* Stream.runCollect(nodes.list({ lane: "wait", exact: false, onEnd })))
  const unlisted = isWhole ? [] : Array.from(before ?? []).filter(([id]) => !listed.has(id))
  const found = [...listed.values(), ...(yield* readSingly(unlisted))]
  return named === undefined ? byId(found) : yield* ensureNamed(named, byId(found.filter(({ id }) => named.has(id))))
})

const namedBy = ({ nodes }: Resolution) =>
  Effect.map(
    Effect.forEach(nodes, (node) => Effect.fromResult(Result.mapError(node, ({ failure }) => failure))),
    (nodes): Named => new Map(nodes.map((found) => [found.id, found]))
  )

/** The result of an attempt to read, as it is shown. */
interface Shown {
  /** The latest reading, and the one before it. */
  readonly after: Reading
  readonly before: Reading | undefined
  /** Why the attempt failed; `after` is then an earlier reading. */
  readonly failure: string | undefined
  readonly now: number
  /** Time until the next attempt. */
  readonly pauseMillis: number
}

type Show<R> = (shown: Shown) => Effect.Effect<void, UsageFault, R>

/** Repaints the table over the previous one. */
const screen = Effect.gen(function* () {
  const { data, stdout } = yield* Output
  const { columns, header, sort } = yield* OutputOptions
  const terminal = yield* Terminal.Terminal
  const known = nodeRecord.fields([])
  const fields =
    columns.length === 0
      ? known.filter(({ cardOnly }) => !cardOnly)
      : yield* Effect.fromResult(selectFields(known, columns))
  let painted = ""
  const show: Show<never> = ({ after, failure, now, pauseMillis }) =>
    Effect.gen(function* () {
      const rows = (yield* terminal.rows) || fallbackRows
      const all = yield* Effect.fromResult(sorted(nodeRecord, Array.from(after.values()), sort))
      const nodes = fitting(all, Math.max(1, rows - 4))
      const { colour, columns: available } = stdout
      const { text } = table(fields, nodes, { available, colour, header, nowMillis: now })
      const more = all.length > nodes.length ? `… and ${all.length - nodes.length} more.\n` : ""
      const at = DateTime.formatIso(DateTime.makeUnsafe(now)).slice(11, 19)
      const status =
        failure ?? `${nodeCount(all.length)} at ${at} UTC, read every ${elapsed(pauseMillis)}. Ctrl-C ends.`
      // Cut the line, because a wrapped line would take two rows of the screen.
      const page = `${text}${more}${cut(escapeControls(status), available)}\n`
      // If the terminal has become narrower, it has wrapped the lines that it shows.
      const erase = painted === "" ? "" : `\u001b[${rowsOf(painted, available) - 1}A\u001b[J`
      painted = page
      yield* data(erase + page)
    })
  return show
})

/** Prints each change as a record, with column titles before the first one. */
const changes = Effect.gen(function* () {
  const print = yield* printNext(nodeChangeRecord)
  const show: Show<Output> = ({ after, before, now }) =>
    print(before === undefined ? [] : changesBetween(before, after, DateTime.makeUnsafe(now)))
  return show
})

export const watch = command(
  flags,
  Effect.fnUntraced(function* ({ interval, nodes: given }) {
    const { readerGone, stdout } = yield* Output
    const { query } = yield* OutputOptions
    const isScreen = stdout.animate && (yield* OutputFormat) === "table" && query === undefined
    const show: Show<Output> = yield* isScreen ? screen : changes
    const named = given.length === 0 ? undefined : yield* namedBy(yield* resolveNodes(given, looking))
    let before: Reading | undefined
    let failing: string | undefined
    while (!(yield* readerGone)) {
      // A watch does not end by itself, so the deadline applies to each reading.
      const result = yield* Effect.result(Effect.provideService(read(named, before), CallsEnd, undefined))
      const failed = Result.isFailure(result) ? result.failure : undefined
      // Temporary failures do not end a watch, because the next reading may succeed.
      if (failed?._tag === "NameChanged" || failed?.retryable === false) return yield* failed
      const failure = failed && `${failed.message} Reading again.`
      // The live table shows the failure in its last line, because a note below the table would have to be erased too.
      const isNoted = !isScreen || before === undefined
      if (failure !== undefined && failed?.reason.exit !== failing && isNoted) yield* printNote(failure)
      failing = failed?.reason.exit
      const now = yield* Clock.currentTimeMillis
      const after = Result.isSuccess(result) ? result.success : before
      const size = after?.size ?? 0
      const pauseMillis = pauseMillisOf(interval, size)
      if (after !== undefined) yield* show({ after, before, failure, now, pauseMillis })
      before = after
      if (named !== undefined && Result.isSuccess(result) && size === 0) return
      yield* Effect.sleep(pauseMillis)
    }
  }),
  client
)
