import type { ServerResponse } from "node:http"
import { HttpService } from "@berthkit/testing/HttpService"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { describe, it } from "vitest"
import { TestServer } from "@berthkit/server/testing"
import { inDialect, settingsOf } from "../account.ts"
import { Daemon } from "./Daemon.ts"

const credentials = { BERTH_API_KEY: "berth-key", BERTH_ACCESS_TOKEN: "berth-token" }

const run = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) =>
  Effect.promise(() => new Daemon(args, env).finished())

layer(TestServer.layer(inDialect({ scenario: "small" })), { excludeTestServices: true })("berth-watch once", (it) => {
  it.effect("prints a baseline event and each node there is, and ends with 0", () =>
    Effect.gen(function* () {
      const { BERTH_BASE_URL, ...account } = settingsOf(yield* TestServer)
      const { code, stderr, stdout } = yield* run(["once", "--base-url", BERTH_BASE_URL], {
        ...account,
        BERTH_ACCOUNT: "acme"
      })
      expect(stderr).toEqual([])
      const [baseline, ...discovered] = stdout.map((line) => JSON.parse(line))
      expect(baseline).toMatchObject({ type: "berth.watch.baseline", source: "/accounts/acme", data: { count: 5 } })
      expect(discovered.map(({ data }) => data.after.name)).toEqual(["web-1", "web-2", "database", "build", "backup"])
      expect(code).toBe(0)
    })
  )

  it.effect("with refused credentials prints no event, reports why and ends with 3", () =>
    Effect.gen(function* () {
      const settings = settingsOf(yield* TestServer)
      const { code, stderr, stdout } = yield* run(["once"], { ...settings, BERTH_ACCESS_TOKEN: "wrong" })
      expect({ code, stdout, lines: stderr.length }).toEqual({ code: 3, stdout: [], lines: 2 })
    })
  )
})

describe("text from the service", () => {
  it("reaches stderr without its control characters", async () => {
    const hostile = "\u001b[2J\u001b]0;owned\u0007\r\nfine\u202e"
    await using service = await HttpService.listen((_, response) => {
      response.writeHead(401, { "content-type": "application/json" })
      response.end(JSON.stringify({ message: hostile, code: 401, data: {}, errors: { detail: [hostile] } }))
    })
    const { code, stderr } = await new Daemon(["once", "--base-url", service.url], credentials).finished()
    expect(code).toBe(3)
    expect(stderr).toHaveLength(2)
    expect(stderr[0]).toContain("\\x1b[2J")
    expect(stderr.join("")).not.toMatch(/[\p{Cc}\u202e]/u)
  })
})

describe("berth-watch once with records that cannot be read", () => {
  const listing =
    (data: ReadonlyArray<object>, around: object = {}) =>
    (_: unknown, response: ServerResponse) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify({ message: "Success", code: 200, data, errors: {}, ...around }))
    }
  const label = { id: 5, label: "web" }

  it("prints no baseline of an account that it could not read, and ends with 7", async () => {
    await using service = await HttpService.listen(listing([label, { id: 6, label: "db" }]))
    const { code, stderr, stdout } = await new Daemon(["once", "--base-url", service.url], credentials).finished()
    expect({ code, stdout }).toEqual({ code: 7, stdout: [] })
    expect(stderr.join("\n")).toContain("2 records of the list cannot be read")
  })

  it("says how many it left out", async () => {
    await using service = await HttpService.listen(listing([label, { id: 6, name: "db", status: "running" }]))
    const { code, stderr, stdout } = await new Daemon(["once", "--base-url", service.url], credentials).finished()
    expect(code).toBe(0)
    expect(stdout).toHaveLength(2)
    expect(stderr.join("\n")).toMatch(/1 record of the list cannot be read: .*\. Nothing is reported about it\./)
    expect(stderr).toHaveLength(2)
  })

  it("says that there may be more nodes if the service ignores the page number and counts nothing", async () => {
    const nodes = [5, 6].map((id) => ({ id, name: `web-${id}`, status: "running" }))
    const stderrWith = async (around: object) => {
      await using service = await HttpService.listen(listing(nodes, around))
      const { code, stderr, stdout } = await new Daemon(["once", "--base-url", service.url], credentials).finished()
      expect({ code, events: stdout.length }).toEqual({ code: 0, events: 3 })
      return stderr.join("\n")
    }
    expect(await stderrWith({})).toContain("The list does not show where it ends: there may be more nodes.")
    expect(await stderrWith({ total_count: 2, total_page_number: 1 })).toBe("")
  })

  it("says that the service counts more nodes than it lists", async () => {
    const db = { id: 6, name: "db", status: "running" }
    const around = { total_count: 3, total_page_number: 1 }
    await using service = await HttpService.listen(listing([label, db], around))
    const { code, stderr, stdout } = await new Daemon(["once", "--base-url", service.url], credentials).finished()
    expect({ code, events: stdout.length }).toEqual({ code: 0, events: 2 })
    expect(stderr).toHaveLength(2)
    expect(stderr.join("\n")).toContain("The service counts 3 nodes and lists 2: there may be more nodes.")
  })
})

describe("berth-watch once without a service", () => {
  it("prints no event, reports why and ends with 7", async () => {
    const { code, stderr, stdout } = await new Daemon(
      ["once", "--base-url", "http://127.0.0.1:1"],
      credentials
    ).finished()
    expect({ code, stdout }).toEqual({ code: 7, stdout: [] })
    expect(stderr[0]).toMatch(/^berth-watch: The service could not be reached: /)
  })
})

describe("a wrong command line", () => {
  it.each([
    { args: [], line: "berth-watch needs a command." },
    { args: ["wach"], line: "berth-watch has no command wach." },
    {
      args: ["run", "--intervall", "3s"],
      line: "berth-watch run has no flag --intervall; did you mean --interval?"
    },
    {
      args: ["run", "--interval", "soon"],
      line: "berth-watch: --interval cannot be soon: expected a duration from 100ms to 1d, such as 90s, 5m or 1h30m."
    },
    {
      args: ["run", "--requests-per-hour", "5"],
      line: "berth-watch: --requests-per-hour cannot be 5: expected a whole number from 60."
    },
    { args: ["once", "--api-key=s3cr3t"], line: "berth-watch once has no flag --api-key: secrets" },
    { args: ["once", "--api-key", "s3cr3t"], line: "berth-watch once has no flag --api-key: secrets" },
    { args: ["once", "more"], line: "berth-watch once takes no further argument: more." },
    { args: ["once", "--base-url", "ftp://x"], line: "berth-watch: --base-url is not usable: " },
    { args: ["once", "--base-url", "http://127.0.0.1:1", "--account", "a b"], line: "berth-watch: The account name" }
  ])("$args is reported in at most two lines on stderr and ends with 2", async ({ args, line }) => {
    const { code, stderr, stdout } = await new Daemon(args, credentials).finished()
    expect({ code, stdout }).toEqual({ code: 2, stdout: [] })
    expect(stderr[0]!.slice(0, line.length)).toBe(line)
    expect(stderr.length).toBeLessThanOrEqual(2)
    expect(stderr.join("\n")).not.toContain("s3cr3t")
  })

  it.each([
    { name: "BERTH_BASE_URL", exits: 2 },
    { name: "BERTH_API_KEY", exits: 3 },
    { name: "BERTH_ACCESS_TOKEN", exits: 3 }
  ])("without $name names it and ends with $exits, as berth does", async ({ exits, name }) => {
    const all = { BERTH_BASE_URL: "http://127.0.0.1:1", ...credentials }
    for (const value of ["", " "]) {
      const { code, stderr } = await new Daemon(["once"], { ...all, [name]: value }).finished()
      expect({ code, line: stderr[0] }).toEqual({ code: exits, line: `berth-watch: ${name} is not set.` })
    }
  })

  it("with a key that cannot be one ends with 3, without showing it", async () => {
    const env = { BERTH_BASE_URL: "http://127.0.0.1:1", ...credentials, BERTH_API_KEY: "no\u0007key" }
    const { code, stderr } = await new Daemon(["once"], env).finished()
    expect(code).toBe(3)
    expect(stderr[0]).toMatch(/^berth-watch: BERTH_API_KEY is not usable: /)
    expect(stderr.join("")).not.toMatch(/no.*key/)
  })

  it("prints help on stdout on request", async () => {
    const { code, stderr, stdout } = await new Daemon(["run", "--help"], {}).finished()
    expect({ code, stderr }).toEqual({ code: 0, stderr: [] })
    expect(stdout.join("\n")).toContain("--fast-interval DURATION")
  })
})
