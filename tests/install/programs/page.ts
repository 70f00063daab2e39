// A page that uses the client when its test calls `run`.
import { type ClientOptions, createClient, createClientFromEnv, isBerthError, NodeNotFound } from "@berthkit/core"

const spec = { name: "web", plan: "C-4VCPU-16RAM-100DISK", image: "Ubuntu-24.04" }

const failureOf = async (promise: Promise<unknown>) => {
  try {
    await promise
    return "none"
  } catch (error) {
    return isBerthError(error) ? `${error.name}: ${error.message}` : `unknown: ${String(error)}`
  }
}

const run = async (account: ClientOptions) => {
  const client = createClient(account)
  const { node } = await client.nodes.create(spec)
  const ids = (await client.nodes.list().toArray()).map(({ id }) => id)
  const missing = await client.nodes.get(1).catch((error: unknown) => error instanceof NodeNotFound && error.nodeId)
  const keyed = createClient({ ...account, stateDirectory: "/state" })
  const kept = await failureOf(keyed.nodes.create(spec, { key: "web" }))
  const inMemory = createClient({ ...account, stateDirectory: "memory" })
  const first = await inMemory.nodes.create(spec, { key: "web" })
  const second = await inMemory.nodes.create(spec, { key: "web" })
  const fromEnvironment = await failureOf(Promise.try(() => createClientFromEnv()))
  await Promise.all([client, keyed, inMemory].map((client) => client.close()))
  return { listed: ids.includes(node.id), missing, kept, fromEnvironment, isSame: first.node.id === second.node.id }
}

Object.assign(globalThis, { run })
