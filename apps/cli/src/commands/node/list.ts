/**
 * `berth node list`: every node of the account, or those that pass the filters.
 */
import { Nodes } from "@berth/core/client/Nodes"
import { pageSize } from "@berth/core/api/Routes"
import type { Node } from "@berth/core/domain/Node"
import { KnownStatus } from "@berth/core/domain/NodeStatus"
import { Effect, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { client } from "../../config/client.ts"
import { countFlag } from "../../config/wholeNumberFlag.ts"
import { UsageFault } from "../../failure/CliFailure.ts"
import { say } from "../../output/Output.ts"
import { printStream } from "../../output/print.ts"
import { nodeView } from "../../output/nodeView.ts"
import { nameMatcher } from "../../target/Target.ts"

const flags = {
  status: Flag.Literals("status", KnownStatus.literals).pipe(
    Flag.withMetavar("STATUS"),
    Flag.withDescription("Only nodes of this status"),
    Flag.optional
  ),
  name: Flag.String("name").pipe(
    Flag.withMetavar("GLOB"),
    Flag.withDescription("Only nodes of this name, such as 'web-*'"),
    Flag.optional
  ),
  series: Flag.String("series").pipe(
    Flag.withMetavar("SERIES"),
    Flag.withDescription("Only nodes on a plan of this series"),
    Flag.optional
  ),
  plan: Flag.String("plan").pipe(
    Flag.withMetavar("PLAN"),
    Flag.withDescription("Only nodes on this plan"),
    Flag.optional
  ),
  limit: countFlag("limit").pipe(Flag.withDescription("At most so many nodes"), Flag.optional),
  page: countFlag("page").pipe(Flag.withDescription("Only this page, from 1"), Flag.optional),
  perPage: countFlag("per-page", pageSize.maximum).pipe(
    Flag.withDescription(`Nodes on the page, 1 to ${pageSize.maximum}`),
    Flag.optional
  )
}

/**
 * Whether the plan says it is of this series: a slug begins with the series' letter, and may end with the name of a
 * series that has one (interface.md §2.2, §2.6).
 */
const ofSeries = (node: Node, series: string): boolean => {
  const parts = node.plan?.toLowerCase().split("-") ?? []
  return parts[0] === series || (parts.length > 4 && parts.at(-1) === series)
}

const filterOf = (wanted: {
  readonly status: Option.Option<KnownStatus>
  readonly name: Option.Option<string>
  readonly series: Option.Option<string>
  readonly plan: Option.Option<string>
}) => {
  const named = Option.map(wanted.name, nameMatcher)
  const series = Option.map(wanted.series, (each) => each.toLowerCase())
  return (node: Node): boolean =>
    Option.match(wanted.status, { onNone: () => true, onSome: (status) => node.status === status }) &&
    Option.match(named, { onNone: () => true, onSome: (matches) => matches(node.name) }) &&
    Option.match(series, { onNone: () => true, onSome: (each) => ofSeries(node, each) }) &&
    Option.match(wanted.plan, { onNone: () => true, onSome: (plan) => node.plan === plan })
}

export const list = Command.make(
  "list",
  flags,
  Effect.fnUntraced(function* ({ limit, page, perPage, ...filters }) {
    const nodes = yield* Nodes
    const onePage = Option.isSome(page) || Option.isSome(perPage)
    if (onePage && Option.isSome(limit)) {
      return yield* new UsageFault({
        message: "--limit and --page exclude each other.",
        hint: "Leave one of them out; --per-page says how many nodes a page has."
      })
    }
    const passes = filterOf(filters)
    const filtered = Object.values(filters).some(Option.isSome)
    const none = `no nodes${filtered ? " that match" : ""}${onePage ? " on this page" : ""}`
    const view = { ...nodeView, none }

    if (onePage) {
      const number = Option.getOrElse(page, () => 1)
      const size = Option.getOrElse(perPage, () => pageSize.maximum)
      const found = yield* nodes.listPage({ page: number, perPage: size })
      yield* printStream(view, Stream.fromIterable(found.filter(passes)))
      if (found.length === size) yield* say(`There may be more: --page ${number + 1}.`)
      return
    }

    // Somebody waits for it: it is no sweep, of which others would go before.
    const wanted = nodes.list({ lane: "interactive" }).pipe(Stream.filter(passes))
    if (Option.isNone(limit)) return yield* printStream(view, wanted)

    // One more than asked for tells whether there are more.
    let more = false
    const limited = wanted.pipe(
      Stream.take(limit.value + 1),
      Stream.zipWithIndex,
      Stream.filter(([, index]) => {
        more ||= index === limit.value
        return index < limit.value
      }),
      Stream.map(([node]) => node)
    )
    yield* printStream(view, limited)
    if (more) yield* say(`Stopped at --limit ${limit.value}; there are more.`)
  })
).pipe(Command.withDescription("List nodes"), Command.provide(client))
