import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Logger, Redacted } from "effect"
import { accountFiles } from "../../src/client/AccountFiles.ts"

interface Account {
  readonly baseUrl?: string
  readonly apiKey?: string
  readonly accessToken?: string
}

/** The files of an account in this environment, and what was logged. */
const filesOf = (env: Record<string, string>, { accessToken = "token", apiKey = "key", baseUrl }: Account = {}) =>
  Effect.gen(function* () {
    const said: Array<string> = []
    const files = yield* accountFiles({
      baseUrl: baseUrl ?? "https://service.example",
      credentials: { apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) }
    }).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
      Effect.provide(Logger.layer([Logger.make(({ message }) => void said.push(String(message)))]))
    )
    return { ...files, said }
  })

const home = { XDG_STATE_HOME: "/state" }

describe("the files of an account", () => {
  it.effect("are in a folder of its own, from which neither the service nor the key can be read", () =>
    Effect.gen(function* () {
      const { allowanceFile, intents, pages } = yield* filesOf(home, {
        apiKey: "s3cr3t",
        baseUrl: "https://service.example"
      })
      const folder = /^(\/state\/berth\/accounts\/[0-9a-f]{32})\/allowance\.json$/.exec(allowanceFile ?? "")?.[1]
      assert.isDefined(folder)
      assert.strictEqual(intents, `${folder}/intents`)
      assert.strictEqual(pages, `${folder}/pages.json`)
    })
  )

  it.effect("are the same however the address is written, and whichever token goes with the key", () =>
    Effect.gen(function* () {
      const { allowanceFile } = yield* filesOf(home)
      for (const account of [
        { baseUrl: "https://SERVICE.example:443/" },
        { baseUrl: "https://service.example/myaccount/api/v1/" },
        { accessToken: "another" }
      ]) {
        assert.strictEqual((yield* filesOf(home, account)).allowanceFile, allowanceFile)
      }
    })
  )

  it.effect("are others for another key and another service", () =>
    Effect.gen(function* () {
      const accounts = [
        {},
        { apiKey: "key2" },
        { baseUrl: "http://service.example" },
        { baseUrl: "https://other.example" }
      ]
      const files = yield* Effect.forEach(accounts, (account) => filesOf(home, account))
      assert.strictEqual(new Set(files.map(({ allowanceFile }) => allowanceFile)).size, accounts.length)
    })
  )

  it.effect("are below the home folder by default, where there is one", () =>
    Effect.gen(function* () {
      const { allowanceFile } = yield* filesOf({ HOME: "/home/ada", XDG_STATE_HOME: "not/absolute" })
      assert.match(allowanceFile ?? "", /^\/home\/ada\/.*\/berth\/accounts\//)
      const none = yield* filesOf({})
      assert.deepStrictEqual([none.allowanceFile, none.intents, none.pages], [undefined, undefined, undefined])
      assert.lengthOf(none.said, 1)
      assert.match(none.said[0]!, /HOME is not set.*goes by its own replies/)
    })
  )

  it.effect("leave the allowance file to BERTH_ALLOWANCE_FILE where it says something", () =>
    Effect.gen(function* () {
      const byDefault = yield* filesOf(home)
      for (const [said, file] of [
        ["/run/berth", "/run/berth"],
        ["off", undefined],
        [" ", byDefault.allowanceFile]
      ] as const) {
        const files = yield* filesOf({ ...home, BERTH_ALLOWANCE_FILE: said })
        assert.deepStrictEqual(files, { ...byDefault, allowanceFile: file })
      }
      assert.deepStrictEqual(yield* filesOf({ BERTH_ALLOWANCE_FILE: "off" }), {
        allowanceFile: undefined,
        intents: undefined,
        pages: undefined,
        said: []
      })
    })
  )
})
