import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Logger, Option, Redacted } from "effect"
import * as UserDirectories from "effect/persistence/UserDirectories"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, join } from "node:path"
import { type AccountFiles, accountFiles, accountLayer } from "../../src/client/AccountFiles.ts"
import { berthFolder } from "../../src/client/AccountFolder.ts"
import { AllowanceStore } from "../../src/client/allowance/AllowanceStore.ts"
import { recordsOf } from "../../src/client/RecordFolder.ts"
import { makeAccount } from "../../src/client/creation/IntentFolder.ts"
import { goOnIn } from "../../src/client/creation/IntentPlace.ts"
import { IntentStore } from "../../src/client/creation/IntentStore.ts"

interface Account {
  readonly baseUrl?: string
  readonly apiKey?: string
  readonly accessToken?: string
  readonly account?: string
}

/** The files of an account in this environment, and what was logged. */
const filesOf = (
  env: Record<string, string>,
  { accessToken = "token", account, apiKey = "key", baseUrl }: Account = {}
) =>
  Effect.gen(function* () {
    const logged: Array<string> = []
    const files = yield* accountFiles({
      baseUrl: baseUrl ?? "https://service.example",
      account,
      credentials: { apiKey: Redacted.make(apiKey), accessToken: Redacted.make(accessToken) }
    }).pipe(
      Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })),
      Effect.provide(Logger.layer([Logger.make(({ message }) => void logged.push(String(message)))]))
    )
    return { ...files, logged }
  })

const home = { XDG_STATE_HOME: "/state" }

describe("the files of an account", () => {
  it.effect("are in a folder of its own, from which neither the service nor the key can be read", () =>
    Effect.gen(function* () {
      const { allowanceFile, intents } = yield* filesOf(home, {
        apiKey: "s3cr3t",
        baseUrl: "https://service.example"
      })
      const folder = /^(\/state\/berth\/accounts\/[0-9a-f]{32})\/allowance\.json$/.exec(allowanceFile ?? "")?.[1]
      assert.isDefined(folder)
      const accounts = "/state/berth/accounts"
      assert.deepInclude(intents, { accounts, origin: "https://service.example", id: basename(folder!) })
    })
  )

  it.effect("are the same for any spelling of the address, and for any token with the key", () =>
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

  it.effect("are the same for every spelling of a host that is one service, and of no other", () =>
    Effect.gen(function* () {
      const folderOf = (baseUrl: string) => Effect.map(filesOf(home, { baseUrl }), ({ intents }) => intents?.id)
      const same = [
        [
          "http://localhost:8080",
          "http://127.0.0.1:8080/",
          "http://LOCALHOST.:8080",
          "http://[::1]:8080",
          "http://127.1:8080"
        ],
        ["https://service.example", "https://service.example.", "https://service.example:443/myaccount/api/v1"]
      ]
      for (const spellings of same) {
        assert.strictEqual(new Set(yield* Effect.forEach(spellings, folderOf)).size, 1, spellings.join(" "))
      }
      const different = [
        "http://localhost:8080",
        "http://localhost:8081",
        "https://localhost:8080",
        "http://127.0.0.2:8080"
      ]
      assert.strictEqual(new Set(yield* Effect.forEach(different, folderOf)).size, different.length)
    })
  )

  it.effect("keep creates by the account's name where it has one, and the allowance by the key", () =>
    Effect.gen(function* () {
      const of = (account: Account) => filesOf(home, { account: "prod", ...account })
      const [one, rotated, elsewhere] = [
        yield* of({}),
        yield* of({ apiKey: "key2" }),
        yield* of({ baseUrl: "https://other.example" })
      ]
      const unnamed = yield* filesOf(home)
      assert.strictEqual(rotated.intents?.id, one.intents?.id)
      assert.strictEqual(one.intents?.key, unnamed.intents?.id)
      assert.strictEqual(one.allowanceFile, unnamed.allowanceFile)
      assert.strictEqual(new Set([one, elsewhere, unnamed].map(({ intents }) => intents?.id)).size, 3)
    })
  )

  it.live("keep the records of an account under a new key, where it has a name or goes on in the old one", () =>
    Effect.gen(function* () {
      const state = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "berth-records-"))),
        (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
      )
      const of = (account: Account) => filesOf({ XDG_STATE_HOME: state }, account)
      const settle = ({ intents }: AccountFiles) => makeAccount(intents!).find("job")
      const kept = (account: Account) =>
        Effect.flatMap(of(account), ({ intents }) =>
          Effect.map(recordsOf(intents!).get("proposal", "p1"), Option.getOrUndefined)
        )

      const old = yield* of({})
      yield* settle(old)
      yield* recordsOf(old.intents!).put("proposal", "p1", "recorded")
      assert.strictEqual(yield* kept({ account: "prod" }), "recorded")
      yield* settle(yield* of({ account: "prod" }))
      assert.strictEqual(yield* kept({ account: "prod", apiKey: "key2" }), "recorded")

      const renewed = yield* of({ apiKey: "key3" })
      assert.isTrue(yield* goOnIn(renewed.intents!, old.intents!))
      for (const account of [{}, { apiKey: "key3" }]) assert.strictEqual(yield* kept(account), "recorded")
      const { folder } = yield* of({ account: "prod", apiKey: "key2" })
      assert.strictEqual((yield* of({})).folder, folder)
    })
  )

  it.effect("differ for another key and another service", () =>
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
      assert.deepStrictEqual([none.allowanceFile, none.intents], [undefined, undefined])
      assert.lengthOf(none.logged, 1)
      assert.match(none.logged[0]!, /HOME is not set.*relies only on its own replies/)
    })
  )

  it.effect("have the allowance file of BERTH_ALLOWANCE_FILE where that is set", () =>
    Effect.gen(function* () {
      const byDefault = yield* filesOf(home)
      for (const [value, file] of [
        ["/run/berth", "/run/berth"],
        ["off", undefined],
        [" ", byDefault.allowanceFile]
      ] as const) {
        const files = yield* filesOf({ ...home, BERTH_ALLOWANCE_FILE: value })
        assert.deepStrictEqual(files, { ...byDefault, allowanceFile: file })
      }
      assert.deepStrictEqual(yield* filesOf({ BERTH_ALLOWANCE_FILE: "off" }), {
        allowanceFile: undefined,
        folder: undefined,
        intents: undefined,
        logged: []
      })
    })
  )
})

describe("the folder of `berth`", () => {
  const values: Readonly<Record<string, ReadonlyArray<string | undefined>>> = {
    XDG_STATE_HOME: [undefined, "/xdg/", "C:\\xdg", "not/absolute"],
    XDG_CACHE_HOME: [undefined, "/cache/"],
    XDG_CONFIG_HOME: [undefined, "/config/"],
    APPDATA: [undefined, "C:\\roaming\\"],
    LOCALAPPDATA: [undefined, "C:\\local\\", "local"],
    HOME: [undefined, "/home/ada/"],
    USERPROFILE: [undefined, "C:\\Users\\ada"]
  }
  const environments = Object.entries(values).reduce<ReadonlyArray<Readonly<Record<string, string>>>>(
    (all, [name, choices]) =>
      all.flatMap((env) => choices.map((value) => (value === undefined ? env : { ...env, [name]: value }))),
    [{}]
  )

  const kinds = ["state", "cache", "config"] as const
  const platforms = ["linux", "darwin", "win32", "freebsd"]
  for (const [kind, platform] of kinds.flatMap((kind) => platforms.map((platform) => [kind, platform] as const))) {
    it.effect(`is Effect's ${kind} folder on ${platform}, for any environment`, () =>
      Effect.forEach(environments, (env) =>
        Effect.gen(function* () {
          const ours = yield* Effect.option(berthFolder((name) => Effect.succeed(env[name]), platform, kind))
          const theirs = yield* Effect.option(UserDirectories.make({ platform })[kind]("berth")).pipe(
            Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env }))
          )
          const plain = Option.map((folder: string) => folder.replaceAll("\\", "/"))
          assert.deepStrictEqual(plain(ours), plain(theirs), JSON.stringify(env))
        })
      )
    )
  }
})

describe("the layer of an account", () => {
  const options = {
    baseUrl: "https://service.example",
    credentials: { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") }
  }
  const stores = Effect.all({ intents: IntentStore, place: AllowanceStore })

  it.live("keeps intents and allowance in the folder of `accountFiles`, or below another one", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "berth-account-"))),
        (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
      )
      const provider = ConfigProvider.fromEnv({ env: { XDG_STATE_HOME: folder } })
      const withEnv = Effect.provideService(ConfigProvider.ConfigProvider, provider)
      const files = yield* withEnv(accountFiles(options))
      for (const [directory, base] of [
        ["auto", join(folder, "berth")],
        [join(folder, "own"), join(folder, "own")]
      ] as const) {
        const { intents, place } = yield* withEnv(Effect.provide(stores, accountLayer(options, directory)))
        const { name } = yield* place!
        if (directory === "auto") assert.strictEqual(name, files.allowanceFile)
        assert.isTrue(name.startsWith(join(base, "accounts")))
        assert.deepStrictEqual(yield* intents!.unsettled, [])
        const [hash] = yield* Effect.promise(() => readdir(join(base, "accounts")))
        assert.strictEqual(name, join(base, "accounts", hash!, "allowance.json"))
      }
    })
  )

  it.effect("keeps both in memory, and refuses a path that is not a folder", () =>
    Effect.gen(function* () {
      const { intents, place } = yield* Effect.provide(stores, accountLayer(options, "memory"))
      assert.isDefined(intents)
      assert.isUndefined(place)
      const error = yield* Effect.flip(Effect.provide(stores, accountLayer(options, " ")))
      assert.strictEqual(error.option, "stateDirectory")
    })
  )
})
