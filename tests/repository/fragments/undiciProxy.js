// Code from `docs/using-with-promises.md`. With the variables of a service, and in a folder with a file `ca.pem`, it makes both clients.
import { createClientFromEnv } from "@berthkit/core/promise"
import { Agent, fetch, ProxyAgent } from "undici"
import { readFileSync } from "node:fs"

const through = (dispatcher) => (input, init) => fetch(input, { ...init, dispatcher })

const overProxy = createClientFromEnv({ fetch: through(new ProxyAgent("http://proxy.example:3128")) })
const ownAuthority = createClientFromEnv({ fetch: through(new Agent({ connect: { ca: readFileSync("ca.pem") } })) })

// In this test the service has no TLS, so the client does not use the authority.
process.stdout.write(`${(await ownAuthority.nodes.listPage()).length}\n`)
// No proxy exists at `proxy.example`.
await overProxy.close()
