/**
 * A TLS server that is far away: forwards connections to a local one and delays all data, `node distance.ts PORT MILLIS` with half of the
 * round trip. A connection's first bytes wait for a further round trip, which opening it takes.
 */
import { readFileSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { createServer as createTlsServer } from "node:tls"
import { certificateFile, keyFile } from "@berthkit/testing/certificate"

const [target, millis] = [Number(process.argv[2]), Number(process.argv[3])]

const lead = (from: Socket, to: Socket, opensInMillis: number) => {
  const openAt = performance.now() + opensInMillis
  from.setNoDelay(true).on("error", () => {})
  from.on("data", (bytes) => setTimeout(() => to.write(bytes), millis + Math.max(0, openAt - performance.now())))
  from.on("close", () => to.destroy())
}

const portOf = (server: { readonly address: () => unknown }) => (server.address() as { readonly port: number }).port

const secured = createTlsServer({ key: readFileSync(keyFile), cert: readFileSync(certificateFile) }, (near) => {
  const far = connect(target, "127.0.0.1")
  near.on("error", () => far.destroy()).pipe(far)
  far.on("error", () => near.destroy()).pipe(near)
})
secured.listen(0, "127.0.0.1", () => {
  const distant = createServer((near) => {
    const far = connect(portOf(secured), "127.0.0.1")
    lead(near, far, 2 * millis)
    lead(far, near, 0)
  })
  distant.listen(0, "127.0.0.1", () => console.log(JSON.stringify({ url: `https://localhost:${portOf(distant)}` })))
})
process.once("SIGTERM", () => process.exit(0))
