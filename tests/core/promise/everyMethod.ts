/**
 * Calls every method of the promise client once, against a service in this process, so that no call has to wait. This works with any
 * clock that the test has installed.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type * as Promises from "@berthkit/core/promise"
import type * as Service from "@berthkit/server/testing/promise"

const spec: Promises.NodeSpec = { name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" }

/** The names of the calls that have settled, in order. */
export const everyMethod = async (
  { createClient }: Pick<typeof Promises, "createClient">,
  { startServer }: Pick<typeof Service, "startServer">
): Promise<ReadonlyArray<string>> => {
  const settled: Array<string> = []
  const step = async <A>(name: string, promise: Promise<A>): Promise<A> => {
    const value = await promise
    settled.push(name)
    return value
  }
  const state = mkdtempSync(join(tmpdir(), "berth-every-method-"))
  const server = await startServer({ scenario: "small", termination: "0 seconds" })
  const { accessToken, apiKey, baseUrl } = await server.makeWorld()
  const client = createClient({ baseUrl, apiKey, accessToken, stateDirectory: state })
  const { allowance, images, nodes, plans, raw } = client

  const all = await step("list", nodes.list().toArray())
  const { id } = all.find(({ status }) => status === "running")!
  for await (const _ of nodes.list()) break
  settled.push("list, item by item")
  for await (const _ of nodes.list().pages()) break
  settled.push("list, page by page")
  await step("listPage", nodes.listPage({ page: 1 }))
  await step("find", nodes.find("web"))
  await step("get", nodes.get(id))
  const { node } = await step("create", nodes.create(spec))
  const kept = await step("create with a key", nodes.create(spec, { key: "web" }))
  const again = await step("create with the same key", nodes.create(spec, { key: "web" }))
  if (again.node.id !== kept.node.id) throw new Error("two nodes for one key")
  await step("awaitStatus", nodes.awaitStatus(id, "running"))
  await step("images.list", images.list())
  await step("images.saved", images.saved())
  await step("plans.list", plans.list())
  await step("allowance.current", allowance.current())
  for await (const _ of allowance.changes()) break
  settled.push("allowance.changes")
  await step("raw.request", raw.request({ method: "GET", path: "/nodes/" }))
  const missing = await nodes.get(1).catch((error: Promises.Failure) => error._tag)
  settled.push(String(missing))
  await step("delete", nodes.delete(node.id))
  await step("awaitDeleted", nodes.awaitDeleted(node.id))
  await step("close", client.close())
  await step("close of the server", server.close())
  rmSync(state, { recursive: true })
  return settled
}
