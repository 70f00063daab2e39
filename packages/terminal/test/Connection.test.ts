import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Option, Redacted } from "effect"
import { readConnection } from "@berth/terminal/Connection"

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

  it.effect("with a key that cannot be one is a fault of the key, and does not show it", () =>
    Effect.gen(function* () {
      const fault = yield* Effect.flip(read({ ...complete, BERTH_API_KEY: "no\u0007key" }))
      assert.deepStrictEqual([fault.setting, fault.exit], ["BERTH_API_KEY", "denied"])
      assert.notMatch(fault.message, /no.?key/)
    })
  )
})
