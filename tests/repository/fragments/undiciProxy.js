// Code of `docs/using-with-promises.md`. Run with the variables of a service beside a file `ca.pem`, it makes both clients.
import { createClientFromEnv } from "@berthkit/core/promise"
import { Agent, fetch, ProxyAgent } from "undici"
import { readFileSync } from "node:fs"

const through = (dispatcher) => (input, init) => fetch(input, { ...init, dispatcher })

const overProxy = createClientFromEnv({ fetch: through(new ProxyAgent("http://proxy.example:3128")) })
const ownAuthority = createClientFromEnv({ fetch: through(new Agent({ connect: { ca: readFileSync("ca.pem") } })) })

// The service has no TLS here, so that its authority is not asked for.
process.stdout.write(`${(await ownAuthority.nodes.listPage()).length}\n`)
// Nobody is at `proxy.example`.
await overProxy.close()
