/**
 * The notifications to systemd, on a socket like systemd's. Needs `systemd-notify`, and Python to listen, because Node has no such sockets.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { HttpService } from "@berthkit/testing/HttpService"
import { Program } from "@berthkit/testing/Program"
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

const config = (port: number) => `store: watch.db
listen: 127.0.0.1:${port}
accounts: [{ name: acme, baseUrl: "http://127.0.0.1:1", apiKey: { env: KEY }, accessToken: { env: KEY } }]
`

test("systemd is notified of the start, of reloads and of the end, and its watchdog is fed without a service", async () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-systemd-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const socket = join(folder, "notify")
  await using listener = new Program("python3", ["-c", listen, socket])
  await listener.printed("listening")
  const path = join(folder, "watch.yml")
  writeFileSync(path, config(0))
  await using daemon = new Daemon(["run", "--config", path], {
    KEY: "key-0123456789",
    NOTIFY_SOCKET: socket,
    WATCHDOG_USEC: "600000"
  })
  await listener.printed(/READY=1[^]*WATCHDOG=1[^]*WATCHDOG=1/)

  // First an invalid config, then one with which the daemon cannot start, and then one that the daemon accepts.
  writeFileSync(path, "accounts: []\n")
  daemon.program.signal("SIGHUP")
  await listener.printed(/(READY=1[^]*){2}/)
  await using other = await HttpService.listen(() => {})
  writeFileSync(path, config(Number(new URL(other.url).port)))
  daemon.program.signal("SIGHUP")
  await listener.printed(/(READY=1[^]*){3}/)
  writeFileSync(path, config(0).replace("acme", "renamed"))
  daemon.program.signal("SIGHUP")
  await daemon.program.printed('"accounts":["renamed"]', "stderr")
  await listener.printed(/(READY=1[^]*){4}/)

  daemon.program.signal("SIGTERM")
  const { code, stderr } = await daemon.finished()
  expect(code).toBe(0)
  const ready = expect.stringMatching(/^\{"http":/)
  expect(stderr).toEqual([
    ready,
    expect.stringMatching(/watch\.yml:1:11: accounts/),
    `berth-watch: ${path} cannot be used; the daemon keeps its config.`,
    expect.stringMatching(/^berth-watch: listen: 127\.0\.0\.1:\d+ is taken\. The daemon keeps its config\.$/),
    ready,
    ready
  ])
  await listener.printed("STOPPING=1")
  const states = listener.printedOn.stdout.match(/(READY|RELOADING|STOPPING)=1/g)
  const reload = ["RELOADING=1", "READY=1"]
  expect(states).toEqual(["READY=1", ...reload, ...reload, ...reload, "STOPPING=1"])
})
