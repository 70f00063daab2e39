import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { controlAt } from "../control/plane.ts"
import { callAs, nodeOf, type Reply } from "../http/service.ts"
import { serve } from "./berthServer.ts"

/**
 * Makes calls as a test might make them, including bad ones and control requests; returns every byte that came back, except the server's
 * own date.
 */
const calls = Effect.fnUntraced(function* (flags: string) {
  const { account, ready } = yield* serve(["--port", "0", ...flags.split(" ")])
  const seen: Array<readonly [string, number, string, ReadonlyArray<readonly [string, string]>]> = []
  const recorded = (
    request: string,
    call: Effect.Effect<Reply>,
    of: (headers: Headers) => Iterable<[string, string]>
  ) =>
    Effect.map(call, ({ headers, json, status, text }) => {
      seen.push([request, status, text, [...of(headers)]])
      return json
    })
  const plane = (method: string, path: string, body?: unknown) =>
    // The dates of its replies come from the machine, not from a world.
    recorded(`${method} /_mock${path}`, controlAt(account, method, path, body), (headers) =>
      [...headers].filter(([name]) => name !== "date")
    )
  const as =
    ({ accessToken: token, apiKey: key }: { readonly apiKey: string; readonly accessToken: string }) =>
    (method: string, path: string, body?: unknown) =>
      recorded(`${method} ${path}`, callAs(account, method, path, { key, token, body }), (headers) => headers)
  const live = Effect.fnUntraced(function* (id: string, call: ReturnType<typeof as>) {
    const ids = []
    for (const name of ["a", "b", "c"]) {
      ids.push((yield* call("POST", "/nodes/", nodeOf(name))).data.id)
      yield* plane("POST", `/worlds/${id}/clock`, { advance: "1s" })
    }
    yield* call("GET", `/nodes/${ids[0]}/`)
    yield* call("GET", "/nodes/1/")
    yield* call("POST", "/nodes/", { name: "" })
    yield* call("DELETE", `/nodes/${ids[1]}/`)
    yield* plane("PATCH", `/worlds/${id}/nodes/${ids[2]}`, { status: "power-off" })
    yield* plane("POST", `/worlds/${id}/saved-images`, { name: "golden", nodeId: ids[2] })
    for (let i = 0; i < 5; i++) yield* plane("POST", `/worlds/${id}/clock`, { advanceTo: "next-event" })
    yield* call("GET", "/nodes/?per_page=100")
    yield* call("GET", "/images/")
    yield* call("GET", "/images/saved-images/")
    yield* call("GET", "/nodes/?page_no=x")
    yield* plane("GET", `/worlds/${id}/nodes`)
    yield* plane("GET", `/worlds/${id}/snapshot`)
    yield* plane("GET", `/worlds/${id}/requests`)
  })
  yield* live("default", as(ready))
  const options = {
    seed: 5,
    clock: "frozen",
    scenario: "small",
    provisioning: "10s",
    provisioningJitter: "1 minute",
    outcomes: { runs: 1, stuck: 1, powersOff: 1, vanishes: 1 },
    rateLimit: { limit: 15, window: "30s", algorithm: "token-bucket" }
  }
  for (let i = 0; i < 2; i++) {
    const made = yield* plane("POST", "/worlds", options)
    yield* live(made.id, as(made))
  }
  return seen
})

describe("two processes with the same seed and a frozen clock", () => {
  it.live(
    "give the same bytes to the same calls, control plane and journal included, and other bytes to another seed",
    () =>
      Effect.gen(function* () {
        const flags = "--seed 7 --clock frozen --scenario small"
        const [one, two, other] = yield* Effect.all(
          [calls(flags), calls(flags), calls("--seed 8 --clock frozen --scenario small")],
          { concurrency: "unbounded" }
        )
        expect(one.length).toBeGreaterThan(60)
        expect(two).toEqual(one)
        expect(other.map(([, , text]) => text)).not.toEqual(one.map(([, , text]) => text))
      })
  )
})
