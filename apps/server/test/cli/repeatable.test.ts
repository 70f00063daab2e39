import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { nodeOf, prefix } from "../http/service.ts"
import { serve } from "./berthServer.ts"

/** Calls as a test might make them, bad ones and control requests included; every byte that came back but the server's own date. */
const calls = Effect.fnUntraced(function* (flags: string) {
  const { ready } = yield* serve(["--port", "0", ...flags.split(" ")])
  const seen: Array<readonly [string, number, string, ReadonlyArray<readonly [string, string]>]> = []
  const send = (method: string, path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
    Effect.promise(async (signal) => {
      const reply = await fetch(ready.url + path, {
        method,
        signal,
        headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await reply.text()
      const isControl = path.startsWith("/_mock")
      // A reply of the control plane is dated by the machine, not by a world.
      const heads = [...reply.headers].filter(([name]) => !(isControl && name === "date"))
      seen.push([`${method} ${path}`, reply.status, text, heads])
      return text === "" ? undefined : (JSON.parse(text) as any)
    })
  const as = (account: { readonly apiKey: string; readonly accessToken: string }) => {
    const headers = { authorization: `Bearer ${account.accessToken}` }
    return (method: string, path: string, body?: unknown) =>
      send(
        method,
        `${prefix}${path}${path.includes("?") ? "&" : "?"}apikey=${encodeURIComponent(account.apiKey)}`,
        body,
        headers
      )
  }
  const live = Effect.fnUntraced(function* (id: string, call: ReturnType<typeof as>) {
    const ids = []
    for (const name of ["a", "b", "c"]) {
      ids.push((yield* call("POST", "/nodes/", nodeOf(name))).data.id)
      yield* send("POST", `/_mock/worlds/${id}/clock`, { advance: "1s" })
    }
    yield* call("GET", `/nodes/${ids[0]}/`)
    yield* call("GET", "/nodes/1/")
    yield* call("POST", "/nodes/", { name: "" })
    yield* call("DELETE", `/nodes/${ids[1]}/`)
    yield* send("PATCH", `/_mock/worlds/${id}/nodes/${ids[2]}`, { status: "power-off" })
    yield* send("POST", `/_mock/worlds/${id}/saved-images`, { name: "golden", nodeId: ids[2] })
    for (let i = 0; i < 5; i++) yield* send("POST", `/_mock/worlds/${id}/clock`, { advanceTo: "next-event" })
    yield* call("GET", "/nodes/?per_page=100")
    yield* call("GET", "/images/")
    yield* call("GET", "/images/saved-images/")
    yield* call("GET", "/nodes/?page_no=x")
    yield* send("GET", `/_mock/worlds/${id}/nodes`)
    yield* send("GET", `/_mock/worlds/${id}/snapshot`)
    yield* send("GET", `/_mock/worlds/${id}/requests`)
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
    const made = yield* send("POST", "/_mock/worlds", options)
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
