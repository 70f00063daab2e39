/**
 * A process that requests each page of a service over every transport, and prints how each call ended and the longest time that
 * it blocked the event loop: `ticker.ts URL PAGES`.
 */
import { Effect, Redacted, Result } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import * as Berth from "../../../src/client/Berth.ts"
import { Nodes } from "../../../src/client/Nodes.ts"
import { transports } from "../../transports.ts"

/** How one call ended. */
export interface Tick {
  readonly transport: string
  readonly page: number
  readonly outcome: string
  readonly delayMillis: number
}

const [baseUrl = "", pages = ""] = process.argv.slice(2)
const credentials = {
  apiKey: Redacted.make("a-key-of-some-length"),
  accessToken: Redacted.make("a-token-of-some-length")
}

const tick = Effect.fnUntraced(function* (transport: string, page: number) {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()
  yield* Effect.sleep(5)
  const result = yield* Effect.result(Nodes.use((nodes) => nodes.listPage({ page, retry: false })))
  yield* Effect.sleep(5)
  delay.disable()
  const outcome = Result.isSuccess(result) ? "ok" : result.failure.reason._tag
  return { transport, page, outcome, delayMillis: delay.max / 1e6 } satisfies Tick
})

const ticks: Array<Tick> = []
for (const [transport, layer] of Object.entries(transports)) {
  const over = (page: number) =>
    Effect.runPromise(Effect.provide(tick(transport, page), Berth.layerOver({ baseUrl, credentials }, layer)))
  // The first call loads and compiles the code of all.
  await over(1)
  for (let page = 1; page <= Number(pages); page++) ticks.push(await over(page))
}
process.stdout.write(JSON.stringify(ticks), () => process.exit())
