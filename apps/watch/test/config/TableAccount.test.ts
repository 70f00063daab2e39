import { describe, expect, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { readSealKeys } from "../../src/config/seal.ts"
import { resolveAccount, sealCredentials, writeCredentials, writeOptions } from "../../src/config/TableAccount.ts"

const options = { allowHttp: false, intervalMillis: 5000, share: 0.1, graceMillis: 1, holdMillis: 2 }

const account = (over: { credentials?: string; baseUrl?: string; options?: string; name?: string } = {}) => ({
  name: "acme",
  baseUrl: "https://api.example.com",
  credentials: writeCredentials({ apiKey: { env: "ACME_KEY" }, accessToken: { file: "/run/acme" } }),
  options: writeOptions(options),
  ...over
})

const sealKey = Buffer.alloc(32, 1).toString("base64")

const around = (over: Readonly<Record<string, string>> = {}) => {
  const variables: Readonly<Record<string, string>> = { ACME_KEY: " key ", BERTH_WATCH_SEAL_KEY: sealKey, ...over }
  return {
    variable: (name: string) => variables[name],
    file: (path: string) => {
      if (path !== "/run/acme") throw new Error("no such file")
      return "token\n"
    }
  }
}

const shown = (...given: Parameters<typeof resolveAccount>) =>
  Result.map(resolveAccount(...given), ({ connection, ...rest }) => ({
    ...rest,
    baseUrl: connection.baseUrl,
    apiKey: Redacted.value(connection.credentials.apiKey),
    accessToken: Redacted.value(connection.credentials.accessToken)
  }))

const whole = {
  name: "acme",
  baseUrl: "https://api.example.com",
  apiKey: "key",
  accessToken: "token",
  intervalMillis: 5000,
  share: 0.1,
  graceMillis: 1,
  holdMillis: 2,
  budget: null,
  forgottenMillis: null
}

describe("an account of the table", () => {
  it("has its credentials from variables and files", () => {
    expect(shown(account(), around())).toEqual(Result.succeed(whole))
  })

  it("has its credentials sealed, for its own name and address", () => {
    const keys = Result.getOrThrow(readSealKeys(around().variable))
    const credentials = writeCredentials(
      sealCredentials(keys, account(), { apiKey: Redacted.make("key"), accessToken: Redacted.make("token") })
    )
    expect(shown(account({ credentials }), around())).toEqual(Result.succeed(whole))
    const changed = Result.fail(expect.stringMatching(/^The sealed credentials were changed, or sealed for another/))
    expect(shown(account({ credentials, name: "other" }), around())).toEqual(changed)
    expect(shown(account({ credentials, baseUrl: "https://api.example.org" }), around())).toEqual(changed)
  })

  it("is one sentence about what is missing where it cannot be watched", () => {
    const sentence = (...given: Parameters<typeof resolveAccount>) => Result.flip(resolveAccount(...given))
    const at = (reference: { env: string } | { file: string }) =>
      account({ credentials: writeCredentials({ apiKey: reference, accessToken: { file: "/run/acme" } }) })
    expect(sentence(at({ env: "NONE" }), around())).toEqual(Result.succeed("NONE is not set."))
    expect(sentence(at({ env: "ACME_KEY" }), around({ ACME_KEY: " " }))).toEqual(Result.succeed("ACME_KEY is empty."))
    expect(sentence(at({ file: "/none" }), around())).toEqual(Result.succeed("/none cannot be read."))
    for (const env of ["BERTH_WATCH_SEAL_KEY", "BERTH_WATCH_SEAL_KEY_OLD", "BERTH_WATCH_TOKEN"]) {
      expect(sentence(at({ env }), around({ [env]: "value" }))).toEqual(
        Result.succeed("Variables that begin with BERTH_WATCH_ are the daemon's own.")
      )
    }
    expect(sentence(account(), around({ ACME_KEY: "a b" }))).toEqual(
      Result.succeed("The API key is not usable: expected printable ASCII characters without spaces.")
    )
    expect(sentence(account({ baseUrl: "http://api.example.com" }), around())).toEqual(
      Result.succeed(expect.stringMatching(/^The base URL is plain http.*--allow-http\.$/))
    )
    for (const over of [{ credentials: "{}" }, { credentials: "no JSON" }, { options: `{"share":"1"}` }]) {
      expect(sentence(account(over), around())).toEqual(Result.succeed(expect.stringMatching(/cannot be read/)))
    }
  })
})
