/**
 * Finds the nodes that `--if-absent` asks about: of each name none, the one that is wanted, or one that is something else. A name of which
 * an earlier create may still make a node is not absent.
 */
import { drawnKeyPrefix, type Intent, IntentStore, isSent } from "@berthkit/core/client/creation/IntentStore"
import {
  isOtherSystem,
  isQuiet,
  isSpelling,
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
import { CreateUnknown, NameAmbiguous, NameMayBeCut, NodeDiffers } from "../failure/CliFailure.ts"
import { readImages, underAskedPlan } from "./askedPlan.ts"
import { byName } from "./byName.ts"
import { candidatesOf, instantNow } from "./nodeOfCreate.ts"
import { wholeNode } from "./resolve.ts"

/**
 * In what a node differs from the wanted one. An image that the service does not state is taken for the wanted one, and so is one that
 * is stated by its name where its number is wanted, or the other way round: they cannot be compared.
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

/** In what the system of a node differs from that of the wanted image. */
const systemDifference = (stated: Record<string, unknown>, { image }: NodeSpec, images: ReadonlyArray<Image>) =>
  isOtherSystem(stated, image, images)
    ? ({
        field: "image",
        has: [stated["name"], stated["version"]].filter(Predicate.isString).join(" "),
        wanted: String(image)
      } as const)
    : undefined

/**
 * Fails if this machine has sent a create of one of the names and does not know what came of it, as long as the service may still process
 * it. One under a key of `ownKeys` settles itself as it is asked for again; one that the service refused for its rate limit is not waited for.
 */
const ensureNoneOpen = Effect.fnUntraced(function* (names: ReadonlyArray<string>, ownKeys: ReadonlySet<string>) {
  const store = yield* IntentStore
  if (store === undefined || names.length === 0) return
  const wanted = new Set(names.map(plain))
  // A store that cannot be read fails later, where it is needed.
  const intents = yield* Effect.orElseSucceed(store.unsettled, (): ReadonlyArray<Intent> => [])
  const now = yield* instantNow
  const open = intents
    .filter(isSent)
    .find(
      ({ fate, key, name, nodeId, sentAt }) =>
        nodeId === null && fate !== "refused" && wanted.has(plain(name)) && !ownKeys.has(key) && !isQuiet(sentAt, now)
    )
  if (open === undefined) return
  const { key, name, sentAt } = open
  return yield* new CreateUnknown({
    name,
    sentAt: DateTime.formatIso(DateTime.makeUnsafe(sentAt.wallMillis)),
    key: key.startsWith(drawnKeyPrefix) ? undefined : key,
    candidates: candidatesOf(open)
  })
})

/** A node that is to be made unless it exists. */
interface Asked {
  readonly spec: NodeSpec
  /** The key of its create; undefined if it has none. */
  readonly key: string | undefined
}

/**
 * The nodes that already exist, by their names in the whole list, including the names as the service may spell them. A node that is being
 * deleted counts as absent. Fails if a name may have been cut: such a node is neither certainly the wanted one nor certainly another. Fails,
 * too, if an earlier create of an absent one may still make it.
 */
export const existingNodes = Effect.fnUntraced(function* (asked: ReadonlyArray<Asked>) {
  const specs = asked.map(({ spec }) => spec)
  const groups = new Set(specs.map(({ name }) => spellingGroup(name)))
  const { nodes } = yield* byName((name) => groups.has(spellingGroup(name)), { change: true })
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
  yield* ensureNoneOpen(absent, new Set(asked.flatMap(({ key }) => key ?? [])))
  return existing as ReadonlyMap<string, Node>
})
