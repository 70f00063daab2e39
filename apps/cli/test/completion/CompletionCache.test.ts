import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { berthFolder } from "@berthkit/core/client/AccountFolder"
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import {
  accountVariables,
  cachePath,
  profileNames,
  readCache,
  writeCache
} from "../../src/completion/CompletionCache.ts"

const folder = mkdtempSync(join(tmpdir(), "berth-completions-"))
afterAll(() => rmSync(folder, { recursive: true }))

const values = { nodes: [{ value: "web", description: "7, running" }] }

describe("the values that completions offer", () => {
  it("are there for the next key press, for the user alone", () => {
    const path = cachePath({ XDG_CACHE_HOME: folder }, {})!
    assert.isUndefined(readCache(path))
    writeCache(path, { writtenMillis: 5, values })
    assert.deepStrictEqual(readCache(path), { writtenMillis: 5, values })
    assert.strictEqual(statSync(path).mode & 0o777, 0o600)
  })

  it("are those of one account", () => {
    const env = { HOME: folder, BERTH_API_KEY: "k", BERTH_BASE_URL: "http://a", BERTH_PROFILE: "p" }
    const paths = [
      cachePath(env, {}),
      cachePath(env, { profile: "test" }),
      cachePath(env, { project: "7" }),
      cachePath(env, { location: "Delhi" }),
      ...accountVariables.map((name) => cachePath({ ...env, [name]: "b" }, {}))
    ]
    assert.lengthOf(new Set(paths), 4 + accountVariables.length)
    assert.includeMembers([...accountVariables], ["BERTH_PROJECT", "BERTH_LOCATION"])
  })

  it("are below berth's cache folder, and the profiles are those of its configuration, on every platform", () => {
    const env = {
      HOME: join(folder, "home"),
      USERPROFILE: join(folder, "profile"),
      APPDATA: join(folder, "roaming"),
      LOCALAPPDATA: join(folder, "local")
    }
    for (const platform of ["linux", "darwin", "win32"]) {
      const of = (kind: "cache" | "config") =>
        Effect.runSync(berthFolder((name) => Effect.succeed((env as Record<string, string>)[name]), platform, kind))
      assert.include(cachePath(env, {}, platform), `${of("cache")}/completions/`)
      mkdirSync(of("config"), { recursive: true })
      writeFileSync(`${of("config")}/profiles.json`, JSON.stringify({ profiles: { [platform]: { baseUrl: "" } } }))
      assert.deepStrictEqual(profileNames(env, platform), [{ value: platform, description: "" }])
    }
  })

  it.each([
    "",
    "{",
    "null",
    "[]",
    '{"writtenMillis":1}',
    '{"writtenMillis":1,"values":null}',
    '{"writtenMillis":"1","values":{}}',
    '{"writtenMillis":1,"values":{"nodes":{}}}',
    '{"writtenMillis":1,"values":{"nodes":"web"}}',
    '{"writtenMillis":1,"values":{"nodes":[null]}}',
    '{"writtenMillis":1,"values":{"nodes":[{"value":7,"description":""}]}}',
    '{"writtenMillis":1,"values":{"nodes":[{"value":"web"}]}}'
  ])("are none where their file is %s", (text) => {
    const path = join(folder, "damaged.json")
    writeFileSync(path, text)
    assert.isUndefined(readCache(path))
  })

  it("leave nothing behind where they cannot be written", () => {
    const place = join(folder, "taken")
    mkdirSync(join(place, "nodes.json", "below"), { recursive: true })
    writeCache(join(place, "nodes.json"), { writtenMillis: 5, values })
    assert.deepStrictEqual(readdirSync(place), ["nodes.json"])
  })

  it("are names of profiles as they are in the file, whatever else it holds", () => {
    const profiles = (text: string) => {
      mkdirSync(join(folder, "berth"), { recursive: true })
      writeFileSync(join(folder, "berth", "profiles.json"), text)
      return profileNames({ XDG_CONFIG_HOME: folder })
    }
    assert.deepStrictEqual(profiles('{"profiles":{"a":{"baseUrl":"http://a"},"b":{}}}'), [
      { value: "a", description: "http://a" },
      { value: "b", description: "" }
    ])
    for (const text of ["", "{", "null", '{"profiles":null}', '{"profiles":{"a":null}}']) {
      assert.deepStrictEqual(profiles(text), [])
    }
  })
})
