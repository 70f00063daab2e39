import { EventEmitter, once } from "node:events"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, describe, expect, it } from "@effect/vitest"
import { HttpService } from "@berthkit/testing/HttpService"
import { Program } from "@berthkit/testing/Program"
import { Clock, Effect } from "effect"
import { run, serve as serveIn } from "../cli/berthServer.ts"

const folder = mkdtempSync(join(tmpdir(), "berth-learn-node-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const binary = fileURLToPath(new URL("../../bin/berth-server.mjs", import.meta.url))

const leftOver = () =>
  readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("learn.json"))

const args = ["learn", "--probe", "--requests", "5", "--with-node", "--max-charge", "100"]

describe.each(["documented", "today"] as const)("learn with a node of its own, in the dialect %s", (dialect) => {
  const accountOf = (url: string) => ({
    BERTH_BASE_URL: url,
    BERTH_API_KEY: "berth-key",
    BERTH_ACCESS_TOKEN: "berth-token",
    XDG_STATE_HOME: folder,
    ...(dialect === "today" ? { BERTH_PROJECT: "1", BERTH_LOCATION: "Delhi" } : {})
  })
  const serve = (args: ReadonlyArray<string>) => serveIn(["--dialect", dialect, ...args])
  const address = (url: string, path: string) =>
    `${url}/myaccount/api/v1${path}?apikey=berth-key${dialect === "today" ? "&project_id=1&location=Delhi" : ""}`

  const dataOf = (url: string, path: string, body?: object) =>
    Effect.promise(async () => {
      const reply = await fetch(address(url, path), {
        headers: { authorization: "Bearer berth-token", "content-type": "application/json" },
        ...(body && { method: "POST", body: JSON.stringify(body) })
      })
      return ((await reply.json()) as any).data
    })
  const nodesOn = (url: string) => Effect.map(dataOf(url, "/nodes/"), (nodes) => nodes as ReadonlyArray<any>)

  /** A plan and an image of it that can be ordered. */
  const offerOn = (url: string) =>
    Effect.map(dataOf(url, "/images/"), (images) => {
      const { image, plan } = images.find(
        (each: any) => each.available_inventory_status !== false && each.specs.disk_space !== 0
      )
      return { plan: plan as string, image: image as string }
    })

  /** Creates a node and returns its id. */
  const createdOn = Effect.fnUntraced(function* (url: string, name: string) {
    const { id } = yield* dataOf(url, "/nodes/", { name, region: "ncr", ...(yield* offerOn(url)) })
    return id as number
  })

  const statusesOn = (url: string) => Effect.map(nodesOn(url), (nodes) => nodes.map(({ status }) => status as string))

  it.live("a node is created and deleted, and its times are learned", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { ready } = yield* serve(["--port", "0", "--provisioning", "3s", "--termination", "1s"])
        const { code, stderr, stdout } = yield* run([...args, "--yes", "-o", "json"], accountOf(ready.url))
        expect(code).toBe(0)
        expect(stderr).toMatch(/creates and deletes a node on .*: at least ₹[\d.]+ in all/)
        const report = JSON.parse(stdout)
        if (dialect === "documented") expect(report.verdicts.refuted).toBe(0)
        expect(report.settings.map(({ setting }: { setting: string }) => setting).join(" ")).toContain(
          "berth node create --wait --timeout 1m"
        )
        expect(yield* statusesOn(ready.url)).toEqual([])
        expect(leftOver()).toEqual([])
      })
    )
  )

  it.live("nothing is created without an answer, or above the limit", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { ready } = yield* serve(["--port", "0"])
        const unasked = yield* run(args, accountOf(ready.url))
        expect([unasked.code, unasked.stdout]).toEqual([2, ""])
        expect(unasked.stderr).toContain("add --yes")
        const dear = yield* run(
          ["learn", "--probe", "--requests", "5", "--with-node", "--max-charge", "0.01", "--yes"],
          accountOf(ready.url)
        )
        expect([dear.code, dear.stdout]).toEqual([2, ""])
        expect(dear.stderr).toContain("more than --max-charge 0.01: nothing was created")
        expect(yield* statusesOn(ready.url)).toEqual([])
      })
    )
  )

  /** A connection to the service on which the first creates get no reply. The test decides whether they arrive. */
  const withoutReplies = (url: string, arrives: boolean, lost: number) =>
    HttpService.start((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk) => chunks.push(chunk))
      request.on("end", async () => {
        const { authorization, "content-type": type } = request.headers
        const send = () =>
          fetch(`${url}${request.url}`, {
            method: request.method ?? "GET",
            headers: { authorization: authorization ?? "", ...(type !== undefined && { "content-type": type }) },
            body: chunks.length === 0 ? null : Buffer.concat(chunks)
          })
        if (request.method === "POST" && lost-- > 0) {
          if (arrives) await send()
          sent.emit("create")
          return
        }
        const reply = await send()
        const headers = [...reply.headers].filter(
          ([name]) => !/^(connection|content-(length|encoding)|date)$/.test(name)
        )
        response.writeHead(reply.status, Object.fromEntries(headers)).end(Buffer.from(await reply.arrayBuffer()))
      })
    })
  const sent = new EventEmitter()

  /** An earlier learn that was killed after it had sent its create. */
  const killedAfterCreate = Effect.fnUntraced(function* (url: string, arrives: boolean, lost = Infinity) {
    const between = yield* withoutReplies(url, arrives, lost)
    const account = accountOf(between.url)
    const created = once(sent, "create")
    const learning = yield* Program.start(() =>
      Program.ofNode(binary, [...args, "--yes"], { env: { ...process.env, ...account } })
    )
    yield* Effect.promise(() => created)
    yield* Effect.promise(() => learning.kill("SIGKILL"))
    return account
  })

  /** Writes this file as if an earlier learn had left it, and returns the account. */
  const leave = Effect.fnUntraced(function* (url: string, left: object) {
    const account = yield* killedAfterCreate(url, false)
    writeFileSync(join(folder, leftOver()[0]!), JSON.stringify(left))
    return account
  })

  it.live("no second node is created while an earlier learn may still create one", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { ready } = yield* serve(["--port", "0"])
        const account = yield* killedAfterCreate(ready.url, false)
        const { code, stderr } = yield* run([...args, "--yes"], account)
        expect(code).toBe(2)
        expect(stderr).toMatch(
          /an earlier learn may have created berth-learn-[0-9a-f]{12}, or may still create it: run /
        )
        expect(stderr).toMatch(
          /no second node is created before that is known: run learn --probe again in eleven minutes .+: it deletes /
        )
        expect(yield* statusesOn(ready.url)).toEqual([])
        for (const file of leftOver()) rmSync(join(folder, file))
      })
    )
  )

  it.live("a node whose create got no reply is deleted by the next run", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { ready } = yield* serve(["--port", "0", "--provisioning", "0s", "--termination", "0s"])
        const account = yield* killedAfterCreate(ready.url, true)
        expect(yield* statusesOn(ready.url)).toHaveLength(1)
        const { code, stderr } = yield* run(["learn", "--probe", "--requests", "1"], account)
        expect([code, yield* statusesOn(ready.url)]).toEqual([0, []])
        expect(stderr).toMatch(/deleted node \d+ \(berth-learn-[0-9a-f]{12}\), which an earlier learn left behind/)
        expect(leftOver()).toEqual([])
      })
    )
  )

  /** Makes the record of the create that of an earlier boot, hours ago, on a service that stated no time. */
  const reboot = () => {
    const { name } = JSON.parse(readFileSync(join(folder, leftOver()[0]!), "utf8"))
    const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    const path = join(
      folder,
      files.find((file) => file.endsWith(`open/${name}.json`))!
    )
    const record = JSON.parse(readFileSync(path, "utf8"))
    const wallMillis = record.sentAt.wallMillis - 7_200_000
    const sentAt = { ...record.sentAt, wallMillis, serviceMillis: 0, bootClock: "an earlier boot" }
    writeFileSync(path, JSON.stringify({ ...record, sentAt }))
  }

  it.live("a node whose create got no reply is deleted after a restart, because its name is random", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { ready } = yield* serve(["--port", "0", "--provisioning", "0s", "--termination", "0s"])
        const account = yield* killedAfterCreate(ready.url, true)
        reboot()
        const { code, stderr } = yield* run(["learn", "--probe", "--requests", "1"], account)
        expect([code, yield* statusesOn(ready.url), leftOver()]).toEqual([0, [], []])
        expect(stderr).toMatch(/deleted node \d+ \(berth-learn-[0-9a-f]{12}\), which an earlier learn left behind/)
      })
    )
  )

  it.live("a create that made nothing does not keep learn from creating a node after a restart", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { ready } = yield* serve(["--port", "0", "--provisioning", "0s", "--termination", "0s"])
        const account = yield* killedAfterCreate(ready.url, false, 1)
        reboot()
        const { code, stderr } = yield* run([...args, "--yes"], account)
        expect(code).toBe(0)
        expect(stderr).toMatch(/created node \d+/)
        expect([yield* statusesOn(ready.url), leftOver()]).toEqual([[], []])
      })
    )
  )

  it.live("a node of somebody else that has the name of an earlier learn's stays", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { ready } = yield* serve(["--port", "0"])
        const name = "berth-learn-0123456789ab"
        const id = yield* createdOn(ready.url, name)
        const order = yield* offerOn(ready.url)
        const sentAtMillis = yield* Clock.currentTimeMillis
        // Killed before it sent the create.
        const account = yield* leave(ready.url, { name, ...order, sentAtMillis })
        const { code, stderr } = yield* run(["learn", "--probe", "--requests", "1"], account)
        expect([code, stderr.includes("left behind")]).toEqual([0, false])
        expect((yield* nodesOn(ready.url)).map((node) => [node.id, !/^terminat/i.test(node.status)])).toEqual([
          [id, true]
        ])
        expect(leftOver()).toEqual([])
      })
    )
  )

  it.live("a node that an earlier learn has already deleted delays nothing", () =>
    Effect.scoped(
      Effect.gen(function* () {
        const { ready } = yield* serve(["--port", "0", "--provisioning", "1s", "--termination", "0s"])
        const account = accountOf(ready.url)
        const learning = yield* Program.start(() =>
          Program.ofNode(binary, [...args, "--yes"], { env: { ...process.env, ...account } })
        )
        const [, id] = /(\d+)$/.exec(yield* Effect.promise(() => learning.printed(/created node \d+/, "stderr")))!
        yield* Effect.promise(() => learning.kill("SIGKILL"))
        // Delete the node, as if learn had been killed right after its request to delete it.
        yield* Effect.promise(() =>
          fetch(address(ready.url, `/nodes/${id}/`), {
            method: "DELETE",
            headers: { authorization: "Bearer berth-token" }
          })
        )
        const { code, stderr } = yield* run([...args, "--yes"], account)
        expect([code, stderr.includes("may have created"), stderr.includes("left behind")]).toEqual([0, false, false])
        expect(leftOver()).toEqual([])
      })
    )
  )

  it.live.each(["name", "creation time"])(
    "a node that has the id of an earlier learn's, and another %s, stays",
    (other) =>
      Effect.scoped(
        Effect.gen(function* () {
          const { ready } = yield* serve(["--port", "0"])
          const name = "berth-learn-0123456789ab"
          const id = yield* createdOn(ready.url, other === "name" ? "web" : name)
          const order = yield* offerOn(ready.url)
          const createdMillis = (yield* Clock.currentTimeMillis) - (other === "name" ? 0 : 3_600_000)
          const left = { name, ...order, node: { id, name, createdMillis } }
          const account = yield* leave(ready.url, left)
          const { code, stderr } = yield* run(["learn", "--probe", "--requests", "1"], account)
          expect([code, stderr.includes("left behind")]).toEqual([0, false])
          expect((yield* nodesOn(ready.url)).map((node) => [node.id, !/^terminat/i.test(node.status)])).toEqual([
            [id, true]
          ])
          expect(leftOver()).toEqual([])
        })
      )
  )

  it.live.each(["SIGKILL", "SIGINT"] as const)(
    "a node that is there at a %s is deleted, by the next run at the latest",
    (signal) =>
      Effect.scoped(
        Effect.gen(function* () {
          const { ready } = yield* serve(["--port", "0", "--provisioning", "1h", "--termination", "0s"])
          const account = accountOf(ready.url)
          const learning = yield* Program.start(() =>
            Program.ofNode(binary, [...args, "--yes"], { env: { ...process.env, ...account } })
          )
          yield* Effect.promise(() => learning.printed(/created node \d+/, "stderr"))
          const ended = yield* Effect.promise(() => learning.kill(signal))
          if (signal === "SIGINT") {
            expect([ended.code, yield* statusesOn(ready.url)]).toEqual([130, []])
            return
          }
          expect(yield* statusesOn(ready.url)).toEqual([dialect === "today" ? "Creating" : "created"])
          expect(readFileSync(join(folder, leftOver()[0]!), "utf8")).toMatch(/berth-learn-/)
          const next = yield* run(["learn", "--probe", "--requests", "3"], account)
          expect([next.code, yield* statusesOn(ready.url)]).toEqual([0, []])
          expect(next.stderr).toMatch(
            /deleted node \d+ \(berth-learn-[0-9a-f]{12}\), which an earlier learn left behind/
          )
          expect(leftOver()).toEqual([])
        })
      )
  )
})
