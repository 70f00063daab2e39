/** A free port for a program that cannot choose one itself. */
import { once } from "node:events"
import { createServer } from "node:net"

// These ports are below the range from which systems choose ports for clients, and for servers that ask for port 0. A port
// in that range could be taken before the tested program listens on it.
const [first, count] = [20_000, 10_000]
// Parallel processes start at different ports.
let next = (process.pid * 16) % count

/** A loopback port on which nobody listens, a new one each time. */
export const freePort = async (): Promise<number> => {
  for (let tried = 0; tried < count; tried++) {
    const port = first + next
    next = (next + 1) % count
    const server = createServer()
    try {
      await once(server.listen(port, "127.0.0.1"), "listening")
    } catch {
      continue
    }
    server.close()
    await once(server, "close")
    return port
  }
  throw new Error("no port of the loopback is free")
}
