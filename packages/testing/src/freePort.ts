/** A port for a program that cannot be told to choose one itself. */
import { once } from "node:events"
import { createServer } from "node:net"

// Below the ports that systems give to clients and to servers without a port of their own: one of those may take a port
// from there before the program that is to listen on it has started.
const [first, count] = [20_000, 10_000]
// Processes that run beside each other begin at different places.
let next = (process.pid * 16) % count

/** A port of the loopback nobody listens on, another one each time. */
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
