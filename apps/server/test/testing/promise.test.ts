import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { inspect } from "node:util"
import { Program } from "@berthkit/testing/Program"
import { startStopwatch } from "@berthkit/testing/stopwatch"
import { afterAll, afterEach, assert, describe, expect, it, vi } from "vitest"
import { controlTypes } from "../../scripts/controlTypes.ts"
import { CallsDiffer, MockRefused, ServerClosed, startServer, type World } from "../../src/testing/promise.ts"
import { nodeOf } from "../http/service.ts"

const server = await startServer()
afterAll(() => server.close())

/** A request to the service as the account of a world; returns status and data. */
const send = async ({ accessToken, apiKey, baseUrl }: World, method: string, path: string, body?: unknown) => {
  const reply = await fetch(`${baseUrl}/myaccount/api/v1${path}?apikey=${apiKey}`, {
    method,
    // With fake timers, `fetch` waits for an open connection until that connection times out, so do not keep it open.
    headers: { authorization: `Bearer ${accessToken}`, "content-type": "application/json", connection: "close" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  return { status: reply.status, data: ((await reply.json()) as { readonly data: any }).data }
}

const create = async (world: World, name: string): Promise<number> =>
  (await send(world, "POST", "/nodes/", nodeOf(name))).data.id

const statusOf = async (world: World, id: number): Promise<string> =>
  (await send(world, "GET", `/nodes/${id}/`)).data.status

describe("a world of a test without Effect", () => {
  it("stands still until the test moves its clock", async () => {
    await using world = await server.makeWorld({ provisioning: "10 seconds" })
    const id = await create(world, "web")
    expect(await world.now()).toEqual(new Date("2026-01-01T00:00:00.000Z"))
    expect(await world.advance("9s")).toEqual(new Date("2026-01-01T00:00:09.000Z"))
    expect(await statusOf(world, id)).toBe("created")
    const events = await world.advanceToNextEvent()
    expect(events).toEqual([{ kind: "provisioning-ends", at: "2026-01-01T00:00:10.000Z", nodeId: id }])
    expect(await statusOf(world, id)).toBe("running")
    const before = await world.setClock("x60")
    await expect.poll(async () => (await world.now()) > before).toBe(true)
  })

  it("has a rate limit that the test changes", async () => {
    await using world = await server.makeWorld({ rateLimit: { limit: 5 } })
    await send(world, "GET", "/nodes/")
    const { allowance } = await world.setRateLimit({ limit: 2 })
    expect(allowance).toMatchObject({ limit: 2, remaining: 1, window: "3600000 millis", algorithm: "fixed-window" })
    const statuses = [await send(world, "GET", "/nodes/"), await send(world, "GET", "/nodes/")].map((r) => r.status)
    expect(statuses).toEqual([200, 429])
  })

  it("has faults that are armed, counted and disarmed", async () => {
    await using world = await server.makeWorld()
    await world.arm([{ fault: "status", status: 503, times: 1, scope: { operation: "nodes.list" } }])
    const statuses = [await send(world, "GET", "/nodes/"), await send(world, "GET", "/nodes/")].map((r) => r.status)
    expect(statuses).toEqual([503, 200])
    expect(await world.faults()).toMatchObject([{ fault: "status", status: 503, seen: 2, fired: 1 }])
    await world.disarm()
    expect(await world.faults()).toEqual([])
  })

  it("shows its requests, as far as they are asked for, and forgets them", async () => {
    await using world = await server.makeWorld()
    await create(world, "web")
    await send(world, "GET", "/nodes/")
    expect(await world.journal({ operation: "nodes.list", limit: undefined })).toMatchObject([{ seq: 2, status: 200 }])
    await world.forget()
    expect(await world.journal()).toEqual([])
  })

  it("verifies the requests, and rejects with the nearest to the missing one", async () => {
    await using world = await server.makeWorld()
    await create(world, "web")
    await world.verify({ expected: [{ operation: "nodes.create", count: 1 }], noOthers: true })
    const differ = await world
      .verify({ expected: [{ operation: "nodes.create", body: { name: "wbe" } }] })
      .catch((e) => e)
    assert(differ instanceof CallsDiffer)
    expect(differ.name).toBe("CallsDiffer")
    expect(differ.message).toContain('body.name is "web", expected "wbe"')
    expect(differ.verdict.mismatches).toHaveLength(1)
    expect(differ.stack).toContain("promise.test.ts")
  })

  it("lists its nodes, forces them, and saves images", async () => {
    await using world = await server.makeWorld({ scenario: "small" })
    const [, second] = await world.nodes({ count: 2 })
    assert(second !== undefined)
    expect(await world.forceNode(second.id, { status: "power-off", locked: true })).toMatchObject({ locked: true })
    expect(await statusOf(world, second.id)).toBe("power-off")
    expect(await world.saveImage({ name: "golden", nodeId: second.id })).toMatchObject({ name: "golden" })
    expect(await world.summary()).toMatchObject({ id: world.id, nodes: 5, savedImages: 3 })
  })

  it("is taken as a value, put into another one, and reset", async () => {
    await using world = await server.makeWorld()
    await using other = await server.makeWorld({ seed: 7 })
    await create(world, "web")
    await other.restore(await world.snapshot())
    expect((await other.nodes()).map(({ name }) => name)).toEqual(["web"])
    await other.reset()
    expect(await other.nodes()).toEqual([])
  })

  it("shows its credentials to no log", async () => {
    await using world = await server.makeWorld({ apiKey: "a-key-of-mine", accessToken: "a-token-of-mine" })
    expect([world.apiKey, world.accessToken]).toEqual(["a-key-of-mine", "a-token-of-mine"])
    for (const text of [inspect(world), JSON.stringify(world), String(world)]) expect(text).not.toContain("of-mine")
  })

  it("is copied with its credentials, as a fixture adds to it", async () => {
    await using world = await server.makeWorld({ apiKey: "a-key-of-mine", accessToken: "a-token-of-mine" })
    const fixture = { ...world, purpose: "billing" }
    expect([fixture.apiKey, fixture.accessToken]).toEqual(["a-key-of-mine", "a-token-of-mine"])
    expect(await fixture.nodes()).toEqual([])
  })

  it("explains a failed test even after it has ended, and then refuses everything else", async () => {
    const world = await server.makeWorld({ seed: 7 })
    await world.arm([{ fault: "html-error" }])
    await send(world, "GET", "/nodes/").catch(() => {})
    expect(await world.explain()).toMatch(/seed 7\.\nArmed: PUT .*html-error.*\nRequests, 1:\n.* GET /)
    await world.close()
    await world.close()
    expect(await world.explain()).toMatch(/seed 7\.\nIt has ended\.\nRequests, 1:\n.* GET /)
    expect(await world.journal()).toHaveLength(1)
    await expect(world.now()).rejects.toThrow(/^World w\d+ has ended\.$/)
  })
})

describe("what is refused", () => {
  const wrong: ReadonlyArray<readonly [title: string, act: () => Promise<unknown>, status: number, message: string]> = [
    [
      "an option of the server",
      () => startServer({ seeed: 7 } as never),
      422,
      "seeed is not valid.\n  seeed: There is no"
    ],
    [
      "an option of a world",
      () => server.makeWorld({ rateLimit: { limit: 0 } }),
      422,
      "  rateLimit.limit: Expected a value"
    ],
    ["credentials in use", () => server.makeWorld({ apiKey: "berth-key" }), 409, ""]
  ]
  for (const [title, act, status, message] of wrong) {
    it(`is an error with the service's sentence: ${title}`, async () => {
      const error = await act().catch((error: unknown) => error)
      assert(error instanceof MockRefused)
      expect(error).toMatchObject({ name: "MockRefused", status, message: expect.stringContaining(message) })
    })
  }

  it("is an error with the service's sentence: whatever is asked of a world", async () => {
    await using world = await server.makeWorld()
    for (const act of [
      () => world.advance("10 parsecs"),
      () => world.setClock("backwards"),
      () => world.setRateLimit({ limit: 0 }),
      () => world.arm([{ fault: "no-such-fault" } as never]),
      () => world.forceNode(7, { locked: true }),
      () => world.journal({ limit: 0 }),
      () => world.verify({ expected: [{ opration: "nodes.list" } as never] }),
      () => world.restore({ format: "none" })
    ]) {
      await expect(act()).rejects.toThrow(MockRefused)
    }
  })
})

describe("a server of a test without Effect", () => {
  it("gives its options to each world without its own", async () => {
    await using other = await startServer({ provisioning: "1 minute", scenario: "small" })
    await using world = await other.makeWorld({ scenario: "empty" })
    await create(world, "web")
    expect(await world.advanceToNextEvent()).toMatchObject([{ at: "2026-01-01T00:01:00.000Z" }])
  })

  it("takes an option that is undefined for one that is absent", async () => {
    await using other = await startServer({ seed: 7, scenario: "small", clock: undefined })
    await using world = await other.makeWorld({ clock: undefined, seed: undefined, scenario: undefined })
    expect(await world.summary()).toMatchObject({ seed: 7, clock: "frozen", nodes: 5 })
  })

  it("behaves as a profile has it, in every world", async () => {
    const behaviour = { envelopes: {}, records: {}, failures: {}, paging: { defaultSize: 3 }, images: {} }
    const observed = { ...behaviour, statuses: { running: "ACTIVE" }, window: {} }
    const folder = mkdtempSync(join(tmpdir(), "berth-profile-"))
    const path = join(folder, "learned.json")
    writeFileSync(path, JSON.stringify({ format: "berth-profile/1", exchanges: 1, behaviour: observed, findings: [] }))
    await using other = await startServer({ profile: path, scenario: "small" })
    await using world = await other.makeWorld()
    const { data } = await send(world, "GET", "/nodes/")
    expect(data).toHaveLength(3)
    expect(data[0].status).toBe("ACTIVE")
    writeFileSync(path, "{}")
    await expect(startServer({ profile: path })).rejects.toThrow("it is not a profile of berth-server learn")
    rmSync(folder, { recursive: true })
    await expect(startServer({ profile: path })).rejects.toThrow("ENOENT")
  })

  it("refuses credentials, which are for each world alone", async () => {
    for (const name of ["apiKey", "accessToken"]) {
      const refused = startServer({ [name]: "mine" } as object)
      await expect(refused).rejects.toThrow(MockRefused)
      await expect(refused).rejects.toMatchObject({ errors: { [name]: [expect.stringContaining("makeWorld")] } })
    }
  })

  it("names the argument that is of another type", async () => {
    await using world = await server.makeWorld({ scenario: "small" })
    const itself: Record<string, unknown> = {}
    itself["self"] = itself
    const calls: ReadonlyArray<readonly [string, () => Promise<unknown>]> = [
      ["the options of startServer", () => startServer(null as never)],
      ["the options of makeWorld", () => server.makeWorld([] as never)],
      ["the faults of arm", () => world.arm(undefined as never)],
      ["the filter of journal", () => world.journal(null as never)],
      ["the page of nodes", () => world.nodes(null as never)],
      ["the id of forceNode", () => world.forceNode("" as never, { locked: true })],
      ["the id of forceNode", () => world.forceNode(Number.NaN, { locked: true })],
      ["the duration of advance", () => world.advance(undefined as never)],
      ["the duration of advance", () => world.advance(Number.NaN as never)],
      ["the mode of setClock", () => world.setClock({ times: Number.NaN } as never)],
      ["the rate limit of setRateLimit", () => world.setRateLimit(undefined as never)],
      ["the expectation of verify", () => world.verify(undefined as never)],
      ["the change of forceNode", () => world.forceNode(1, null as never)],
      ["the order of saveImage", () => world.saveImage([] as never)],
      ["the snapshot of restore", () => world.restore(world.snapshot() as never)],
      // Values for which `JSON.stringify` would throw its own error, or which it would change.
      ["the options of makeWorld.seed", () => server.makeWorld({ seed: 1n as never })],
      ["the options of makeWorld.seed", () => server.makeWorld({ seed: Number.NaN })],
      ["the options of startServer.clock", () => startServer({ clock: (() => "real") as never })],
      ["the faults of arm.1", () => world.arm([{ fault: "hang" }, undefined as never])],
      ["the change of forceNode.status", () => world.forceNode(1, { status: Symbol("running") as never })],
      ["the expectation of verify.expected.0.body", () => world.verify({ expected: [{ body: itself as never }] })],
      // Longer than any request to the control plane may be.
      ["the options of makeWorld.apiKey", () => server.makeWorld({ apiKey: "x".repeat(1_048_577) })],
      ["the faults of arm.0.message", () => world.arm([{ fault: "status", message: "ü".repeat(524_289) }])],
      ["the change of the clock.advance", () => world.advance("1".repeat(1_048_577))],
      ["the filter of journal.method", () => world.journal({ method: "x".repeat(8_192) })]
    ]
    for (const [name, call] of calls) {
      const failed = await call().catch((error: unknown) => error)
      expect(failed).toBeInstanceOf(TypeError)
      expect(String(failed)).toContain(name)
    }
  })

  it("is closed once, with its worlds and their connections", async () => {
    const other = await startServer()
    const world = await other.makeWorld()
    await world.arm([{ fault: "hang" }])
    const hanging = send(world, "GET", "/nodes/")
    await expect.poll(() => world.journal()).toHaveLength(1)
    await Promise.all([other.close(), other.close(), expect(hanging).rejects.toThrow()])
    await world.close()
    await expect(world.now()).rejects.toThrow(ServerClosed)
    await expect(other.makeWorld()).rejects.toThrow("The server of the test is closed.")
    await expect(fetch(other.baseUrl)).rejects.toThrow()
  })

  it("lets a process end that has forgotten to close it", async () => {
    await using program = Program.ofSource(
      `
        import { startServer } from "@berthkit/server/testing/promise"
        const { makeWorld } = await startServer()
        const { baseUrl } = await makeWorld()
        const reply = await fetch(baseUrl + "/docs")
        // An unread body keeps any process alive.
        await reply.text()
        console.log(reply.status)
      `,
      { cwd: import.meta.dirname }
    )
    await program.printed(/^200\n/)
    const stopwatch = startStopwatch()
    expect(await program.succeeded()).toBe("200\n")
    // A connection that is kept open would keep the process alive for 5 s.
    stopwatch.expectBelow(3_000)
  })

  describe("whose test replaces what it runs on", () => {
    afterEach(() => {
      vi.useRealTimers()
      vi.unstubAllGlobals()
    })

    it("answers under fake timers", async () => {
      await using world = await server.makeWorld()
      vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "setImmediate", "Date", "performance"] })
      const id = await create(world, "web")
      await world.advance("2 seconds")
      expect(await statusOf(world, id)).toBe("running")
      const expected = Array.from({ length: 20 }, (_, index) => ({ path: "*".repeat(index + 1) }))
      await world.verify({ expected })
    })

    it("is driven without the `fetch` of the test", async () => {
      await using world = await server.makeWorld()
      vi.stubGlobal("fetch", () => Promise.reject(new Error("no network in this test")))
      expect(await world.advance("1h")).toEqual(new Date("2026-01-01T01:00:00.000Z"))
    })
  })
})

const folder = join(import.meta.dirname, "../../src/testing/promise")

/** The declarations that tests see: those of the control plane are printed when the package is made. */
const declarations = readdirSync(folder).map((name) =>
  name === "ControlTypes.ts" ? controlTypes() : readFileSync(join(folder, name), "utf8")
)

it("its types need no library: what a test writes and gets imports nothing else", () => {
  const imported = declarations.flatMap((text) => Array.from(text.matchAll(/ from "([^"]+)"/g), ([, from]) => from))
  expect(imported).not.toEqual([])
  for (const from of imported) expect(from).toMatch(/^\.\/\w+\.ts$/)
})

it("each description in its printed types begins a line: the compiler drops one behind a brace", () => {
  const described = controlTypes()
    .split("\n")
    .filter((line) => line.includes("/** "))
  expect(described.length).toBeGreaterThan(50)
  for (const line of described) expect(line).toMatch(/^\/\*\* /)
})

it("the types of the control plane are printed, all of them", () => {
  const namesIn = (text: string) => Array.from(text.matchAll(/^export (?:type|interface) (\w+)/gm), ([, name]) => name)
  const printed = namesIn(controlTypes())
  const names = namesIn(readFileSync(join(folder, "ControlTypes.ts"), "utf8"))
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name) => !printed.includes(name))).toEqual([])
})
