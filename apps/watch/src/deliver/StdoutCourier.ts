/**
 * Delivers to stdout: one event per line, in the order in which they were read, each batch taken by the system before the next. A
 * process that is killed in between writes the batch again.
 */
import { Effect } from "effect"
import { makeSignal, waitUntil } from "../store/Signal.ts"
import type { Delivery } from "../store/deliveries.ts"
import { Store } from "../store/Store.ts"
import { type Courier, receiverUp, whileItMayPass } from "./Courier.ts"
import { Stdout } from "./Stdout.ts"

const maxAtOnce = 500

/** With so many lines unwritten the sink reads no further. */
const maxLeft = 10_000

export const makeStdoutCourier = Effect.fnUntraced(function* (sink: string) {
  const store = yield* Store
  const { write } = yield* Stdout
  const turned = makeSignal()
  let left: Array<Delivery> = []

  const writeBatch = Effect.gen(function* () {
    const batch = left.slice(0, maxAtOnce)
    const bodies = yield* whileItMayPass(store.bodiesOf(sink, batch))
    yield* write(bodies.map((body) => (body === null ? "" : `${body}\n`)).join(""))
    const ends = batch.map((delivery) => ({ _tag: "Delivered", delivery }) as const)
    yield* whileItMayPass(store.record(sink, ends, null))
    const written = new Set(batch)
    left = left.filter((delivery) => !written.has(delivery))
    yield* turned.notify
  })

  const until = (condition: () => boolean) => waitUntil(turned.wait, Effect.sync(condition))

  const hasRoom = () => left.length < maxLeft

  const add = (deliveries: ReadonlyArray<Delivery>) => {
    left.push(...deliveries)
    turned.notifyUnsafe()
  }

  const courier: Courier = {
    run: Effect.forever(Effect.suspend(() => (left.length === 0 ? until(() => left.length > 0) : writeBatch))),
    take: add,
    resume: (_, deliveries) => add(deliveries),
    // A batch that is being written is: it is no more of those that are left.
    forget: (account) => void (left = left.filter((delivery) => delivery.account !== account)),
    heldOf: () => null,
    hasRoom,
    room: until(hasRoom),
    idle: until(() => left.length === 0),
    receiver: () => receiverUp
  }
  return courier
})
