/**
 * Rehearses a release: makes versions and change logs in a copy of the repository, publishes the tarballs with the last job of
 * `release.yml` to a registry on this machine, and runs the programs from there by name. It does not rehearse the provenance, because only
 * GitHub and npm together can sign it.
 */
import { execFileSync } from "node:child_process"
import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { basename, delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { publishedManifest } from "@berthkit/scripts/pack"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { parse } from "yaml"
import { Project } from "./Project.ts"
import { Registry } from "./Registry.ts"
import { tarballs } from "./tarballs.ts"

const repository = fileURLToPath(new URL("../..", import.meta.url))
const homes = { core: "packages/core", cli: "apps/cli", server: "apps/server", watch: "apps/watch" }
const names = Object.keys(homes).map((name) => `@berthkit/${name}`)

/** The commands of the workflow's publishing job. */
const publishing = (): string => {
  const { jobs } = parse(readFileSync(join(repository, ".github/workflows/release.yml"), "utf8"))
  const scripts = jobs.publish.steps.flatMap(({ run }: { readonly run?: string }) => run ?? [])
  expect(scripts).toHaveLength(1)
  return scripts[0]
}

let folder: string
let registry: Registry

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-release-"))
  registry = await Registry.of([])
})

afterAll(async () => {
  await registry?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** npm for a user who is logged in to the registry. */
const environment = () => ({
  PATH: [dirname(process.execPath), process.env["PATH"]].join(delimiter),
  HOME: folder,
  npm_config_registry: `${registry.url}/`,
  npm_config_update_notifier: "false",
  npm_config_audit: "false",
  npm_config_cache: join(folder, "cache"),
  [`npm_config_//${new URL(registry.url).host}/:_authToken`]: "of-this-machine"
})

describe("a release", { timeout: 300_000 }, () => {
  it("gives the packages one version and their change logs", async () => {
    const copy = join(folder, "copy")
    const listed = execFileSync("git", ["ls-files", "-z", ".changeset", "*package.json", "pnpm-workspace.yaml"], {
      cwd: repository,
      encoding: "utf8"
    })
    for (const file of listed.split("\0").filter((file) => file !== "")) {
      await mkdir(dirname(join(copy, file)), { recursive: true })
      await cp(join(repository, file), join(copy, file))
    }
    const changesets = join(copy, ".changeset")
    const entry = `---\n${names.map((name) => `"${name}": minor\n`).join("")}---\n\nThe rehearsal.\n`
    await writeFile(join(changesets, "rehearsal.md"), entry)
    execFileSync("git", ["init", "--quiet"], { cwd: copy })
    const changeset = join(repository, "node_modules/.bin/changeset")
    const { code, stderr } = await new Program(changeset, ["version"], { cwd: copy }).ended
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" })
    for (const home of Object.values(homes)) {
      const read = async (root: string) => JSON.parse(await readFile(join(root, home, "package.json"), "utf8")).version
      const [major, minor] = String(await read(repository))
        .split(".")
        .map(Number)
      const version = await read(copy)
      expect(version).toBe(`${major}.${minor! + 1}.0`)
      const log = await readFile(join(copy, home, "CHANGELOG.md"), "utf8")
      expect(log).toContain(`## ${version}`)
      expect(log).toContain("The rehearsal.")
    }
  })

  it("has the repository in its manifests, for which npm signs where they come from", async () => {
    const url = "git+https://example.com/owner/berth.git"
    const manifest = JSON.parse(await readFile(join(repository, homes.core, "package.json"), "utf8"))
    expect(publishedManifest({ ...manifest, repository: { type: "git", url } })).toMatchObject({ repository: { url } })
  })

  it("is published by what the workflow runs, and never twice", async () => {
    const into = join(folder, "dist")
    await mkdir(into)
    for (const path of tarballs()) await cp(path, join(into, basename(path)))
    const sums = tarballs().map(
      (path) => `${createHash("sha256").update(readFileSync(path)).digest("hex")}  ${basename(path)}\n`
    )
    await writeFile(join(into, "SHA256SUMS"), sums.join(""))
    const publish = () => new Program("bash", ["-e", "-c", publishing()], { cwd: into, env: environment() }).ended
    const { code, stderr } = await publish()
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" })
    expect((await publish()).code).not.toBe(0)

    const first = join(into, basename(tarballs()[0]!))
    await writeFile(first, Buffer.concat([readFileSync(first), Buffer.from("more")]))
    const changed = await publish()
    expect(changed.code).not.toBe(0)
    expect(changed.stdout).toContain(`${basename(first)}: FAILED`)
  })

  it("is installed by name, with its bill of materials", async () => {
    await using project = await Project.with(names, { registry })
    for (const name of names) {
      const { version } = await project.manifestOf(name)
      const bill = JSON.parse(await readFile(join(project.folder, "node_modules", name, "sbom.cdx.json"), "utf8"))
      expect(bill.metadata.component).toMatchObject({ name, version })
    }
    expect(await project.entriesThatFail(["@berthkit/cli", "@berthkit/watch"])).toBe("")
  })

  it.each([
    ["@berthkit/cli", "berth"],
    ["@berthkit/server", "berth-server"],
    ["@berthkit/watch", "berth-watch"]
  ])("%s is run by npx, as %s", async (name, binary) => {
    const cwd = await mkdtemp(join(folder, "npx-"))
    const args = ["--yes", name, "--version"]
    const { code, stderr, stdout } = await new Program("npx", args, { cwd, env: environment() }).ended
    expect({ code, stderr: code === 0 ? "" : stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toMatch(new RegExp(`^${binary} v?\\d+\\.\\d+\\.\\d+\\n$`))
  })
})
