import { type Client, createClient, InvalidRequest, NodeNotFound, type NodeSpec } from "@berthkit/core/promise"
import { Program } from "@berthkit/testing/Program"
import { assert, describe, it, vi } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import type { RequestListener } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import { bareService, mockService, rejection } from "./Service.ts"

/** The spec of a node whose plan and image the service offers. */
const anySpec = async (client: Client, name: string): Promise<NodeSpec> => {
  const plans = await client.plans.list()
  const [offer] = plans.find(({ diskGb }) => diskGb !== 0)!.slugs
  return { name, plan: offer!.slug, image: offer!.image }
}

describe("the promise client", () => {
  it("leads a node through its life with plain values", async () => {
    await using service = await mockService({ clock: "real", provisioning: "20 millis", termination: "20 millis" })
    const { nodes } = service.client
    const spec = await anySpec(service.client, "web")

    const { node, outcome } = await nodes.create(spec)
    assert.strictEqual(outcome, "created")
    assert.strictEqual(node.status, "creating")
    assert.instanceOf(node.createdAt, Date)
    assert.strictEqual(typeof node.id, "number")

    const running = await nodes.awaitStatus(node.id, "running", { timeout: "30 seconds" })
    assert.strictEqual(running.status, "running")
    await nodes.setCommitment(node.id, "hourly_billing")
    assert.deepStrictEqual(
      (await Array.fromAsync(nodes.list())).map(({ id, name }) => ({ id, name })),
      [{ id: node.id, name: "web" }]
    )

    await nodes.delete(node.id)
    await nodes.awaitDeleted(node.id, { deadline: "30 seconds" })
    assert.instanceOf(await rejection(nodes.get(node.id)), NodeNotFound)
  })

  it("lists images and plans with filters", async () => {
    await using service = await mockService()
    const { images, plans } = service.client
    const series = await plans.list({ series: "C" })
    assert.isNotEmpty(series)
    for (const plan of series) assert.strictEqual(plan.series, "C")
    const large = await plans.list({ series: "C", minCpu: 4, minRam: 16 })
    assert.deepStrictEqual(
      large.map(({ plan }) => plan),
      series.filter(({ memoryMib, vcpus }) => vcpus! >= 4 && memoryMib! >= 16 * 1024).map(({ plan }) => plan)
    )
    assert.isBelow(large.length, series.length)
    const [only, ...others] = await plans.list({ plan: large[0]!.plan.toLowerCase() })
    assert.deepStrictEqual([only?.plan, others], [large[0]!.plan, []])
    assert.instanceOf(await rejection(plans.list({ minCpu: 1.5 })), InvalidRequest)
    const ubuntu = await images.list({ os: "ubuntu" })
    assert.isNotEmpty(ubuntu)
    for (const image of ubuntu) assert.strictEqual(image.os.name, "Ubuntu")
    assert.deepStrictEqual(await images.saved(), [])
  })

  it("reaches what the types do not cover", async () => {
    await using service = await mockService({ scenario: "small" })
    const reply = await service.client.raw.request({ method: "GET", path: "/nodes/", query: { per_page: "1" } })
    assert.strictEqual(reply.status, 200)
    assert.lengthOf(JSON.parse(reply.body).data, 1)
    assert.strictEqual(reply.headers["ratelimit-limit"], "1200")
  })

  it("adopts the node of a create whose reply is lost", async () => {
    const listed: Array<object> = []
    await using service = await bareService(async (request, response) => {
      if (request.method === "POST") {
        const { name, plan } = JSON.parse(await text(request))
        listed.push({ id: 41, name, plan, created_at: new Date().toISOString(), status: "created" })
        request.socket.destroy()
        return
      }
      const first = new URL(request.url!, "http://berth.test").searchParams.get("page_no") === "1"
      response.setHeader("date", new Date().toUTCString())
      response.end(JSON.stringify({ message: "Success", code: 200, data: first ? listed : [], errors: {} }))
    })
    const { node, outcome } = await service.client.nodes.create({ name: "web", plan: "P", image: "I" })
    assert.strictEqual(outcome, "adopted")
    assert.strictEqual(node.id, 41)
  })

  it("follows no redirect: its credentials go to one address only", async () => {
    const seen: Array<string> = []
    await using service = await bareService((request, response) => {
      seen.push(request.url!.split("?")[0]!)
      response.writeHead(302, { location: "/elsewhere" }).end()
    })
    const error = await rejection(service.client.nodes.get(7))
    assert.propertyVal(error, "_tag", "UnexpectedResponse")
    assert.deepStrictEqual(seen, ["/myaccount/api/v1/nodes/7/"])
  })

  it("sends with the `fetch` it is given", async () => {
    const methods: Array<string | undefined> = []
    await using service = await mockService(
      {},
      {
        fetch: (input, init) => {
          methods.push(init?.method)
          return globalThis.fetch(input, init)
        }
      }
    )
    await service.client.images.saved()
    assert.deepStrictEqual(methods, ["GET"])
  })

  it("sends the headers and the user agent that it is given; without any it sends the version of Berth", async () => {
    const seen: Array<unknown> = []
    const listener: RequestListener = ({ headers }, response) => {
      seen.push([headers["user-agent"], headers["x-team"]])
      response.end('{"message":"Success","code":200,"data":[],"errors":{}}')
    }
    await using plain = await bareService(listener)
    await plain.client.images.saved()
    await using own = await bareService(listener, { headers: { "X-Team": "web" }, userAgent: "deployer/3" })
    await own.client.images.saved()
    assert.deepStrictEqual(seen, [
      ["berth/0.1.0", undefined],
      ["deployer/3", "web"]
    ])
  })

  it("shares its allowance through a file, and replaces one that was cut off", async () => {
    const folder = mkdtempSync(join(tmpdir(), "berth-"))
    try {
      const allowanceFile = join(folder, "allowance")
      writeFileSync(allowanceFile, '{"version":1,"writ')
      vi.stubEnv("BERTH_ALLOWANCE_FILE", allowanceFile)
      vi.stubEnv("XDG_STATE_HOME", folder)
      await using service = await mockService({}, { stateDirectory: "auto" })
      assert.deepStrictEqual(await service.client.images.saved(), [])
      await service.client.close()
      assert.include(JSON.parse(readFileSync(allowanceFile, "utf8")).report, { limit: 1200, remaining: 1199 })
    } finally {
      vi.unstubAllEnvs()
      rmSync(folder, { recursive: true })
    }
  })

  it("does not keep a program from ending, closed or not", async () => {
    await using service = await mockService({ scenario: "small" })
    const program = `
      import { createClient } from "@berthkit/core/promise"
      const client = createClient(${JSON.stringify(service.options)})
      let count = 0
      for await (const _ of client.nodes.list()) count++
      console.log(count)
    `
    await using running = Program.ofSource(program, { cwd: import.meta.dirname })
    assert.strictEqual(
      (await running.succeeded()).trim(),
      String((await Array.fromAsync(service.client.nodes.list())).length)
    )
  })

  it("of two accounts keeps them apart", async () => {
    await using service = await mockService()
    const stranger = createClient({ ...service.options, apiKey: "another" })
    assert.propertyVal(await rejection(stranger.images.saved()), "_tag", "Unauthorized")
    assert.deepStrictEqual(await service.client.images.saved(), [])
    await stranger.close()
  })
})
