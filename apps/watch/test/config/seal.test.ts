import { describe, expect, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { readSealKeys, seal, type SealKeys, unseal } from "../../src/config/seal.ts"

const key = (fill: number) => Buffer.alloc(32, fill).toString("base64")

const keysOf = (variables: Readonly<Record<string, string>>) => readSealKeys((name) => variables[name])

const keys = (current: string, old?: string): SealKeys =>
  Result.getOrThrow(
    keysOf({ BERTH_WATCH_SEAL_KEY: current, ...(old === undefined ? {} : { BERTH_WATCH_SEAL_KEY_OLD: old }) })
  )

const about = ["test", "acme", "https://api.example.com"]
const secret = Redacted.make("söme secret")

const opened = (...given: Parameters<typeof unseal>) => Result.map(unseal(...given), Redacted.value)

describe("a sealed secret", () => {
  it("opens with the key that sealed it, and is not the same twice", () => {
    const first = seal(keys(key(1)), about, secret)
    const second = seal(keys(key(1)), about, secret)
    expect(opened(keys(key(1)), about, first)).toEqual(Result.succeed("söme secret"))
    expect(opened(keys(key(1)), about, second)).toEqual(Result.succeed("söme secret"))
    expect(first.sealed).not.toBe(second.sealed)
    expect(Buffer.from(first.sealed, "base64").toString("latin1")).not.toContain("secret")
  })

  it("does not open when any of its bytes was changed, or some are missing", () => {
    const { keyId, sealed } = seal(keys(key(1)), about, secret)
    const bytes = Buffer.from(sealed, "base64")
    const changed = Array.from(bytes.keys(), (at) => {
      const other = Buffer.from(bytes)
      other[at]! ^= 1 << (at % 8)
      return other
    })
    const cut = Array.from(bytes.keys(), (length) => bytes.subarray(0, length))
    for (const each of [...changed, ...cut, Buffer.concat([bytes, Buffer.alloc(1)])]) {
      const found = opened(keys(key(1)), about, { keyId, sealed: each.toString("base64") })
      expect(found).toEqual(Result.fail(expect.stringMatching(/^The sealed credentials were changed/)))
    }
    const texts = Array.from(sealed, (_, at) => `${sealed.slice(0, at)}!${sealed.slice(at + 1)}`)
    for (const text of [...texts, `${sealed}\n`, ` ${sealed}`, sealed.replace(/=*$/, "") + "=A"]) {
      expect(Result.isFailure(opened(keys(key(1)), about, { keyId, sealed: text }))).toBe(true)
    }
  })

  it("opens for no other account and no other address", () => {
    const sealed = seal(keys(key(1)), about, secret)
    for (const other of [
      ["test", "acme2", about[2]!],
      ["test", "acme", "https://api.example.org"],
      ["test", `acme","https://api.example.com`],
      ["acme", about[2]!]
    ]) {
      expect(Result.isFailure(opened(keys(key(1)), other, sealed))).toBe(true)
    }
  })

  it("opens after its key has become an old one, and is then sealed under the new one", () => {
    const before = seal(keys(key(1)), about, secret)
    const neither = opened(keys(key(2)), about, before)
    expect(neither).toEqual(
      Result.fail(expect.stringMatching(/sealed with a key that is in neither BERTH_WATCH_SEAL_KEY/))
    )
    for (const both of [keys(key(2), key(1)), keys(`${key(2)}, ${key(1)}`), keys(key(2), `${key(3)},${key(1)}`)]) {
      expect(opened(both, about, before)).toEqual(Result.succeed("söme secret"))
      const after = seal(both, about, secret)
      expect(after.keyId).not.toBe(before.keyId)
      expect(opened(keys(key(2)), about, after)).toEqual(Result.succeed("söme secret"))
    }
  })

  it("does not open under a key that only claims to be the one", () => {
    const sealed = seal(keys(key(1)), about, secret)
    const other = seal(keys(key(2)), about, secret)
    expect(Result.isFailure(opened(keys(key(2)), about, { ...sealed, keyId: other.keyId }))).toBe(true)
  })
})

describe("the keys of the environment", () => {
  it("are 32 bytes in base64, and never shown", () => {
    expect(keysOf({})).toEqual(Result.fail("BERTH_WATCH_SEAL_KEY is not set."))
    expect(keysOf({ BERTH_WATCH_SEAL_KEY_OLD: key(1) })).toEqual(Result.fail("BERTH_WATCH_SEAL_KEY is not set."))
    const wrong = [
      Buffer.alloc(31).toString("base64"),
      Buffer.alloc(33).toString("base64"),
      key(1).slice(0, -1),
      "x",
      `${key(1)},`
    ]
    for (const text of wrong) {
      for (const name of ["BERTH_WATCH_SEAL_KEY", "BERTH_WATCH_SEAL_KEY_OLD"]) {
        const found = keysOf({ BERTH_WATCH_SEAL_KEY: key(1), [name]: text })
        expect(found).toEqual(Result.fail(expect.stringMatching(new RegExp(`^${name} has to be 32 bytes in base64`))))
        expect(JSON.stringify(found)).not.toContain(text.slice(0, 20) || "-")
      }
    }
    expect(JSON.stringify(keys(key(7), key(8)))).not.toContain(key(7).slice(0, 8))
  })
})
