/**
 * A fresh clone on a machine that has only Node and npm, behind a proxy with its own certificate authority. Only the proxy can be reached,
 * so every step has to use and trust the proxy. Needs Linux.
 */
import { execFileSync } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Ended, Program } from "@berthkit/testing/Program"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { RegistryProxy } from "./RegistryProxy.ts"

const repository = fileURLToPath(new URL("../..", import.meta.url))
const behindProxy = fileURLToPath(new URL("behindProxy.ts", import.meta.url))
const { packageManager } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"))
const pnpm = ["npx", "--yes", String(packageManager)]

/** The time limit of a step that downloads everything. */
const limitMillis = 240_000

/** The PATH of the machine's programs, without those of packages. */
const machinePath = [
  ...process.env["PATH"]!.split(delimiter).filter((folder) => !folder.includes("node_modules")),
  "/usr/sbin",
  "/sbin"
].join(delimiter)

/** Copies the files that a clone would have, as they are now. */
const copyClone = async (to: string): Promise<void> => {
  const listed = execFileSync("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: repository,
    encoding: "utf8"
  })
  const files = listed.split("\0").filter((file) => file !== "" && existsSync(join(repository, file)))
  for (const file of files) await cp(join(repository, file), join(to, file))
}

let folder: string
let clone: string
let proxy: RegistryProxy

/** Runs a command in a separate network, which ends with the command. */
const isolated = ["--map-root-user", "--net", "--fork", "--kill-child=SIGTERM", process.execPath, behindProxy]

/** Runs a command in the clone, behind the proxy, without any files or settings of the machine's user. */
const run = (command: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  new Program("unshare", [...isolated, join(folder, "proxy"), ...command], {
    cwd: clone,
    env: { PATH: machinePath, HOME: join(folder, "home"), NO_COLOR: "1", ...env },
    timeoutMillis: limitMillis
  }).ended

/** The variable that makes programs of Node trust the proxy. */
const trusting = () => ({ NODE_EXTRA_CA_CERTS: join(folder, "authority.pem") })

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-clone-"))
  clone = join(folder, "clone")
  await copyClone(clone)
  const registry = new URL(
    execFileSync("npm", ["config", "get", "registry"], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim()
  )
  await mkdir(join(folder, "home"))
  const settings = [
    // The proxy speaks TLS, whether or not the registry does.
    `registry=${registry.href.replace(/^http:/, "https:")}`,
    // If npm has authorities from the machine's configuration, it ignores those of the environment.
    `globalconfig=${join(folder, "none")}`,
    "fetch-retry-maxtimeout=1000",
    "fetch-retry-mintimeout=1000"
  ]
  await writeFile(join(folder, "home/.npmrc"), `${settings.join("\n")}\n`)
  proxy = await RegistryProxy.to(registry, join(folder, "proxy"))
  await writeFile(join(folder, "authority.pem"), proxy.authority)
})

afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

describe("a fresh clone behind a proxy with a certificate authority of its own", { timeout: limitMillis }, () => {
  it("reaches no other address", async () => {
    await using listener = createServer().listen(0, "127.0.0.1")
    const port = await new Promise((resolve) => listener.once("listening", () => resolve(listener.address())))
    const source = `require("net").connect(${JSON.stringify(port)}).on("error", (error) => console.log(error.code))`
    const { stderr, stdout } = await run(["node", "-e", source])
    expect({ stderr, stdout }).toEqual({ stderr: "", stdout: "ECONNREFUSED\n" })
  })

  it("installs nothing while the authority is not trusted, and names the certificate", async () => {
    const { code, stderr } = await run([...pnpm, "demo"])
    expect(code).not.toBe(0)
    expect(stderr).toMatch(/npm error code (?:SELF_SIGNED_CERT|UNABLE_TO_)\w+/)
    expect(existsSync(join(clone, "node_modules"))).toBe(false)
  })

  it("installs everything and shows the demo, with the Node of the machine", async () => {
    const { code, stdout, stderr } = await run([...pnpm, "demo"], trusting())
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toContain("Done. All processes have ended.")
    // Node itself is a package, too.
    expect(proxy.paths.filter((path) => /\/node-linux-\w+\/-\//.test(path))).toHaveLength(1)
    const lockfile = (of: string) => readFile(join(of, "pnpm-lock.yaml"), "utf8")
    expect(await lockfile(clone)).toBe(await lockfile(repository))
  })

  it("measures a row of the bench, which installs what it compares with", async () => {
    const { code, stderr, stdout } = await run([...pnpm, "bench", "cli-list"], trusting())
    const output = `${stdout}${stderr}`
    expect({ code, output: code === 0 ? "" : output }).toEqual({ code: 0, output: "" })
    expect(output).not.toContain("Skipped")
    expect(output).toContain("stand-in (commander, axios)")
    expect(proxy.paths.filter((path) => path.includes("/axios/-/"))).toHaveLength(1)
  })

  it("asks for nothing but packages of the registry", () => {
    expect(proxy.refused).toEqual([])
  })
})
