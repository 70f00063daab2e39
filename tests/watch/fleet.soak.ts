import { TestServer } from "@berthkit/server/testing"
import { seed } from "@berthkit/testing/chance"
import { layer } from "@effect/vitest"
import { Effect, Random } from "effect"
import { inDialect } from "../account.ts"
import { drawFaults, faltering, type Takeover } from "./faltering.ts"

const faults = Number(process.env["FAULTS"] ?? 200)

/** A summary for one kind of fault: how many faults hit a process with accounts, and how long the takeovers took. */
const summary = (fault: Takeover["fault"], takeovers: ReadonlyArray<Takeover>) => {
  const millis = takeovers
    .filter((each) => each.fault === fault && each.accounts > 0)
    .map(({ millis }) => Math.round(millis))
    .toSorted((a, b) => a - b)
  const at = (share: number) => millis[Math.min(millis.length - 1, Math.floor(share * millis.length))]
  return `${fault}: ${millis.length}, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

layer(TestServer.layer(inDialect({ clock: "real" })), { excludeTestServices: true })(
  "three daemons on one store",
  (it) => {
    it.effect(`keep the log of every account whole through ${faults} faults`, () =>
      Effect.gen(function* () {
        const { events, taken, takeovers } = yield* faltering({ accounts: 60, faults: yield* drawFaults(faults) })
        yield* Effect.log(
          `${events} events, ${taken} deliveries taken; ${(["kill", "freeze", "end"] as const).map((fault) => summary(fault, takeovers)).join("; ")}`
        )
      }).pipe(Random.withSeed(seed))
    )
  }
)
