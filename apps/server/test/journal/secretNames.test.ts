/**
 * A secret under each of its usual names, in every place of a request: neither the journal nor an archive shows it, nor what is learned
 * from a recording.
 */
import { Effect, Result } from "effect"
import { expect, layer } from "@effect/vitest"
import { pageOf, reportOf, tableOf } from "@berthkit/learn/report"
import { profileOf } from "@berthkit/learn/profileOf"
import { readEvidence } from "@berthkit/learn/readEvidence"
import { TestServer } from "../../src/testing.ts"
import { control } from "../control/plane.ts"
import { ask } from "../injection/client.ts"
import { harOf } from "@berthkit/learn/testing/record"

const names = ["x-auth", "x-functions-key", "x-amz-signature", "sessionid", "jwt", "user_passphrase", "client_secret"]

const canary = "canary-7f3a9c51d2"

layer(TestServer.layer())("a secret that is called", (it) => {
  it.effect.each(names)("%s is in no journal and no archive", (name) =>
    Effect.gen(function* () {
      const world = yield* (yield* TestServer).makeWorld({ seed: 7 })
      yield* ask(world, "POST", "/nodes/", {
        headers: { [name]: canary },
        query: { [name]: canary },
        body: { name: "web", [name]: canary }
      })
      for (const path of ["requests", "requests.har"]) {
        const { text } = yield* control("GET", `/worlds/${world.id}/${path}`)
        expect(text).toContain("<redacted>")
        expect(text).not.toContain(canary)
      }
    })
  )

  it.effect.each(names)("%s is in nothing that is learned from a recording", (name) =>
    Effect.sync(() => {
      const repeated = { code: 404, message: `no ${canary}`, errors: {} }
      const entryOf = (place: { query?: string; sent?: boolean; replied?: boolean; reply?: object }) => ({
        startedDateTime: "2026-01-01T00:00:00Z",
        time: 5,
        request: {
          method: "GET",
          url: `https://api.example/myaccount/api/v1/nodes/${place.query ?? ""}`,
          headers: place.sent ? [{ name, value: canary }] : []
        },
        response: {
          status: 404,
          headers: place.replied ? [{ name, value: canary }] : [],
          content: { text: JSON.stringify(place.reply ?? repeated) }
        }
      })
      const entries = [
        entryOf({ query: `?${name}=${canary}` }),
        entryOf({ sent: true }),
        entryOf({ replied: true }),
        entryOf({ reply: { ...repeated, [name]: canary } }),
        entryOf({ reply: { ...repeated, message: `see /?to=/?${name}=${canary}` } })
      ]
      for (const entry of entries) {
        const evidence = Result.getOrThrow(readEvidence(harOf([entry as never])))
        const profile = profileOf(evidence)
        const report = reportOf(evidence, profile)
        const texts = [JSON.stringify(profile), JSON.stringify(report), pageOf(report), tableOf(report)]
        for (const text of texts) expect(text).not.toContain(canary)
      }
    })
  )
})
