/** A config with a mail sink and a template of its own, and what `berth-watch` has to do with it, however it was installed. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Program } from "@berthkit/testing/Program"
import { SmtpService } from "@berthkit/testing/SmtpService"
import { Effect } from "effect"
import { expect } from "@effect/vitest"

/** Starts `berth-watch` in a folder in which it finds `watch.yml`. */
type Start = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => Program

const env = { KEY: "key-0123456789" }
const account = `accounts: [{ name: eu, baseUrl: "https://api.example.com", apiKey: { env: KEY }, accessToken: { env: KEY } }]\n`
const to = "host: 127.0.0.1, tls: none, allowPrivate: true, from: berth@example.com, to: ops@example.com"

/** A config without mail and templates. */
export const plain = `${account}sinks: [{ name: log, stdout: {} }]\n`

const mailTo = (port: number): string =>
  `${account}sinks: [{ name: mail, mail: { ${to}, port: ${port}, subject: "From {{ data.sink | upcase }}" } }]\n`

export const checkConfig = (start: Start) => start(["check-config", "watch.yml"], env).ended

/** Checks that the config is accepted, and that a test event gets as far as the server. Without a server, that is the connection. */
export const checkMail = Effect.fnUntraced(function* (folder: string, start: Start, hasServer = true) {
  const service = hasServer ? yield* SmtpService.start({ tls: "none" }) : null
  const port = service?.port ?? 1
  writeFileSync(join(folder, "watch.yml"), mailTo(port))
  const checked = yield* Effect.promise(() => checkConfig(start))
  expect(checked).toMatchObject({ code: 0, stderr: "" })
  expect(checked.stdout).toContain(`sink mail: mail to ops@example.com by 127.0.0.1:${port} (no TLS, no login)\n`)
  const sent = yield* Effect.promise(() => start(["sinks", "test", "mail", "--config", "watch.yml"], env).ended)
  if (service === null) return expect(sent.stderr).toContain("the server is unreachable (ECONNREFUSED)")
  expect(sent).toMatchObject({ code: 0, stderr: "" })
  expect(service.taken.map(({ message }) => /^Subject: .*$/m.exec(message)?.[0])).toEqual(["Subject: From MAIL"])
})
