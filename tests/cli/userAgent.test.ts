/** Requests carry the User-Agent that a flag, a variable or a profile sets, but never a string that no header can hold. */
import { failure, nodeRecord, ok, type Reply, type Request } from "@berthkit/core/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { json } from "./berth.ts"
import { hurried, invoke } from "./invoke.ts"
import { serve } from "./ScriptedServer.ts"
import { stateFolder } from "./stateFolder.ts"

const credentials = { apiKey: "key-of-a-test", accessToken: "token-of-a-test" }

/** A service that records the User-Agent of each request, and berth with credentials from the environment or from the profile `work`. */
const service = (profile?: object) =>
  Effect.gen(function* () {
    const agents: Array<string | undefined> = []
    const answer = ({ headers }: Request): Reply => {
      agents.push(headers["user-agent"])
      return ok([nodeRecord({ id: 7, name: "web" })])
    }
    const baseUrl = yield* serve(answer)
    const home = yield* stateFolder
    const env = {
      HOME: home,
      XDG_STATE_HOME: join(home, "state"),
      XDG_CONFIG_HOME: join(home, "config"),
      ...(profile === undefined && {
        BERTH_BASE_URL: baseUrl,
        BERTH_API_KEY: credentials.apiKey,
        BERTH_ACCESS_TOKEN: credentials.accessToken
      })
    }
    if (profile !== undefined) {
      mkdirSync(join(home, "config", "berth"), { recursive: true, mode: 0o700 })
      const profiles = { work: { baseUrl, ...credentials, ...profile } }
      writeFileSync(
        join(home, "config", "berth", "profiles.json"),
        JSON.stringify({ version: 1, current: "work", profiles }),
        { mode: 0o600 }
      )
    }
    const berth = (args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = {}) =>
      hurried(invoke(args, { env: { ...env, ...more } }))
    /** The User-Agent of a list request with these arguments and variables. */
    const sent = Effect.fnUntraced(function* (...given: Parameters<typeof berth>) {
      const { code, stderr } = yield* berth(["node", "list", ...given[0]], given[1])
      assert.strictEqual(code, 0, stderr)
      return agents.splice(0)[0]
    })
    return { agents, berth, sent }
  })

describe("the User-Agent", () => {
  it.live("is the flag's, or else the variable's, or else that of berth", () =>
    Effect.gen(function* () {
      const { sent } = yield* service()
      const variable = { BERTH_USER_AGENT: "of-the-environment/1" }
      assert.match((yield* sent([])) ?? "", /^berth\/\d/)
      assert.strictEqual(yield* sent([], variable), "of-the-environment/1")
      assert.strictEqual(yield* sent(["--user-agent", "deploy/1.0 (nightly)"], variable), "deploy/1.0 (nightly)")
    })
  )

  it.live("is that of the profile, which wins over the variable exactly if a flag names it", () =>
    Effect.gen(function* () {
      const { berth, sent } = yield* service({ userAgent: "of-the-profile/1" })
      const variable = { BERTH_USER_AGENT: "of-the-environment/1" }
      assert.strictEqual(yield* sent([]), "of-the-profile/1")
      assert.strictEqual(yield* sent([], variable), "of-the-environment/1")
      assert.strictEqual(yield* sent(["--profile", "work"], variable), "of-the-profile/1")
      assert.strictEqual(yield* sent(["--profile", "work", "--user-agent", "mine"], variable), "mine")
      const status = yield* berth(["auth", "status", "-o", "json"])
      assert.deepInclude(json<object>(status), { userAgent: "of-the-profile/1", userAgentSource: "profile work" })
      assert.deepInclude(json<ReadonlyArray<object>>(yield* berth(["profile", "list", "-o", "json"]))[0], {
        userAgent: "of-the-profile/1"
      })
    })
  )

  it.live("of the variable stays with a profile that has none", () =>
    Effect.gen(function* () {
      const { sent } = yield* service({})
      assert.strictEqual(yield* sent(["--profile", "work"], { BERTH_USER_AGENT: "gateway/1" }), "gateway/1")
    })
  )

  it.live.each([
    ["--user-agent", "a line\nx-other: 1", {}],
    ["--user-agent", "a\ttab", {}],
    ["--user-agent", "\u001b[31mred", {}],
    ["--user-agent", "é", {}],
    ["BERTH_USER_AGENT", undefined, { BERTH_USER_AGENT: "a line\nx-other: 1" }]
  ] as const)("of %s is refused before anything is sent: %j", ([source, flag, env]) =>
    Effect.gen(function* () {
      const { agents, berth } = yield* service()
      const { code, stderr } = yield* berth(["node", "list", ...(flag === undefined ? [] : [source, flag])], env)
      assert.strictEqual(code, 2)
      assert.strictEqual(
        stderr,
        `error: ${source} is not usable: expected a User-Agent of printable ASCII characters.\nhint: Correct ${source}, or unset it.\n`
      )
      assert.deepStrictEqual(agents, [])
    })
  )

  it.live("of a profile is refused in the same way, and names the profile", () =>
    Effect.gen(function* () {
      const { agents, berth } = yield* service({ userAgent: "two\nlines" })
      const { code, stderr } = yield* berth(["node", "list"])
      assert.strictEqual(code, 2)
      assert.include(stderr, "profile work is not usable: expected a User-Agent of printable ASCII characters.")
      assert.deepStrictEqual(agents, [])
    })
  )
})

describe("a gateway that refuses the User-Agent", () => {
  it.live("is reported with the flag that sets another", () =>
    Effect.gen(function* () {
      const env = {
        BERTH_BASE_URL: yield* serve(() => failure(403, "API not public")),
        BERTH_API_KEY: credentials.apiKey,
        BERTH_ACCESS_TOKEN: credentials.accessToken,
        XDG_STATE_HOME: yield* stateFolder
      }
      const { code, stderr } = yield* hurried(invoke(["node", "list"], { env }))
      assert.strictEqual(code, 3, stderr)
      assert.include(stderr, "set --user-agent or BERTH_USER_AGENT")
    }).pipe(Effect.scoped)
  )
})
