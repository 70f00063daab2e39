/** The key and the token are never printed, in any spelling, even if the service repeats them. */
import { HttpService } from "@berthkit/testing/HttpService"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { run } from "./berth.ts"
import { hurried, invoke } from "./invoke.ts"

const secrets = { BERTH_API_KEY: "k3y/with+odd=chars&more", BERTH_ACCESS_TOKEN: "t0ken.with-odd~chars" }

const spellings = Object.values(secrets).flatMap((secret) => [
  secret,
  encodeURIComponent(secret),
  new URLSearchParams({ s: secret }).toString().slice(2),
  Buffer.from(secret).toString("base64").replace(/=+$/, ""),
  Buffer.from(secret).toString("base64url")
])

const commands = [
  ["node", "list"],
  ["node", "get", "1"],
  ["node", "create", "--name", "n", "--plan", "p", "--image", "i"],
  ["node", "delete", "1", "--yes"],
  ["commitment", "set", "1", "auto_terminate", "--yes"],
  ["plan", "list"],
  ["api", "GET", "/nodes/", "-i"]
]

describe("credentials", () => {
  it.live.each(commands)("are not in what berth %s %s prints, not even with --debug", (command) =>
    Effect.gen(function* () {
      let asked = 0
      const repeat = (status: number) =>
        HttpService.start(({ headers, url }, response) => {
          asked++
          const echoed = [url, headers.authorization, ...spellings].join(" ")
          const body =
            status === 200 ? JSON.stringify({ data: echoed, errors: {} }) : `<h1>No such thing</h1> ${echoed}`
          const asJson = { "content-type": "application/json" }
          response.writeHead(status, { ...asJson, "x-asked": encodeURI(echoed) }).end(body)
        })
      for (const status of [200, 401, 422, 500]) {
        const env = { ...secrets, BERTH_BASE_URL: (yield* repeat(status)).url }
        for (const format of ["table", "json"]) {
          const { stderr, stdout } = yield* hurried(invoke([...command, "--debug", "-o", format], { env }))
          for (const spelling of spellings) assert.notInclude(stdout + stderr, spelling)
        }
      }
      assert.isAtLeast(asked, 8)
    })
  )

  it.live("are masked where they were typed by mistake", () =>
    Effect.gen(function* () {
      const { stderr } = yield* run(["node", "list", secrets.BERTH_API_KEY], { env: secrets })
      assert.strictEqual(stderr.split("\n")[0], "error: berth node list takes no further argument: <redacted>.")
    })
  )

  it.live("are masked where they cannot be credentials at all", () =>
    Effect.gen(function* () {
      for (const odd of ["a secret with spaces", "bell\u0007in-it-and-more", " t0ken-behind-a-space"]) {
        const env = { ...secrets, BERTH_BASE_URL: "http://127.0.0.1:1", BERTH_ACCESS_TOKEN: odd }
        for (const args of [
          ["node", "list"],
          ["node", "list", odd],
          ["node", "list", odd.trim(), "-o", "json"]
        ]) {
          const { stderr } = yield* invoke(args, { env })
          assert.notMatch(stderr, /secret with|in-it-and-more|behind-a-space/)
        }
      }
    })
  )

  it.live("are masked whole when one of them is the beginning of the other", () =>
    Effect.gen(function* () {
      const token = `${secrets.BERTH_API_KEY}-and-more`
      const env = { ...secrets, BERTH_BASE_URL: "http://127.0.0.1:1", BERTH_ACCESS_TOKEN: token }
      const { stderr } = yield* invoke(["node", "list", token], { env })
      assert.strictEqual(stderr.split("\n")[0], "error: berth node list takes no further argument: <redacted>.")
    })
  )

  it.live("do not garble berth's own sentences when they are words themselves", () =>
    Effect.gen(function* () {
      const env = { BERTH_BASE_URL: "http://127.0.0.1:1", BERTH_API_KEY: "node", BERTH_ACCESS_TOKEN: "further" }
      const { stderr } = yield* invoke(["node", "list", "more"], { env })
      assert.strictEqual(stderr.split("\n")[0], "error: berth node list takes no further argument: more.")
    })
  )

  it.live("are not set when they are blank", () =>
    Effect.gen(function* () {
      const env = { ...secrets, BERTH_BASE_URL: "http://127.0.0.1:1", BERTH_API_KEY: " " }
      const { code, stderr } = yield* invoke(["node", "list"], { env })
      assert.deepStrictEqual([code, stderr.split("\n")[0]], [3, "error: BERTH_API_KEY is not set."])
    })
  )
})
