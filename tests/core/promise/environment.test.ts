import { createClientFromEnv, InvalidOption } from "@berthkit/core/promise"
import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import { placeSettings } from "../../account.ts"
import { mockService } from "./Service.ts"

const good = { BERTH_BASE_URL: "https://service.test", BERTH_API_KEY: "k", BERTH_ACCESS_TOKEN: "t" }

const setAll = (variables: Readonly<Record<string, string | undefined>>) => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
}

const refusal = (options?: unknown): InvalidOption => {
  try {
    createClientFromEnv(options as never)
  } catch (error) {
    assert.instanceOf(error, InvalidOption)
    return error
  }
  return assert.fail("a client was made")
}

describe("a client from the environment", () => {
  afterEach(() => {
    vi.unstubAllEnvs()
    vi.unstubAllGlobals()
  })

  it("refuses a path that begins with ~, which only a shell replaces, in options and in the variable", () => {
    setAll(good)
    for (const [options, option] of [
      [{ stateDirectory: "~" }, "stateDirectory"],
      [{ stateDirectory: "~/.berth" }, "stateDirectory"],
      [{ stateDirectory: "~\\berth" }, "stateDirectory"],
      [{ stateDirectory: " ~ops/berth" }, "stateDirectory"],
      [{ stateDirectory: "" }, "stateDirectory"],
      [{ stateDirectory: " " }, "stateDirectory"]
    ] as const) {
      const error = refusal(options)
      assert.strictEqual(error.option, option)
      if (/~/.test(JSON.stringify(options))) assert.include(error.hint, "os.homedir()")
    }
    setAll({ BERTH_ALLOWANCE_FILE: "~/allowance.json" })
    const { hint, message } = refusal({ stateDirectory: "auto" })
    assert.match(message, /^The variable BERTH_ALLOWANCE_FILE is not usable: a path here does not begin with "~"/)
    assert.include(hint, "os.homedir()")
  })

  it("speaks for the account that the variables name", async () => {
    await using service = await mockService({ scenario: { fleet: 3 } })
    const { accessToken, apiKey, baseUrl } = service.options
    setAll({
      BERTH_BASE_URL: String(baseUrl),
      BERTH_API_KEY: apiKey,
      BERTH_ACCESS_TOKEN: accessToken,
      ...placeSettings
    })
    const client = createClientFromEnv({ deadline: "10 seconds" })
    assert.lengthOf(await client.nodes.list().toArray(), 3)
    await client.close()
  })

  it("reads no variable that an option stands for", async () => {
    setAll({ ...good, BERTH_BASE_URL: undefined })
    const client = createClientFromEnv({ baseUrl: "https://elsewhere.test" })
    await client.close()
  })

  it("sends no credential of the environment to another service than the environment names", async () => {
    setAll(good)
    const error = refusal({ baseUrl: "https://elsewhere.test", apiKey: "other" })
    assert.strictEqual(error.option, "baseUrl")
    assert.include(error.message, "belong to https://service.test")
    for (const options of [
      { baseUrl: "https://SERVICE.test:443/myaccount/api/v1" },
      { baseUrl: "https://elsewhere.test", apiKey: "other", accessToken: "own" }
    ]) {
      await createClientFromEnv(options).close()
    }
  })

  for (const name of Object.keys(good)) {
    for (const value of [undefined, " "]) {
      it(`is not made where ${name} is ${value === undefined ? "not set" : "blank"}: it is named`, () => {
        setAll({ ...good, [name]: value })
        const error = refusal()
        assert.strictEqual(error.option, name)
        assert.strictEqual(error.message, `The variable ${name} is not usable: it is not set.`)
        assert.strictEqual(error.operation, "createClientFromEnv")
      })
    }
  }

  it("names the variable that is not usable, and an option as an option", () => {
    setAll({ ...good, BERTH_BASE_URL: "service.test" })
    assert.strictEqual(refusal().option, "BERTH_BASE_URL")
    setAll({ ...good, BERTH_API_KEY: "with space" })
    assert.strictEqual(refusal().option, "BERTH_API_KEY")
    setAll(good)
    assert.strictEqual(refusal({ lane: "fast" }).option, "lane")
    assert.strictEqual(refusal({ apiKey: "with space" }).option, "apiKey")
    assert.strictEqual(refusal({ apikey: "k" }).option, "apikey")
    assert.strictEqual(refusal(null).option, "options")
  })

  it("reports a missing environment", () => {
    vi.stubGlobal("process", undefined)
    const { message, option } = refusal()
    vi.unstubAllGlobals()
    assert.strictEqual(option, "BERTH_BASE_URL")
    assert.include(message, "this runtime has no `process`")
  })
})
