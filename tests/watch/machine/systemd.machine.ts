/**
 * What systemd is notified of, on a socket as it gives one. Needs `systemd-notify`, and Python to listen: Node has no such sockets.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Program } from "@berth/testing/Program"
import { expect, onTestFinished, test } from "vitest"
import { Daemon } from "../Daemon.ts"

const listen = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("listening", flush=True)
while True:
    print(s.recv(4096).decode(), flush=True)
`

test("systemd is notified of the start and of the end, and its watchdog is fed without a service", async () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-systemd-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const socket = join(folder, "notify")
  await using listener = new Program("python3", ["-c", listen, socket])
  await listener.printed("listening")
  await using daemon = new Daemon(["run"], {
    BERTH_BASE_URL: "http://127.0.0.1:1",
    BERTH_API_KEY: "key",
    BERTH_ACCESS_TOKEN: "token",
    NOTIFY_SOCKET: socket,
    WATCHDOG_USEC: "600000"
  })
  await listener.printed(/READY=1[^]*WATCHDOG=1[^]*WATCHDOG=1/)
  daemon.program.signal("SIGTERM")
  expect((await daemon.finished()).code).toBe(0)
  await listener.printed("STOPPING=1")
})
