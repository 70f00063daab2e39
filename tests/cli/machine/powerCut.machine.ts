/**
 * Power cuts: the test copies the device at the instant when a create arrives at the service or a command has ended. Then it mounts the
 * copy and continues with it. The file systems are real (ext4 and xfs, on loop devices), so the copy does not have everything that they
 * have not written to the device yet. Needs Linux with loop devices, root, and Debian's xfsprogs; it fails if a file system cannot be
 * mounted.
 */
import { execFileSync, spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { makePrivateFolder, removeDurably, replaceDurably } from "@berthkit/core/client/files/StateFiles"
import { installPackages } from "@berthkit/testing/debian"
import { HttpService } from "@berthkit/testing/HttpService"
import { Program } from "@berthkit/testing/Program"
import { Effect } from "effect"
import { afterEach, assert, beforeAll, beforeEach, describe, it } from "vitest"

const binary = fileURLToPath(new URL("../../../apps/cli/bin/berth.mjs", import.meta.url))

/** How often the power is cut, on each file system. */
const cuts = 10

const quietly = (command: string, ...args: ReadonlyArray<string>) =>
  execFileSync(command, args, { stdio: ["ignore", "ignore", "inherit"] })

beforeAll(() => {
  if (spawnSync("mkfs.xfs", ["-V"]).status !== 0) installPackages("xfsprogs")
})

/** A file system with a user's state folder in it. */
class Disk {
  readonly #folder = mkdtempSync(join(tmpdir(), "berth-power-"))
  readonly #device = join(this.#folder, "device")
  readonly #copy = join(this.#folder, "copy")
  readonly state = join(this.#folder, "state")
  readonly #options: string

  constructor(kind: "ext4" | "xfs") {
    // Namespaces of other tests may keep the device mounted for a moment. Then xfs refuses to mount a copy, unless it ignores the UUID.
    this.#options = kind === "xfs" ? "loop,nouuid" : "loop"
    mkdirSync(this.state)
    // The minimum size of xfs.
    quietly("truncate", "-s", "300M", this.#device)
    quietly(`mkfs.${kind}`, "-q", this.#device)
    quietly("mount", "-o", this.#options, this.#device, this.state)
  }

  /** Copies the device as it is now. */
  cut(): void {
    quietly("cp", "--sparse=always", this.#device, this.#copy)
  }

  /** Restarts the machine with the copy from the cut. */
  restore(): void {
    quietly("umount", this.state)
    quietly("mount", "-o", this.#options, this.#copy, this.state)
  }

  /** The files of the account, by their paths in its folder. */
  files(): ReadonlyMap<string, string> {
    const accounts = join(this.state, "berth", "accounts")
    const names = readdirSync(accounts, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    return new Map(
      names.map(({ name, parentPath }) => {
        const path = join(parentPath, name)
        return [path.slice(accounts.length + 34), readFileSync(path, "utf8")]
      })
    )
  }

  [Symbol.dispose](): void {
    quietly("umount", this.state)
    rmSync(this.#folder, { recursive: true })
  }
}

/** Nodes of the service; each create makes one. */
let nodes: Array<{ readonly id: number; readonly name: string }>
/** Whether lists show these nodes. If not, berth can find a node only through its state files. */
let areListed: boolean
/** Called when a create arrives. The reply is sent once this has completed. */
let arrived: () => void | Promise<void>
let service: HttpService

beforeEach(async () => {
  nodes = []
  areListed = true
  arrived = () => {}
  service = await HttpService.listen(async (request, response) => {
    request.resume()
    const reply = (data: unknown) => response.end(JSON.stringify({ message: "Success", code: 200, data, errors: {} }))
    const { pathname, searchParams } = new URL(request.url!, service.url)
    if (request.method === "POST") {
      const node = { id: 101 + nodes.length, name: "web", created_at: new Date().toISOString(), status: "Running" }
      nodes.push(node)
      await arrived()
      reply(node)
      return
    }
    const id = /nodes\/(\d+)\/$/.exec(pathname)?.[1]
    const found = nodes.find((node) => String(node.id) === id)
    if (request.method === "DELETE") nodes = nodes.filter((node) => node !== found)
    const listed = areListed && searchParams.get("page_no") === "1" ? nodes : []
    if (id !== undefined && found === undefined) response.statusCode = 404
    reply(id === undefined ? listed : (found ?? {}))
  })
})
afterEach(() => service[Symbol.asyncDispose]())

const berth = (disk: Disk, args: ReadonlyArray<string>) =>
  Program.ofNode(binary, args, {
    env: { BERTH_BASE_URL: service.url, BERTH_API_KEY: "key", BERTH_ACCESS_TOKEN: "token", XDG_STATE_HOME: disk.state }
  })

const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04", "--force", "--yes"]
const create = ["node", "create", "web", ...order, "--idempotency-key", "job-1", "-o", "json"]

/** Runs a command until its create arrives, cuts the power at that instant, and restarts. */
const cutAsItArrives = async (disk: Disk, args: ReadonlyArray<string>) => {
  const posted = Promise.withResolvers<void>()
  arrived = () => {
    disk.cut()
    posted.resolve()
    // A machine without power gets no reply.
    return new Promise<void>(() => {})
  }
  await using command = berth(disk, args)
  const ended = command.ended.then(({ stderr }) => assert.fail(`it sent no create: ${stderr}`))
  await Promise.race([posted.promise, ended])
  await command.kill()
  arrived = () => {}
  disk.restore()
}

describe.each(["ext4", "xfs"] as const)("after a power cut on %s", (kind) => {
  it(`as a create under a key arrives, the same command finishes that create, ${cuts} times of ${cuts}`, async () => {
    for (let cut = 0; cut < cuts; cut++) {
      nodes = []
      using disk = new Disk(kind)
      await cutAsItArrives(disk, create)
      await using again = berth(disk, create)
      assert.strictEqual(JSON.parse(await again.succeeded()).id, 101)
      assert.lengthOf(nodes, 1)
    }
  })

  it(`once a create under a key has ended, the same command knows its node by itself, ${cuts} times of ${cuts}`, async () => {
    for (let cut = 0; cut < cuts; cut++) {
      nodes = []
      areListed = true
      using disk = new Disk(kind)
      await using first = berth(disk, create)
      await first.succeeded()
      disk.cut()
      disk.restore()
      areListed = false
      await using again = berth(disk, create)
      assert.strictEqual(JSON.parse(await again.succeeded()).id, 101)
      assert.lengthOf(nodes, 1)
    }
  })

  it("as the create of a run arrives, the lease of its node is whole", async () => {
    using disk = new Disk(kind)
    await cutAsItArrives(disk, ["run", ...order, "--name", "web", "--", "true"])
    const leases = [...disk.files()].filter(([path]) => /^records\/lease\/[^.]+\.json$/.test(path))
    assert.lengthOf(leases, 1)
    const [[path, text]] = leases as [[string, string]]
    assert.strictEqual(`records/lease/${JSON.parse(text).key}.json`, path)
  })

  it("as the command of a run begins, the lease has its node, and reap deletes it without a list", async () => {
    using disk = new Disk(kind)
    const command = [
      "--no-public-ip",
      "--name",
      "web",
      "--",
      "sh",
      "-c",
      "echo it has begun; exec sleep 5 </dev/null >/dev/null 2>&1"
    ]
    await using run = berth(disk, ["run", ...order, ...command])
    await run.printed("it has begun")
    disk.cut()
    await run.kill()
    disk.restore()
    areListed = false
    assert.lengthOf(nodes, 1)
    // The record of the create would lead to the node, too.
    const leases = [...disk.files()].filter(([path]) => /^records\/lease\/[^.]+\.json$/.test(path))
    assert.deepStrictEqual(
      leases.map(([, text]) => JSON.parse(text).node?.id),
      [101]
    )
    await using reap = berth(disk, ["reap"])
    await reap.succeeded()
    assert.lengthOf(nodes, 0)
  })

  // A later sync also writes earlier renames, so the tested operation must be the last one.
  for (const last of ["written", "removed"] as const) {
    it(`files that were ${last} durably as the last of all stay so, in folders that were made for them`, async () => {
      using disk = new Disk(kind)
      const folder = join(disk.state, "berth", "accounts", "a".repeat(32))
      const [kept, removed] = [join(folder, "kept"), join(folder, "removed")]
      const write = replaceDurably(kept, "2")
      const remove = removeDurably(removed)
      const use = Effect.gen(function* () {
        yield* makePrivateFolder(folder)
        yield* replaceDurably(removed, "1")
        yield* replaceDurably(kept, "1")
        yield* last === "written" ? remove : write
        yield* last === "written" ? write : remove
      })
      await Effect.runPromise(use)
      disk.cut()
      disk.restore()
      assert.deepStrictEqual([...disk.files()], [["kept", "2"]])
    })
  }
})
