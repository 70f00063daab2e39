// Runs a command in a network that contains only a proxy: `node behindProxy.ts SOCKET-FILE COMMAND ARGS…`. Start this program in a separate
// network (`unshare --net`). It passes connections on to the socket file of the proxy.
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { type AddressInfo, connect, createServer } from "node:net"
import { pipeline } from "node:stream"

const [, , socketFile = "", command = "", ...args] = process.argv
execFileSync("ip", ["link", "set", "lo", "up"])

const relay = createServer((client) => pipeline(client, connect(socketFile), client, () => {})).listen(0, "127.0.0.1")
await once(relay, "listening")
const proxy = `http://127.0.0.1:${(relay.address() as AddressInfo).port}`

const env = { ...process.env, HTTP_PROXY: proxy, HTTPS_PROXY: proxy }
const child = spawn(command, args, { env, stdio: "inherit", detached: true })
// End all processes that the command has started.
process.on("SIGTERM", () => process.kill(-child.pid!, "SIGKILL"))
const [code] = await once(child, "exit")
process.exit(code ?? 1)
