/**
 * Starts the mock service for the rows about it: one account, with a rate limit that is never reached unless a row sets one.
 */
import { prefix } from "@berthkit/core/api/Routes"
import { ask, binary, type ServerProcess, startServer } from "./processes.ts"

/** Headers of every request. */
export const headers = { authorization: "Bearer token" }

export interface MockService extends ServerProcess {
  /** URL of a documented path, with the API key. */
  readonly at: (path: string) => URL
  /** The ids of its first nodes, up to 100. */
  readonly ids: ReadonlyArray<number>
}

/** Starts the bundled server with a fleet of this many nodes. */
export const startMock = async (nodes: number, rateLimit = "900000000/1h"): Promise<MockService> => {
  const args = ["--port", "0", "--scenario", `fleet:${nodes}`, "--rate-limit", rateLimit, "--account", "key:token"]
  const server = await startServer([binary("server", "berth-server"), ...args])
  const at = (path: string) => new URL(`${prefix}${path}${path.includes("?") ? "&" : "?"}apikey=key`, server.url)
  const list = await ask(at("/nodes/?per_page=100"), { headers })
  const ids = JSON.parse(list.body.toString()).data.map(({ id }: { id: number }) => id)
  return { ...server, at, ids }
}
