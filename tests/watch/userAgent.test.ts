/** The `User-Agent` of the daemon, which a gateway may check. */
import { HttpService } from "@berthkit/testing/HttpService"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { Daemon } from "./Daemon.ts"
import { folder, until, wait } from "./Scene.ts"

const account = { BERTH_API_KEY: "key-of-a-test", BERTH_ACCESS_TOKEN: "token-of-a-test" }

/** A failing service, and the User-Agents that it has received. */
const service = Effect.gen(function* () {
  const agents: Array<string | undefined> = []
  const { url } = yield* HttpService.start(({ headers }, response) => {
    agents.push(headers["user-agent"])
    response.writeHead(500).end()
  })
  return { agents, env: { ...account, BERTH_BASE_URL: url } }
})

const started = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => new Daemon(args, env)),
    (daemon) => Effect.promise(() => daemon[Symbol.asyncDispose]())
  )

describe("the User-Agent of berth-watch", () => {
  it.live("is that of the flag, or of the variable", () =>
    Effect.gen(function* () {
      for (const [args, agent] of [
        [["--user-agent", "mine/1"], "mine/1"],
        [[], "of-the-environment/1"]
      ] as const) {
        const { agents, env } = yield* service
        yield* started(["run", ...args], { ...env, BERTH_USER_AGENT: "of-the-environment/1" })
        yield* until(() => agents.length > 0)
        expect(agents[0]).toBe(agent)
      }
    }).pipe(Effect.scoped)
  )

  it.live("is that of the account in a config, or else of the variable", () =>
    Effect.gen(function* () {
      const { agents, env } = yield* service
      const config = join(yield* folder, "watch.yml")
      const accountOf = (name: string, more: string) =>
        `  - { name: ${name}, baseUrl: "${env.BERTH_BASE_URL}", apiKey: { env: KEY_${name} }, accessToken: { env: BERTH_ACCESS_TOKEN }${more} }\n`
      writeFileSync(
        config,
        `listen: 127.0.0.1:0\naccounts:\n${accountOf("a", ", userAgent: gateway/2")}${accountOf("b", "")}`
      )
      const keys = { KEY_a: "key-of-account-a", KEY_b: "key-of-account-b", BERTH_USER_AGENT: "of-the-environment/1" }
      yield* started(["run", "--config", config], { ...env, ...keys })
      yield* until(() => new Set(agents).size > 1)
      expect(new Set(agents)).toEqual(new Set(["gateway/2", "of-the-environment/1"]))
    }).pipe(Effect.scoped)
  )

  it.live("is refused where it is no header, and where a config names the accounts", () =>
    Effect.gen(function* () {
      const { agents, env } = yield* service
      const config = join(yield* folder, "watch.yml")
      const accounts = (more: string) =>
        `accounts:\n  - name: a\n    baseUrl: https://api.test\n    apiKey: { env: BERTH_API_KEY }\n    accessToken: { env: BERTH_ACCESS_TOKEN }\n${more}`
      const refused = Effect.fnUntraced(function* (args: ReadonlyArray<string>, more = {}) {
        const daemon = yield* started(args, { ...env, ...more })
        const { code, stderr } = yield* wait(() => daemon.finished())
        return [code, stderr[0]!.replaceAll(config, "watch.yml")]
      })
      const form = "is not usable: expected a User-Agent of printable ASCII characters."
      expect(yield* refused(["once", "--user-agent", "a\tb"])).toEqual([2, `berth-watch: --user-agent ${form}`])
      writeFileSync(config, accounts('    userAgent: "a\\nb"\n'))
      expect(yield* refused(["check-config", config])).toEqual([2, `watch.yml:6:16: accounts[0].userAgent ${form}`])
      writeFileSync(config, accounts(""))
      expect(yield* refused(["check-config", config], { BERTH_USER_AGENT: "a\u00e9" })).toEqual([
        2,
        `watch.yml:2:5: BERTH_USER_AGENT ${form}`
      ])
      expect(yield* refused(["run", "--config", config, "--user-agent", "mine"])).toEqual([
        2,
        "berth-watch: --user-agent cannot be combined with --config, which names the accounts."
      ])
      expect(agents).toEqual([])
    }).pipe(Effect.scoped)
  )
})
