/**
 * `berth node list`: lists the nodes of the account, optionally filtered.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import { parseJson } from "@berthkit/core/api/parseJson"
import { pageSize } from "@berthkit/core/api/Routes"
import type { Node } from "@berthkit/core/domain/Node"
import { KnownStatus } from "@berthkit/core/domain/NodeStatus"
import { Effect, Predicate, Stream } from "effect"
import { command } from "../command.ts"
import { flag, someOf, text, type Values, wholeNumber } from "../../commandLine/Parameter.ts"
import { UsageFault } from "../../failure/CliFailure.ts"
import { shownNodes } from "../../nodes/allNodes.ts"
import { planReader } from "../../nodes/askedPlan.ts"
import { nameMatcher } from "../../nodes/Target.ts"
import { printNote } from "../../output/Output.ts"
import { OutputOptions } from "../../output/OutputOptions.ts"
import { printStream } from "../../output/print.ts"
import { limitFlag, printLimited } from "../../output/printLimited.ts"
import { nodeRecord } from "../../records/node.ts"
import { client } from "../../settings/client.ts"

const flags = {
  status: flag("status", someOf(KnownStatus.literals, "STATUS,…"), "Only nodes of one of these statuses"),
  name: flag("name", text("GLOB"), "Only nodes whose name matches, such as 'web-*'"),
  series: flag("series", text("SERIES"), "Only nodes on a plan of this series"),
  plan: flag("plan", text("PLAN"), "Only nodes on this plan"),
  limit: limitFlag("nodes"),
  page: flag("page", wholeNumber(1), "Only this page, from 1"),
  perPage: flag("per-page", wholeNumber(1, pageSize.maximum), `Nodes on the page, 1 to ${pageSize.maximum}`)
}

/**
 * Whether the plan's slug belongs to this series: it begins with the letter of the series, and may end with its name (interface.md §2.2,
 * §2.6).
 */
const ofSeries = (node: Node, series: string): boolean => {
  const parts = node.plan?.toLowerCase().split(/[-.]/) ?? []
  return parts[0] === series || (parts.length > 4 && parts.at(-1) === series)
}

const filterOf = ({
  name,
  plan,
  series,
  status
}: Pick<Values<typeof flags>, "name" | "plan" | "series" | "status">) => {
  const isNamed = name === undefined ? () => true : nameMatcher(name)
  const passesOthers = (node: Node): boolean =>
    (status === undefined || status.some((each) => each === node.status)) &&
    isNamed(node.name) &&
    (series === undefined || ofSeries(node, series.toLowerCase()))
  return Effect.map(Effect.cached(planReader), (onPlan) => (node: Node) => {
    if (!passesOthers(node)) return Effect.succeed(false)
    if (plan === undefined || node.plan === plan) return Effect.succeed(true)
    if (node.plan === null) return Effect.succeed(false)
    const shown = node.plan
    return Effect.map(onPlan, (isSame) => isSame(plan, shown) || isSame(shown, plan))
  })
}

/** The number of nodes in the account, if a page reports it. Undefined if the reported number is only the size of the page (A7). */
const totalIn = (body: string): number | undefined => {
  const page = parseJson(body)
  if (!Predicate.isObject(page)) return undefined
  const { data, total_count: total } = page
  return Array.isArray(data) && Number.isSafeInteger(total) && Number(total) > data.length ? Number(total) : undefined
}

/**
 * Returns the first matching nodes. Beyond the limit, reads on only after a page that is not full, because that page
 * may be the last one and show the total.
 */
const cutAt = (limit: number) => {
  let page = { number: 0, length: 0 }
  let passedAt = 0
  let matched = 0
  let isWhole = true
  let total: number | undefined
  const isEnough = () => {
    matched++
    if (matched <= limit) return false
    if (passedAt === 0) passedAt = page.number
    isWhole = page.length < pageSize.maximum && page.number === passedAt
    return !isWhole
  }
  return {
    nodes: <E, R>(passes: (node: Node) => Effect.Effect<boolean, E, R>) =>
      shownNodes({ onReply: ({ body }) => Effect.sync(() => void (total ??= totalIn(body))) }).pipe(
        Stream.mapArray((nodes) => {
          page = { number: page.number + 1, length: nodes.length }
          return nodes
        }),
        Stream.filterEffect(passes),
        Stream.takeUntil(isEnough),
        Stream.zipWithIndex,
        Stream.filter(([, index]) => index < limit),
        Stream.map(([node]) => node)
      ),
    read: () => ({ isWhole, matched, total })
  }
}

export const list = command(
  flags,
  Effect.fnUntraced(function* ({ limit, page, perPage, ...filters }) {
    const onePage = page !== undefined || perPage !== undefined
    if (onePage && limit !== undefined) {
      return yield* new UsageFault({
        message: "--limit and --page exclude each other.",
        hint: "Leave one of them out; --per-page sets the size of the page."
      })
    }
    const passes = yield* filterOf(filters)
    const filtered = Object.values(filters).some((filter) => filter !== undefined)
    const none = `no nodes${filtered ? " that match" : ""}${onePage ? " on this page" : ""}`
    const record = { ...nodeRecord, none }

    if (onePage) {
      const number = page ?? 1
      const size = perPage ?? pageSize.maximum
      const found = yield* Nodes.use((nodes) => nodes.listPage({ page: number, perPage: size }))
      yield* printStream(record, Stream.filterEffect(Stream.fromIterable(found), passes))
      if (found.length === size) yield* printNote(`There may be more: --page ${number + 1}.`)
      return
    }

    const matching = shownNodes().pipe(Stream.filterEffect(passes))
    if (limit === undefined) return yield* printStream(record, matching)

    const { sort } = yield* OutputOptions
    if (sort.length > 0) {
      // The first nodes in this order may be anywhere in the list.
      return yield* printLimited(record, yield* Stream.runCollect(matching), limit)
    }

    const cut = cutAt(limit)
    yield* printStream(record, cut.nodes(passes))
    const { isWhole, matched, total } = cut.read()
    if (matched <= limit) return
    const known = isWhole ? matched : filtered ? undefined : total
    yield* printNote(known === undefined ? `Stopped at --limit ${limit}; there are more.` : `${limit} of ${known}.`)
  }),
  client
)
