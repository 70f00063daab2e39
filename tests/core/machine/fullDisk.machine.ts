/** Creates on a full disk, which is a small file system in memory. Needs Linux and root. */
import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import type { RequestListener } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { HttpService } from "@berthkit/testing/HttpService"
import { Program } from "@berthkit/testing/Program"
import { afterAll, assert, beforeAll, describe, it } from "vitest"

const program = fileURLToPath(new URL("../creation/maker.ts", import.meta.url))
const disk = mkdtempSync(join(tmpdir(), "berth-disk-"))

/** Fills the disk. */
const fill = () => {
  for (const size of [65_536, 4096, 512, 1]) {
    try {
      for (let i = 0; ; i++) writeFileSync(join(disk, `filler-${size}-${i}`), Buffer.alloc(size))
    } catch {
      continue
    }
  }
}
const free = () => {
  for (const name of readdirSync(disk)) if (name.startsWith("filler-")) rmSync(join(disk, name))
}

const nodes: Array<object> = []
let posts = 0
let onPost = () => {}
const listener: RequestListener = (request, response) => {
  const reply = (data: unknown) => response.end(JSON.stringify({ message: "Success", code: 200, data, errors: {} }))
  if (request.method === "POST") {
    posts++
    onPost()
    const node = { id: 100 + nodes.length, name: "node", created_at: new Date().toISOString(), status: "Create" }
    nodes.push(node)
    return reply(node)
  }
  const id = /nodes\/(\d+)\//.exec(request.url!)?.[1]
  if (id !== undefined) return reply(nodes[Number(id) - 100])
  return reply(request.url!.includes("page_no=1&") ? nodes : [])
}
let service: HttpService

beforeAll(async () => {
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k,mode=700", "none", disk])
  service = await HttpService.listen(listener)
})
afterAll(async () => {
  await service[Symbol.asyncDispose]()
  execFileSync("umount", [disk])
  rmSync(disk, { recursive: true })
})

const make = async (folder: string) => {
  await using maker = Program.ofNode(program, [service.url, "key", "token", folder, "1"])
  const { stdout } = await maker.ended
  // The result is the last line, after any warnings.
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as { outcome: string }
}

describe("a create under a key on a disk", () => {
  it("that is full sends nothing, and works once there is room", async () => {
    const folder = join(disk, "first")
    mkdirSync(folder, { mode: 0o700 })
    fill()
    assert.strictEqual((await make(folder)).outcome, "StateUnavailable")
    assert.strictEqual(posts, 0)
    free()
    assert.strictEqual((await make(folder)).outcome, "created")
    assert.strictEqual(nodes.length, 1)
  })

  it("that is full when the reply comes is found by the next one", async () => {
    const folder = join(disk, "second")
    mkdirSync(folder, { mode: 0o700 })
    onPost = fill
    const before = nodes.length
    assert.strictEqual((await make(folder)).outcome, "created")
    onPost = () => {}
    assert.isTrue(existsSync(join(folder, "open", "job-0.json")))
    free()
    assert.strictEqual((await make(folder)).outcome, "adopted")
    assert.strictEqual(nodes.length, before + 1)
  })
})
