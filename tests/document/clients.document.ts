/**
 * Clients that are generated from the OpenAPI description compile with strict types, and work. For each client, a program in `clients`
 * calls every endpoint of the mock service.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { TestServer } from "@berthkit/server/testing"
import { Program } from "@berthkit/testing/Program"
import { afterAll, describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import type { Account, Report } from "./clients/Report.ts"
import { description, runTool } from "./tools.ts"

const programs = fileURLToPath(new URL("clients", import.meta.url))
const modules = fileURLToPath(new URL("../node_modules", import.meta.url))
const typescript = join(dirname(fileURLToPath(import.meta.resolve("typescript/package.json"))), "bin/tsc")

const work = mkdtempSync(join(tmpdir(), "berth-clients-"))
afterAll(() => rmSync(work, { recursive: true }))

interface Client {
  /** The name of its program in `clients`. */
  readonly name: string
  readonly generate: (folder: string) => Promise<unknown>
  readonly exactOptionalPropertyTypes: boolean
}

const clients: ReadonlyArray<Client> = [
  {
    name: "openapiFetch",
    generate: (folder) => runTool("openapiTypescript", [description, "-o", join(folder, "generated/schema.d.ts")]),
    exactOptionalPropertyTypes: true
  },
  {
    name: "heyApi",
    generate: (cwd) =>
      runTool("heyApi", ["-i", description, "-o", "generated", "-c", "@hey-api/client-fetch", "--no-log-file"], {
        cwd
      }),
    // This generator copies its runtime next to the generated code, and that runtime does not compile with these options.
    exactOptionalPropertyTypes: false
  },
  {
    name: "orval",
    generate: (cwd) => {
      const override = { mutator: { path: "orvalSend.ts", name: "send" } }
      const output = { target: "generated/client.ts", client: "fetch", override }
      const config = { berth: { input: description, output } }
      writeFileSync(join(cwd, "orval.config.mjs"), `export default ${JSON.stringify(config)}`)
      return runTool("orval", ["--config", "orval.config.mjs"], { cwd })
    },
    exactOptionalPropertyTypes: true
  }
]

const typescriptConfig = ({ exactOptionalPropertyTypes, name }: Client) => ({
  compilerOptions: {
    target: "esnext",
    lib: ["esnext", "dom", "dom.iterable"],
    module: "esnext",
    moduleResolution: "bundler",
    types: [],
    noEmit: true,
    allowImportingTsExtensions: true,
    strict: true,
    exactOptionalPropertyTypes,
    noUncheckedIndexedAccess: true,
    noImplicitReturns: true,
    noImplicitOverride: true,
    noFallthroughCasesInSwitch: true,
    skipLibCheck: false
  },
  include: ["generated", `${name}.ts`]
})

describe.each(clients)("a client of $name", (client) => {
  const folder = join(work, client.name)

  it("is generated, and compiles together with a program that uses it", async () => {
    mkdirSync(folder)
    cpSync(programs, folder, { recursive: true })
    symlinkSync(modules, join(folder, "node_modules"))
    writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }')
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(typescriptConfig(client)))
    await client.generate(folder)
    const { code, stdout } = await Program.ofNode(typescript, ["-p", folder]).ended
    expect(stdout).toBe("")
    expect(code).toBe(0)
  })

  it.live("calls every endpoint of the mock service", () =>
    Effect.gen(function* () {
      const { accessToken, apiKey, baseUrl } = yield* TestServer
      const program = pathToFileURL(join(folder, `${client.name}.ts`)).href
      const { callAll }: { readonly callAll: (account: Account) => Promise<Report> } = yield* Effect.promise(
        () => import(/* @vite-ignore */ program)
      )
      const account = { baseUrl, apiKey: Redacted.value(apiKey), accessToken: Redacted.value(accessToken) }
      expect(yield* Effect.promise(() => callAll(account))).toEqual({
        image: "Ubuntu-24.04",
        plan: "C-4VCPU-16RAM-100DISK",
        created: { name: "web-1", status: "Create" },
        listed: ["web-1"],
        read: { status: "created", diskGb: 100, address: "100.101.68.92" },
        commitment: { setting: "auto_renew", isCommitted: true },
        savedImages: [],
        deleted: 204,
        missing: { code: 404, details: ["There is no node 1."] }
      })
    }).pipe(Effect.provide(TestServer.layer()))
  )
})
