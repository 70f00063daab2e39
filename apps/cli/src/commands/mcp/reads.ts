/**
 * The read-only tools: nodes, plans, images, the account, and a wait for a node. They send GETs with the lowest priority.
 */
import { endingWithin } from "@berthkit/core/client/call/Deadline"
import { Images } from "@berthkit/core/client/Images"
import type { Listed } from "@berthkit/core/client/listing/Listed"
import { Nodes } from "@berthkit/core/client/Nodes"
import type { SavedImage } from "@berthkit/core/domain/Image"
import type { Node } from "@berthkit/core/domain/Node"
import { KnownStatus } from "@berthkit/core/domain/NodeStatus"
import { namesOf, passesSize, type Plan } from "@berthkit/core/domain/Plan"
import { Duration, Effect, Option, Schema, Stream } from "effect"
import { withListedFields } from "../../nodes/allNodes.ts"
import { planReader } from "../../nodes/askedPlan.ts"
import { resolveNode } from "../../nodes/resolve.ts"
import { nameMatcher } from "../../nodes/Target.ts"
import { waitFor } from "../../nodes/waitFor.ts"
import { accountRecord } from "../../records/account.ts"
import { costRecord } from "../../records/cost.ts"
import { imagesOnPlans, imageWithPlansRecord, savedImageRecord, withPlans } from "../../records/image.ts"
import { limitsRecord } from "../../records/limits.ts"
import { nodeRecord } from "../../records/node.ts"
import { type NodeResult, outcomeRecord } from "../../records/outcome.ts"
import { planRecord, plansOf } from "../../records/plan.ts"
import { accountSettings, deadlineSetting } from "../../settings/account.ts"
import { accountOf } from "../auth/status.ts"
import { currentCosts } from "../cost/show.ts"
import { groupings } from "../cost/sum.ts"
import { goals } from "../node/wait.ts"
import { currentLimits } from "../limits/show.ts"
import {
  type Data,
  integer,
  keysOf,
  listOf,
  node as nodeArgument,
  oneOf,
  parts,
  required,
  text,
  toggle,
  tool
} from "./Tool.ts"
import type { Bounds } from "./bounds.ts"

/** The lane (the priority class of a call): calls of this lane go after calls that somebody waits for. */
const lane = "sweep"

/** Time limit of a tool that only reads. */
const readMillis = 20_000

const maxNodes = 200
const maxRows = 100

/** Ends a reading tool after `readMillis`, or after `--deadline` if that is shorter. */
export const within = <A, E, R>(run: Effect.Effect<A, E, R>) =>
  Effect.flatMap(deadlineSetting, (deadline) => {
    const given = Option.match(deadline, { onNone: () => readMillis, onSome: ({ value }) => Duration.toMillis(value) })
    return endingWithin(Duration.millis(Math.min(readMillis, given)))(run)
  })

/** The nodes from `offset` on, and whether there are more. Reads no more pages than needed. */
const nodesFrom = Effect.fnUntraced(function* (passes: (node: Node) => boolean, offset: number, limit: number) {
  const nodes = yield* Nodes
  let end: Listed | undefined
  const onEnd = (listed: Listed) => Effect.sync(() => void (end = listed))
  const found = yield* nodes
    .list({ lane, onEnd })
    .pipe(Stream.filter(passes), Stream.drop(offset), Stream.take(limit + 1), Stream.runCollect)
  const isWhole = end !== undefined && end.readToEnd !== false && end.unreadable.length === 0
  return { found: found.slice(0, limit), more: found.length > limit, isWhole: found.length > limit || isWhole }
})

const listNodes = tool(
  {
    name: "list_nodes",
    description: "Virtual machines. isWhole false: some could not be read.",
    parameters: Schema.Struct({
      name: text("glob, such as web-*"),
      status: oneOf(KnownStatus.literals),
      plan: text(),
      offset: integer(0, 100_000),
      limit: integer(1, maxNodes, "default 50")
    }),
    output: parts({
      nodes: listOf(keysOf(nodeRecord.schema)),
      more: { type: "boolean" },
      isWhole: { type: "boolean" }
    })
  },
  Effect.fnUntraced(function* ({ limit = 50, name, offset = 0, plan, status }) {
    const matches = name === undefined ? () => true : nameMatcher(name)
    const onPlan = plan === undefined ? undefined : yield* planReader
    const passes = (node: Node) =>
      matches(node.name) &&
      (status === undefined || node.status === status) &&
      (plan === undefined || node.plan === plan || (node.plan !== null && onPlan?.(plan, node.plan) === true))
    const { found, ...rest } = yield* nodesFrom(passes, offset, limit)
    return { nodes: found.map(nodeRecord.encode), ...rest }
  }, within)
)

const getNode = tool(
  {
    name: "get_node",
    description: "A node as it is now.",
    parameters: Schema.Struct({ node: required(nodeArgument) }),
    output: keysOf(nodeRecord.schema)
  },
  Effect.fnUntraced(function* ({ node: given }) {
    const node = yield* resolveNode(given, { change: false })
    const [whole = node] = yield* withListedFields([node])
    return nodeRecord.encode(whole) as Data
  }, within)
)

/** The lowest price of a plan per hour, with one image or with any. An unknown price sorts last. */
const priceOf = ({ minPricePerHourInr, prices }: Plan, image: string | undefined): number =>
  (image === undefined
    ? minPricePerHourInr
    : prices.find(({ images }) => images.includes(image))?.minPricePerHourInr) ?? Number.POSITIVE_INFINITY

const listPlans = tool(
  {
    name: "list_plans",
    description: "Sizes, cheapest first. INR, others: foreignPrice.",
    parameters: Schema.Struct({
      minCpu: integer(1),
      minRamGb: integer(1),
      image: text("only plans for it, by its price"),
      series: text(),
      limit: integer(1, maxRows, "default 10")
    }),
    output: parts({ plans: listOf(keysOf(planRecord.schema)), total: { type: "integer" } })
  },
  Effect.fnUntraced(function* ({ image, limit = 10, minCpu, minRamGb: minRam, series }) {
    const images = yield* (yield* Images).list({}, { lane })
    const passes = passesSize({ minCpu, minRam })
    const wanted = plansOf(images).filter(
      (plan) =>
        passes(namesOf(plan), plan) &&
        (image === undefined || plan.images.includes(image)) &&
        (series === undefined || plan.series?.toLowerCase() === series.toLowerCase())
    )
    const sorted = wanted.toSorted((a, b) => {
      const [first, second] = [priceOf(a, image), priceOf(b, image)]
      return first < second ? -1 : first > second ? 1 : 0
    })
    return { plans: sorted.slice(0, limit).map(planRecord.encode), total: sorted.length }
  }, within)
)

const listImages = tool(
  {
    name: "list_images",
    description: "Images of nodes, with their plans.",
    parameters: Schema.Struct({
      os: text(),
      plan: text(),
      saved: toggle,
      limit: integer(1, maxRows, "default 20")
    }),
    output: parts({ images: listOf(keysOf(imageWithPlansRecord.schema)), total: { type: "integer" } })
  },
  Effect.fnUntraced(function* ({ limit = 20, os, plan, saved = false }) {
    const service = yield* Images
    const isWanted = (image: Pick<SavedImage, "os" | "plan">) =>
      (os === undefined || image.os.name.toLowerCase() === os.toLowerCase()) &&
      (plan === undefined || image.plan === plan)
    const own = saved ? (yield* service.saved({ lane })).filter(isWanted) : []
    const listed = saved ? imagesOnPlans(own) : (yield* service.list({}, { lane })).filter(isWanted)
    // A saved disk is not bound to a plan, and is ordered by its template id.
    const disks = own
      .filter((image) => image.plan === null)
      .map((image) => ({ ...Object(savedImageRecord.encode(image)), plans: [], minPricePerHourInr: null }))
    const images = [...withPlans(listed).map(imageWithPlansRecord.encode), ...disks]
    return { images: images.slice(0, limit), total: images.length }
  }, within)
)

const account = ({ allow, maxCommitmentInr, maxCostInr, maxNodes: maxCreated }: Bounds) =>
  tool(
    {
      name: "account",
      description: "Who am I, total costs, rate limit, what may be proposed.",
      parameters: Schema.Struct({ by: oneOf(groupings) }),
      output: parts({
        account: keysOf(accountRecord.schema),
        total: keysOf(costRecord.schema),
        rows: listOf({ type: "object" }),
        limits: keysOf(limitsRecord.schema),
        allowed: { type: "object" }
      })
    },
    Effect.fnUntraced(function* ({ by }) {
      const settings = yield* accountSettings
      const { rows, total } = yield* currentCosts(by ?? "plan")
      return {
        account: accountRecord.encode(accountOf(settings, true)),
        total: costRecord.encode(total),
        rows: by === undefined ? [] : rows.slice(0, maxNodes).map(costRecord.encode),
        limits: limitsRecord.encode(yield* currentLimits),
        allowed: {
          allow,
          maxCostInr: Option.getOrNull(maxCostInr),
          maxCommitmentInr: Option.getOrNull(maxCommitmentInr),
          maxNodes: Option.getOrNull(maxCreated)
        }
      }
    }, within)
  )

/** The default limit of a wait. It is shorter than the minute after which agents' programs give up. */
const waitSeconds = 45
const maxWaitSeconds = 600

/** Milliseconds that are reserved to report how far a wait came. */
const reportMillis = 2000

const wait = tool(
  {
    name: "wait",
    description: "Waits for a status of a node, or its deletion.",
    parameters: Schema.Struct({
      node: required(nodeArgument),
      for: required(oneOf(goals)),
      seconds: integer(1, maxWaitSeconds, "default 45")
    }),
    output: keysOf(outcomeRecord.schema)
  },
  ({ for: goal, node: given, seconds = waitSeconds }) =>
    Effect.gen(function* () {
      const isId = /^\d+$/.test(given)
      const found = yield* resolveNode(given, { change: false }).pipe(
        Effect.map(Option.some),
        Effect.catchReason("BerthError", "NodeNotFound", (_, error) =>
          goal === "deleted" && isId ? Effect.succeedNone : Effect.fail(error)
        )
      )
      const reached = (of: Pick<NodeResult, "id" | "name" | "node">) =>
        outcomeRecord.encode({ ...of, outcome: goal, error: null }) as Data
      if (Option.isNone(found)) {
        return reached({ id: Number(given) as Node["id"], name: null, node: null })
      }
      const node = found.value
      const timeout = Duration.seconds(seconds)
      const quiet = () => Effect.void
      const later = yield* waitFor({ id: node.id, node }, { goal, timeout }, quiet)
      const [whole = node] = yield* withListedFields([later ?? node])
      return reached({ id: node.id, name: node.name, node: whole })
    }).pipe(endingWithin(Duration.millis(seconds * 1000 + reportMillis)))
)

/** All reading tools. */
export const reads = (bounds: Bounds) => [listNodes, getNode, listPlans, listImages, account(bounds), wait] as const
