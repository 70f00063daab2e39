/**
 * Reads the values that completions offer from the service, and keeps them. Bounded: a completion is not worth a rate limit.
 */
import { Nodes } from "@berthkit/core/client/Nodes"
import { Plans } from "@berthkit/core/client/Plans"
import { label } from "@berthkit/core/domain/NodeStatus"
import { Clock, Effect, Stream } from "effect"
import { type CachedValues, writeCache } from "../../completion/CompletionCache.ts"
import { pricePerHourText } from "../../records/price.ts"

/** Of a larger account the first nodes are offered. */
const maxNodes = 1000

/** A shell that waits longer feels broken. */
const maxMillis = 3000

/** The values, kept in the file at `path`; those that could not be read are left out. */
export const readValues = Effect.fnUntraced(function* (path: string | undefined) {
  const nodes = Nodes.use((service) => service.list({ lane: "sweep" }).pipe(Stream.take(maxNodes), Stream.runCollect))
  const plans = Plans.use((service) => service.list())
  const [found, offered] = yield* Effect.all([nodes, plans], { concurrency: 2 })
  const images = new Map(offered.flatMap(({ images, plan }) => images.map((image) => [image, plan] as const)))
  const values: CachedValues = {
    writtenMillis: yield* Clock.currentTimeMillis,
    values: {
      nodes: found.map(({ id, name, status }) => ({ value: name, description: `${id}, ${label(status)}` })),
      plans: offered.map((plan) => ({ value: plan.plan, description: pricePerHourText(plan) ?? "" })),
      images: Array.from(images.keys(), (value) => ({ value, description: "" }))
    }
  }
  writeCache(path, values)
  return values
}, Effect.timeout(maxMillis))
