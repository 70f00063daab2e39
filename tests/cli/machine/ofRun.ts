/** Helpers for tests of `berth run` as a process. */
import { fileURLToPath } from "node:url"
import { TestServer, type TestServerOptions } from "@berthkit/server/testing"
import { inDialect } from "../../account.ts"

export const binary = fileURLToPath(new URL("../../../apps/cli/bin/berth.mjs", import.meta.url))

export const order = ["--plan", "C-2VCPU-8RAM-50DISK", "--image", "Ubuntu-22.04"]

/** The arguments that run the command on a node named `job`. */
export const wordsOf = (command: ReadonlyArray<string>, ...flags: ReadonlyArray<string>) => [
  "run",
  ...order,
  "--name",
  "job",
  ...flags,
  "--",
  ...command
]

/** A service whose nodes run soon after the create, and take long to terminate. */
export const service = (options: TestServerOptions = {}) =>
  TestServer.layer(inDialect({ clock: "real", provisioning: "300 millis", termination: "1 hour", ...options }))
