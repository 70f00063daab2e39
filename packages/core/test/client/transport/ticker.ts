/**
 * A process that requests each page of a service over every transport: `ticker.ts URL PAGES`. It prints how each call ended, and the
 * maximum CPU time of one turn of the event loop during that time.
 */
import { threadCpuMillis } from "@berthkit/testing/threadCpu"
import { Effect, Fiber, Redacted, Result } from "effect"
import * as Berth from "../../../src/client/Berth.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { transports } from "../../transports.ts"

/** How one call ended. */
export interface Tick {
  readonly transport: string
  readonly page: number
  readonly outcome: string
  readonly turnMillis: number
}

const [baseUrl = "", pages = ""] = process.argv.slice(2)
const credentials = {
  apiKey: Redacted.make("a-key-of-some-length"),
  accessToken: Redacted.make("a-token-of-some-length")
}

const tick = Effect.fnUntraced(function* (transport: string, page: number) {
  let turnMillis = 0
  const turn = Effect.suspend(() => {
    const before = threadCpuMillis()
    return Effect.map(Effect.sleep(1), () => void (turnMillis = Math.max(turnMillis, threadCpuMillis() - before)))
  })
  const turns = yield* Effect.forkChild(Effect.forever(turn))
  yield* Effect.sleep(5)
  const result = yield* Effect.result(Nodes.use((nodes) => nodes.listPage({ page, retry: false })))
  yield* Effect.sleep(5)
  yield* Fiber.interrupt(turns)
  const outcome = Result.isSuccess(result) ? "ok" : result.failure.reason._tag
  return { transport, page, outcome, turnMillis } satisfies Tick
})

const ticks: Array<Tick> = []
for (const [transport, layer] of Object.entries(transports)) {
  const over = (page: number) =>
    Effect.runPromise(
      Effect.provide(
        tick(transport, page),
        Berth.layerOver({ baseUrl, credentials, attemptTimeout: "2 minutes", deadline: "4 minutes" }, layer)
      )
    )
  // The first call loads and compiles the code that all calls use.
  await over(1)
  for (let page = 1; page <= Number(pages); page++) ticks.push(await over(page))
}
process.stdout.write(JSON.stringify(ticks), () => process.exit())
