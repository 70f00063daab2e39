import { type ClientOptions, createClient, InvalidOption, StateUnavailable } from "@berthkit/core/promise"
import { Program } from "@berthkit/testing/Program"
import { afterEach, assert, describe, it, vi } from "@effect/vitest"
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import type { RequestListener } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { accessToken, apiKey, bareService, mockService, rejection } from "./Service.ts"

const spec = { name: "web", plan: "P", image: "I" }
const envelope = (data: unknown) => JSON.stringify({ message: "Success", code: 200, data, errors: {} })

/** A service that makes nodes, and the number of nodes that it has made. */
const maker = () => {
  const nodes: Array<object> = []
  const listener: RequestListener = async (request, response) => {
    response.setHeader("date", new Date().toUTCString())
    const { pathname, searchParams } = new URL(request.url!, "http://berth.test")
    if (request.method === "POST") {
      const { name, plan } = JSON.parse(await text(request))
      const node = { id: nodes.length + 41, name, plan, created_at: new Date().toISOString(), status: "running" }
      nodes.push(node)
      response.end(envelope(node))
      return
    }
    const id = /nodes\/(\d+)/.exec(pathname)?.[1]
    const first = Number(searchParams.get("page_no") ?? 1) <= 1
    response.end(envelope(id === undefined ? (first ? nodes : []) : nodes[Number(id) - 41]))
  }
  return { listener, nodes }
}

/** A folder for one test. */
const folderOf = () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-state-"))
  chmodSync(folder, 0o700)
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The folder of the only account. Next to it is the log of changes, which all accounts of the service share. */
const accountIn = (folder: string) => {
  const isLog = (hash: string) => readdirSync(join(folder, "accounts", hash)).join() === "records"
  const [hash, ...others] = readdirSync(join(folder, "accounts")).filter((each) => !isLog(each))
  assert.deepStrictEqual(others, [])
  assert.match(hash!, /^[0-9a-f]{32}$/)
  return join(folder, "accounts", hash!)
}

/** The warnings on stderr while `use` runs. */
const warningsOf = async (use: () => Promise<void>): Promise<ReadonlyArray<string>> => {
  const stderr = vi.spyOn(console, "error").mockImplementation(() => {})
  try {
    await use()
    return stderr.mock.calls.map((line) => line.join(" "))
  } finally {
    stderr.mockRestore()
  }
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe("a create with a key", () => {
  it("is refused before anything is sent where no state directory would keep the key", async () => {
    await using service = await bareService(() => assert.fail("sent"), {})
    const error = await rejection(service.client.nodes.create(spec, { key: "order-7" }))
    assert.instanceOf(error, InvalidOption)
    assert.strictEqual(error.option, "key")
    assert.include(error.message, "stateDirectory")
  })

  it("makes one node in a client that keeps its keys in memory, which another client does not know of", async () => {
    const { listener, nodes } = maker()
    const options: Partial<ClientOptions> = { stateDirectory: "memory" }
    await using service = await bareService(listener, options)
    const first = await service.client.nodes.create(spec, { key: "order-7" })
    const again = await service.client.nodes.create(spec, { key: "order-7" })
    assert.deepStrictEqual([first.outcome, again.outcome], ["created", "adopted"])
    assert.strictEqual(again.node.id, first.node.id)
    assert.lengthOf(nodes, 1)
    const other = createClient({ baseUrl: service.baseUrl, apiKey, accessToken, ...options })
    assert.strictEqual((await other.nodes.create(spec, { key: "order-7" })).outcome, "created")
    assert.lengthOf(nodes, 2)
    await other.close()
  })

  it("makes one node for all clients with the same folder, laid out as that of `berth`", async () => {
    const { listener, nodes } = maker()
    using temporary = folderOf()
    const { folder } = temporary
    await using service = await bareService(listener, { stateDirectory: folder })
    const first = await service.client.nodes.create(spec, { key: "order-7" })
    await service.client.close()
    const later = createClient({ baseUrl: service.baseUrl, apiKey, accessToken, stateDirectory: folder })
    const again = await later.nodes.create(spec, { key: "order-7" })
    await later.close()
    assert.deepStrictEqual([first.outcome, again.outcome], ["created", "adopted"])
    assert.lengthOf(nodes, 1)
    const account = accountIn(folder)
    const settled = join(account, "creates", "settled")
    const [period] = readdirSync(settled)
    assert.include(JSON.parse(readFileSync(join(settled, period!, "order-7.json"), "utf8")), { key: "order-7" })
    assert.isTrue(existsSync(join(account, "allowance.json")))
  })

  it("makes one node although the process that asked for it was killed before the reply", async () => {
    const { listener, nodes } = maker()
    using temporary = folderOf()
    const { folder } = temporary
    const made = Promise.withResolvers<void>()
    await using service = await bareService(async (request, response) => {
      if (request.method !== "POST" || nodes.length > 0) return listener(request, response)
      const { name, plan } = JSON.parse(await text(request))
      nodes.push({ id: 41, name, plan, created_at: new Date().toISOString(), status: "running" })
      made.resolve()
    })
    const options = { baseUrl: service.baseUrl, apiKey, accessToken, stateDirectory: folder }
    const program = `
      import { createClient } from "@berthkit/core/promise"
      await createClient(${JSON.stringify(options)}).nodes.create(${JSON.stringify(spec)}, { key: "order-7" })
    `
    await using first = Program.ofSource(program, { cwd: import.meta.dirname })
    await made.promise
    await first.kill()
    const client = createClient(options)
    const { node, outcome } = await client.nodes.create(spec, { key: "order-7" })
    await client.close()
    assert.deepStrictEqual([outcome, node.id, nodes.length], ["adopted", 41, 1])
  })

  it("fails before it is sent if the folder cannot be written; without a key, prints one warning", async () => {
    const { listener, nodes } = maker()
    using temporary = folderOf()
    const file = join(temporary.folder, "file")
    writeFileSync(file, "")
    const warnings = await warningsOf(async () => {
      await using service = await bareService(listener, { stateDirectory: join(file, "state") })
      const { create } = service.client.nodes
      const error = await rejection(create(spec, { key: "order-7" }))
      assert.instanceOf(error, StateUnavailable)
      assert.deepStrictEqual([error.code, error.retryable], ["ENOTDIR", false])
      assert.include(error.message, "a part of the path is a file and no folder (ENOTDIR)")
      assert.lengthOf(nodes, 0)
      for (let i = 0; i < 2; i++) assert.strictEqual((await create(spec)).outcome, "created")
    })
    assert.lengthOf(
      warnings.filter((line) => line.includes("Creates are not recorded")),
      1
    )
    assert.lengthOf(
      warnings.filter((line) => line.includes("allowance")),
      1
    )
  })
})

describe('the state directory "auto"', () => {
  it("is that of `berth`, with the file for the allowance that the environment names", async () => {
    const { listener } = maker()
    using temporary = folderOf()
    const { folder } = temporary
    vi.stubEnv("XDG_STATE_HOME", folder)
    const elsewhere = join(folder, "elsewhere.json")
    for (const [file, there] of [
      ["", () => join(accountIn(join(folder, "berth")), "allowance.json")],
      [elsewhere, () => elsewhere]
    ] as const) {
      vi.stubEnv("BERTH_ALLOWANCE_FILE", file)
      await using service = await bareService(
        (request, response) => {
          response.setHeader("ratelimit-limit", "100").setHeader("ratelimit-remaining", "99")
          response.setHeader("ratelimit-reset", "3600")
          return listener(request, response)
        },
        { stateDirectory: "auto" }
      )
      await service.client.nodes.create(spec, { key: "order-7" })
      await service.client.close()
      assert.isTrue(existsSync(there()))
      rmSync(join(folder, "berth"), { recursive: true, force: true })
    }
  })

  it("shares nothing of the allowance where the environment has `off`", async () => {
    const { listener } = maker()
    using temporary = folderOf()
    vi.stubEnv("XDG_STATE_HOME", temporary.folder)
    vi.stubEnv("BERTH_ALLOWANCE_FILE", "off")
    await using service = await bareService(listener, { stateDirectory: "auto" })
    await service.client.nodes.create(spec, { key: "order-7" })
    await service.client.close()
    assert.deepStrictEqual(readdirSync(accountIn(join(temporary.folder, "berth"))), ["creates"])
  })

  it("needs a home folder only for keys, and otherwise prints one warning without it", async () => {
    const { listener, nodes } = maker()
    for (const name of ["XDG_STATE_HOME", "HOME", "BERTH_ALLOWANCE_FILE"]) vi.stubEnv(name, undefined)
    const warnings = await warningsOf(async () => {
      await using service = await bareService(listener, { stateDirectory: "auto" })
      const { create } = service.client.nodes
      const error = await rejection(create(spec, { key: "order-7" }))
      assert.instanceOf(error, StateUnavailable)
      assert.deepStrictEqual([error.code, error.path], [null, null])
      assert.include(error.message, "there is no state folder: HOME is not set")
      assert.lengthOf(nodes, 0)
      for (let i = 0; i < 2; i++) assert.strictEqual((await create(spec)).outcome, "created")
    })
    assert.lengthOf(warnings, 1)
    assert.include(warnings[0], "HOME is not set")
  })
})

describe("a state directory", () => {
  it("tells the clients that share it how much of the allowance is left", async () => {
    using temporary = folderOf()
    const stateDirectory = temporary.folder
    await using service = await mockService(
      { rateLimit: { limit: 500, window: 3_600_000, algorithm: "fixed-window" } },
      { stateDirectory }
    )
    await service.client.images.saved()
    await service.client.close()
    const later = createClient(service.options)
    await rejection(later.nodes.get(0))
    // This client has sent nothing so far.
    await later.raw.request({ method: "GET", path: "/nodes/" }, { deadline: "10 seconds" })
    assert.propertyVal(await later.allowance.current(), "remaining", 498)
    await later.close()
  })

  for (const stateDirectory of ["", " ", 7, null, {}, new URL("file:///state")]) {
    it(`is not ${JSON.stringify(stateDirectory)}`, () => {
      try {
        createClient({ baseUrl: "https://service.test", apiKey, accessToken, stateDirectory: stateDirectory as string })
        assert.fail("a client was made")
      } catch (error) {
        assert.instanceOf(error, InvalidOption)
        assert.strictEqual(error.option, "stateDirectory")
      }
    })
  }
})
