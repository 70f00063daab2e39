import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Option, Redacted } from "effect"
import { environmentConfig, readAccount } from "../../src/settings/runConfig.ts"

const connection = {
  options: {
    baseUrl: "https://api.example.com",
    credentials: { apiKey: Redacted.make("k"), accessToken: Redacted.make("t") }
  }
}

const configOf = (
  env: Readonly<Record<string, string>>,
  flags: Parameters<typeof environmentConfig>[2] = { listen: Option.none(), store: Option.none() }
) =>
  environmentConfig(connection, "eu", flags).pipe(
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
  )

describe("the config from the environment", () => {
  it.effect("is one account whose events go to stdout, in the user's state folder, for this machine only", () =>
    Effect.gen(function* () {
      const config = yield* configOf({ HOME: "/home/me" })
      expect(Redacted.value(config.store)).toMatch(/^\/home\/me\/.*\/berth\/watch\.db$/)
      expect(config).toMatchObject({
        listen: { host: "127.0.0.1", port: 9464 },
        token: null,
        accounts: [{ name: "eu", connection: { baseUrl: "https://api.example.com" }, share: 0.6 }],
        sinks: [{ name: "stdout", target: { _tag: "Stdout" } }]
      })
    })
  )

  it.effect("takes store, address and token from variables of their own", () =>
    Effect.gen(function* () {
      const config = yield* configOf({
        BERTH_WATCH_STORE: "/data/watch.db",
        BERTH_WATCH_LISTEN: "0.0.0.0:80",
        BERTH_WATCH_TOKEN: "secret-0123456789"
      })
      expect(Redacted.value(config.store)).toBe("/data/watch.db")
      expect(config.listen).toEqual({ host: "0.0.0.0", port: 80 })
      expect(Redacted.value(config.token!)).toBe("secret-0123456789")
      expect((yield* configOf({ HOME: "/h", BERTH_WATCH_LISTEN: "off" })).listen).toBe(null)
    })
  )

  it.effect("takes the store that a flag names before that of the variable", () =>
    Effect.gen(function* () {
      const env = { BERTH_WATCH_STORE: "/data/watch.db" }
      const config = yield* configOf(env, { store: Option.some("/tmp/other.db"), listen: Option.none() })
      expect(Redacted.value(config.store)).toBe("/tmp/other.db")
    })
  )

  it.effect("listens where a flag says, whatever the variable says, but for other machines only with a token", () =>
    Effect.gen(function* () {
      const env = { HOME: "/h", BERTH_WATCH_LISTEN: "off" }
      const listening = (listen: string, more = {}) =>
        configOf({ ...env, ...more }, { store: Option.none(), listen: Option.some(listen) })
      expect((yield* listening("127.0.0.1:9500")).listen).toEqual({ host: "127.0.0.1", port: 9500 })
      expect((yield* listening("off", { BERTH_WATCH_LISTEN: "here" })).listen).toBe(null)
      const open = { BERTH_WATCH_TOKEN: "secret-0123456789" }
      expect((yield* listening("0.0.0.0:80", open)).listen).toEqual({ host: "0.0.0.0", port: 80 })
      for (const [listen, message] of [
        ["0.0.0.0:80", "--listen is reachable from other machines, so a token is needed."],
        ["here", "--listen has to be HOST:PORT or off."]
      ] as const) {
        expect(yield* Effect.flip(listening(listen))).toMatchObject({ exit: "usage", message })
      }
    })
  )

  it.effect.each([
    [{ HOME: "/h", BERTH_WATCH_LISTEN: "here" }, "BERTH_WATCH_LISTEN has to be HOST:PORT or off."],
    [
      { HOME: "/h", BERTH_WATCH_LISTEN: "0.0.0.0:80" },
      "BERTH_WATCH_LISTEN is reachable from other machines, so a token is needed."
    ],
    [
      { HOME: "/h", BERTH_WATCH_TOKEN: "fifteen-letters" },
      "BERTH_WATCH_TOKEN has to be at least 16 printable ASCII characters without spaces."
    ],
    [
      { HOME: "/h", BERTH_WATCH_TOKEN: "two words" },
      "BERTH_WATCH_TOKEN has to be at least 16 printable ASCII characters without spaces."
    ],
    [{}, "No folder for the store: HOME is not set."]
  ] as const)("refuses %j in one sentence", ([env, message]) =>
    Effect.gen(function* () {
      expect(yield* Effect.flip(configOf(env))).toMatchObject({ exit: "usage", message })
    })
  )

  it.effect("names no account as the daemon's own are named", () =>
    Effect.gen(function* () {
      expect(yield* readAccount(Option.some("eu_1"))).toBe("eu_1")
      for (const name of ["_daemon", "", "a b"]) {
        expect(yield* Effect.flip(readAccount(Option.some(name)))).toMatchObject({ exit: "usage" })
      }
    })
  )
})
