import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Option, Redacted, Result } from "effect"
import { readConnection } from "@berthkit/terminal/Connection"

const complete = {
  BERTH_BASE_URL: "https://service.test",
  BERTH_API_KEY: "key-of-a-test",
  BERTH_ACCESS_TOKEN: "token-of-a-test",
  BERTH_ALLOWANCE_FILE: "off"
}

const read = (env: Readonly<Record<string, string>>, flag: Option.Option<string> = Option.none()) =>
  Effect.provideService(readConnection(flag, false), ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))

describe("the connection", () => {
  it.effect("comes from the environment, the address from the flag where there is one", () =>
    Effect.gen(function* () {
      const { options } = yield* read(complete)
      assert.strictEqual(options.baseUrl, "https://service.test")
      assert.strictEqual(Redacted.value(options.credentials.apiKey), "key-of-a-test")
      assert.strictEqual(Redacted.value(options.credentials.accessToken), "token-of-a-test")
      const { BERTH_BASE_URL: _, ...credentials } = complete
      const other = yield* read(credentials, Option.some("https://other.test"))
      assert.strictEqual(other.options.baseUrl, "https://other.test")
    })
  )

  it.effect.each([
    ["BERTH_BASE_URL", "usage"],
    ["BERTH_API_KEY", "denied"],
    ["BERTH_ACCESS_TOKEN", "denied"]
  ] as const)("without %s is a fault of that setting, also where it is blank", ([setting, exit]) =>
    Effect.forEach(["", " "], (blank) =>
      Effect.map(Effect.flip(read({ ...complete, [setting]: blank })), (fault) => {
        assert.deepStrictEqual(
          { setting: fault.setting, exit: fault.exit, message: fault.message },
          { setting, exit, message: `${setting} is not set.` }
        )
      })
    )
  )

  it.effect("with an address that is none is a fault of the setting that gave it", () =>
    Effect.gen(function* () {
      const variable = yield* Effect.flip(read({ ...complete, BERTH_BASE_URL: "ftp://x" }))
      assert.deepStrictEqual([variable.setting, variable.exit], ["BERTH_BASE_URL", "usage"])
      const flag = yield* Effect.flip(read(complete, Option.some("ftp://x")))
      assert.deepStrictEqual([flag.setting, flag.exit], ["--base-url", "usage"])
    })
  )

  it.effect("shares the allowance through the database that is named, and through no file then", () =>
    Effect.gen(function* () {
      const named = {
        ...complete,
        BERTH_ALLOWANCE_FILE: "/file",
        BERTH_STATE_URL: "postgres://u:hunter2@db/name"
      }
      const { options, stateUrl } = yield* read(named)
      assert.strictEqual(Redacted.value(stateUrl!), named.BERTH_STATE_URL)
      assert.isUndefined(options.allowanceFile)
      const file = yield* read({ ...named, BERTH_STATE_URL: " " })
      assert.deepStrictEqual([file.stateUrl, file.options.allowanceFile], [undefined, "/file"])
      for (const wrong of ["mysql://u:hunter2@db", "hunter2", "postgres://u:hunter2@db/name?schema=No"]) {
        const fault = yield* Effect.flip(read({ ...named, BERTH_STATE_URL: wrong }))
        assert.deepStrictEqual([fault.setting, fault.exit], ["BERTH_STATE_URL", "usage"], wrong)
        assert.match(fault.message, /^BERTH_STATE_URL is not usable: it has to be an address such as postgres:/)
        assert.notInclude(fault.message + fault.hint, "hunter2")
      }
    })
  )

  it.effect("with a key that cannot be one is a fault of the key, and does not show it", () =>
    Effect.gen(function* () {
      const fault = yield* Effect.flip(read({ ...complete, BERTH_API_KEY: "no\u0007key" }))
      assert.deepStrictEqual([fault.setting, fault.exit], ["BERTH_API_KEY", "denied"])
      assert.notMatch(fault.message, /no.?key/)
    })
  )

  it.effect("sends the credentials of the environment only to the address in the environment", () =>
    Effect.gen(function* () {
      for (const address of [
        "https://service.test:444",
        "http://service.test",
        "https://service.test.",
        "https://a.service.test"
      ]) {
        const fault = yield* Effect.flip(read(complete, Option.some(address)))
        assert.deepStrictEqual([fault.setting, fault.exit], ["--base-url", "denied"])
        assert.match(fault.message, /^BERTH_API_KEY belongs to https:\/\/service\.test and is not sent to /)
      }
      for (const spelling of ["HTTPS://SERVICE.test:443/", "https://service.test/myaccount/api/v1"]) {
        assert.strictEqual((yield* read(complete, Option.some(spelling))).options.baseUrl, spelling)
      }
    })
  )

  it.effect.each([
    ["http://localhost:1", true],
    ["http://127.0.0.1:1", true],
    ["http://127.8.9.10", true],
    ["http://127.1", true],
    ["http://[::1]:1", true],
    ["https://service.test", true],
    ["http://service.test", false],
    ["http://localhost.", false],
    ["http://x.localhost", false],
    ["http://127.0.0.1.service.test", false],
    ["http://0.0.0.0", false],
    ["http://[::ffff:127.0.0.1]", false],
    ["http://10.0.0.1", false]
  ] as const)("over plain http needs permission beyond this machine: %s", ([BERTH_BASE_URL, isFree]) =>
    Effect.gen(function* () {
      const env = { ...complete, BERTH_BASE_URL }
      const found = yield* Effect.result(read(env))
      assert.strictEqual(Result.isSuccess(found), isFree)
      for (const BERTH_ALLOW_HTTP of ["1", "true"]) yield* read({ ...env, BERTH_ALLOW_HTTP })
      const refused = yield* Effect.flip(read({ ...env, BERTH_ALLOW_HTTP: "maybe" }))
      assert.deepStrictEqual([refused.setting, refused.exit], ["BERTH_ALLOW_HTTP", "usage"])
    })
  )
})
