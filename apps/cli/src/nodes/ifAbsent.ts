/**
 * Finds the nodes for `--if-absent`. For each name, there is no node, the wanted node, or a different node. While an earlier create may
 * still make a node of the name, the command fails.
 */
import { instantNow } from "@berthkit/core/client/instantNow"
import {
  candidatesOf,
  drawnKeyPrefix,
  type Instant,
  type Intent,
  IntentStore,
  isSent
} from "@berthkit/core/client/creation/IntentStore"
import {
  isOtherSystem,
  isQuietAtLast,
  isSpelling,
  isTimed,
  mayShowImage,
  mayShowPlan,
  plain,
  spellingGroup,
  systemOf
} from "@berthkit/core/client/creation/Ownership"
import type { Image } from "@berthkit/core/domain/Image"
import type { Node } from "@berthkit/core/domain/Node"
import type { NodeSpec } from "@berthkit/core/domain/NodeSpec"
import { label } from "@berthkit/core/domain/NodeStatus"
import { DateTime, Effect, Predicate } from "effect"
import { CreateUnknown, ListNotWhole, NameAmbiguous, NameMayBeCut, NodeDiffers } from "../failure/CliFailure.ts"
import { readImages, underAskedPlan } from "./askedPlan.ts"
import { byName } from "./byName.ts"
import { wholeNode } from "./resolve.ts"

/** The longest wait until the outcome of another machine's create is known, in words. */
export const waitElsewhereText = (isOfService: boolean): string => (isOfService ? "eleven minutes" : "26 minutes")

/** The longest wait until the outcome of a create is known, in words. */
export const waitText = (sentAt: Instant, now: Instant): string => waitElsewhereText(isTimed(sentAt, now))

/**
 * The difference between a node and the wanted one. An image counts as the wanted image if the service does not report
 * it, or if the service reports a name and the user gave a number (or the other way round), because a name and a number
 * cannot be compared.
 */
const differenceOf = (node: Node, { image, plan }: NodeSpec) => {
  if (node.plan === null || !mayShowPlan(node.plan, plan))
    return { field: "plan", has: node.plan, wanted: plan } as const
  const wanted = String(image)
  if (!mayShowImage(node.image, wanted)) {
    return { field: "image", has: node.image, wanted } as const
  }
  return undefined
}

/** The difference between a node and the wanted image, if the node has another operating system. */
const systemDifference = (stated: Record<string, unknown>, { image }: NodeSpec, images: ReadonlyArray<Image>) =>
  isOtherSystem(stated, image, images)
    ? ({
        field: "image",
        has: [stated["name"], stated["version"]].filter(Predicate.isString).join(" "),
        wanted: String(image)
      } as const)
    : undefined

/**
 * Fails if this machine has sent a create of one of the names whose outcome is unknown and that the service may still
 * process. Ignores creates with a key in `ownKeys`, because repeating them finds their outcome, and creates that the
 * rate limit rejected.
 */
const ensureNoneOpen = Effect.fnUntraced(function* (names: ReadonlyArray<string>, ownKeys: ReadonlySet<string>) {
  const store = yield* IntentStore
  if (store === undefined || names.length === 0) return
  const wanted = new Set(names.map(plain))
  // If the store cannot be read, the command fails later, when it needs the store for a create.
  const intents = yield* Effect.orElseSucceed(store.unsettled, (): ReadonlyArray<Intent> => [])
  const now = yield* instantNow
  const open = intents
    .filter(isSent)
    .find(
      ({ fate, key, name, nodeId, sentAt }) =>
        nodeId === null &&
        fate !== "refused" &&
        wanted.has(plain(name)) &&
        !ownKeys.has(key) &&
        !isQuietAtLast(sentAt, now)
    )
  if (open === undefined) return
  const { key, name, sentAt } = open
  return yield* new CreateUnknown({
    name,
    sentAt: DateTime.formatIso(DateTime.makeUnsafe(sentAt.wallMillis)),
    key: key.startsWith(drawnKeyPrefix) ? undefined : key,
    candidates: candidatesOf(open),
    wait: waitText(sentAt, now)
  })
})

/** A node to create if it does not exist. */
interface Asked {
  readonly spec: NodeSpec
  /** The idempotency key of its create; undefined if it has none. */
  readonly key: string | undefined
}

/**
 * Finds existing nodes by name in the whole list, including names as the service may spell them. A node that is being
 * deleted counts as absent. Fails if the service may have cut a node's name, because nobody knows whether that node is
 * the wanted one. Also fails if an earlier create may still make an absent node.
 */
export const existingNodes = Effect.fnUntraced(function* (asked: ReadonlyArray<Asked>) {
  const specs = asked.map(({ spec }) => spec)
  const groups = new Set(specs.map(({ name }) => spellingGroup(name)))
  const isAsked = (name: string) => groups.has(spellingGroup(name))
  const { isWhole, nodes } = yield* byName(isAsked, { change: true, isPartialAllowed: true })
  const seen = nodes.filter(({ node }) => node.status !== "terminate")
  const existing = new Map<string, Node>()
  for (const spec of specs) {
    const { name } = spec
    const exact = seen.filter(({ node }) => node.name === name)
    const [first, ...more] = exact.length > 0 ? exact : seen.filter(({ node }) => plain(node.name) === plain(name))
    if (first === undefined) {
      const cut = seen.find(({ node }) => isSpelling(node.name, name))
      if (cut === undefined) continue
      return yield* new NameMayBeCut({ name, id: cut.node.id, has: cut.node.name })
    }
    if (more.length > 0) {
      const candidates = [first, ...more].map(({ node }) => ({ id: node.id, status: label(node.status) }))
      return yield* new NameAmbiguous({ name, candidates })
    }
    const { isRead, node: seenAs } = first
    const isNamed = (other: string) => other === seenAs.name
    const node = yield* wholeNode({ given: name, id: seenAs.id, node: seenAs, isRead, isNamed })
    const system = systemOf(node)
    const difference =
      differenceOf(yield* underAskedPlan(node, spec.plan), spec) ??
      (system === undefined ? undefined : systemDifference(system, spec, yield* readImages))
    if (difference !== undefined) return yield* new NodeDiffers({ name, id: node.id, ...difference })
    existing.set(name, node)
  }
  const absent = specs.flatMap(({ name }) => (existing.has(name) ? [] : [name]))
  // To find a node, any part of the list suffices. Only the whole list shows that no node has the name.
  if (!isWhole && absent.length > 0) return yield* new ListNotWhole({ ifAbsent: true })
  yield* ensureNoneOpen(absent, new Set(asked.flatMap(({ key }) => key ?? [])))
  return existing as ReadonlyMap<string, Node>
})
