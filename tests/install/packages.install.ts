import { existsSync, readFileSync } from "node:fs"
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { packFolder } from "@berthkit/scripts/pack"
import { reportFiles, reportOf } from "@berthkit/scripts/publicApi"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { checkConfig, checkMail, plain } from "./mailing.ts"
import { Project } from "./Project.ts"
import { tarballs } from "./tarballs.ts"

const names = ["@berthkit/core", "@berthkit/cli", "@berthkit/server", "@berthkit/watch"]
const programs = {
  promise: new URL("programs/promise.ts", import.meta.url),
  effect: new URL("programs/effect.ts", import.meta.url)
}

/** A script that has no `import`. */
const requiring = `
const { createClient, isBerthError } = require("@berthkit/core")
const options = { baseUrl: "http://127.0.0.1:1", apiKey: "k", accessToken: "t", fetch: async () => new Response("{}", { status: 404 }) }
const client = createClient(options)
client.nodes.get(1).catch((error) => console.log(typeof createClient, isBerthError(error)))`

const { version: effectVersion } = JSON.parse(
  readFileSync(new URL("../node_modules/effect/package.json", import.meta.url), "utf8")
)

/** Has a folder for each package, with the content of its tarball. */
const contents = dirname(tarballs()[0]!)

let folder: string
let withoutEffect: Project
let withEffect: Project

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "berth-packages-"))
  withoutEffect = await Project.with(tarballs())
  await withoutEffect.add(programs.promise)
  withEffect = await Project.with([...tarballs(), `effect@${effectVersion}`])
  await withEffect.add(programs.promise)
  await withEffect.add(programs.effect)
})

afterAll(async () => {
  await withoutEffect?.[Symbol.asyncDispose]()
  await withEffect?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

/** A tarball of `@berthkit/core` with some changed files. `change` gets the package's folder. */
const changedCore = async (name: string, change: (core: string) => Promise<void>): Promise<string> => {
  const core = join(folder, name, "core")
  await cp(join(contents, "core"), core, { recursive: true })
  await change(core)
  return packFolder(core)
}

const changeManifest = async (core: string, change: Record<string, unknown>) => {
  const path = join(core, "package.json")
  await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, "utf8")), ...change }))
}

describe("a project with Effect", () => {
  it("imports every entry", async () => {
    expect(await withEffect.entriesThatFail(names)).toBe("")
  })

  it("imports nothing that is not an entry", async () => {
    const { stderr } = await withEffect.evaluate(`await import("@berthkit/core/api/BerthApi")`)
    expect(stderr).toContain("ERR_PACKAGE_PATH_NOT_EXPORTED")
  })

  it("has examples in docstrings that import what a program imports", async () => {
    const scope = join(withEffect.folder, "node_modules/@berthkit")
    for (const file of ["core/dist/client/Nodes.d.ts", "server/dist/types/apps/server/src/testing.d.ts"]) {
      const imports = (await readFile(join(scope, file), "utf8")).match(/^ \* import .*/gm)
      expect(imports).toContain(' * import { Nodes } from "@berthkit/core/client/Nodes"')
    }
  })

  it("runs a program with Effect", async () => {
    const { stderr, stdout } = await withEffect.runProgram("effect.ts")
    expect(stderr).toBe("")
    expect(JSON.parse(stdout)).toEqual({ listed: true, refused: 999_999, scripted: "NodeNotFound" })
  })

  it.each(["nodenext", "bundler"] as const)("compiles with the module resolution %s", async (resolution) => {
    await withEffect.addEveryEntry(names)
    expect(await withEffect.typeFaults(resolution)).toBe("")
  })
})

describe("a project without Effect", () => {
  it("gets the packages alone", async () => {
    const installed = await readdir(join(withoutEffect.folder, "node_modules"))
    expect(installed.filter((name) => !name.startsWith("."))).toEqual(["@berthkit"])
  })

  it("runs a program with promises", async () => {
    const { stderr, stdout } = await withoutEffect.runProgram("promise.ts")
    expect(stderr).toBe("")
    expect(JSON.parse(stdout)).toEqual({ listed: true, refused: { nodeId: 1, isSameClass: true }, isKept: true })
  })

  it.each([
    `import { createClient } from "@berthkit/core"
     createClient({ baseUrl: "nonsense", apiKey: "k", accessToken: "t" })`,
    `import { createClient } from "@berthkit/core"
     const fetch = async () => new Response("{}", { status: 404 })
     await createClient({ baseUrl: "http://127.0.0.1:1", apiKey: "k", accessToken: "t", fetch }).nodes.get(1)`,
    `import { startServer } from "@berthkit/server/testing/promise"
     await startServer({ seeed: 7 })`
  ])("shows of an uncaught error no more than a screen: %s", async (source) => {
    const { code, stderr } = await withoutEffect.evaluate(source)
    expect(code).toBe(1)
    expect(stderr).toMatch(/(InvalidOption|NodeNotFound|MockRefused): /)
    expect(stderr.length).toBeLessThan(4_000)
  })

  it.each(["nodenext", "bundler"] as const)("compiles with the module resolution %s", async (resolution) => {
    expect(await withoutEffect.typeFaults(resolution)).toBe("")
  })

  // The program's options include neither `esnext.disposable` nor any library later than 2022, because the declarations themselves name the
  // libraries that they need.
  it.each(["nodenext", "bundler"] as const)(
    "compiles with the library of 2022 and the module resolution %s",
    async (resolution) => {
      expect(await withoutEffect.typeFaults(resolution, ["es2022", "dom"])).toBe("")
    }
  )

  it("compiles with the library of 2022 alone, where neither a browser nor Node is declared", async () => {
    await using project = await Project.with(tarballs())
    const entries = ["core", "core/promise", "server/testing/promise"]
    await project.write(
      "bare.ts",
      entries.map((entry, at) => `export * as all${at} from "@berthkit/${entry}"\n`).join("")
    )
    expect(await project.typeFaults("nodenext", ["es2022"])).toBe("")
    expect(await project.typeFaults("bundler", ["es2022"])).toBe("")
  })

  it("is required by a CommonJS script", async () => {
    const { code, stderr, stdout } = await withoutEffect.require(requiring)
    expect({ code, stderr, stdout }).toEqual({ code: 0, stderr: "", stdout: "function true\n" })
  })

  it("has errors whose types are read as they are written: fields with their units, and no generated base", async () => {
    const dist = join(withoutEffect.folder, "node_modules/@berthkit/core/dist/promise")
    const reasons = await readFile(join(dist, "reasons.d.ts"), "utf8")
    expect(reasons).not.toContain("_base")
    expect(reasons).toMatch(
      /class RateLimited extends BerthError \{[^}]*milliseconds[^}]*readonly retryAfterMillis: number \| null;/
    )
    for (const [field] of reasons.matchAll(/^.*\n(?= +readonly (?!_tag))/gm)) expect(field).toContain("*/")
  })

  it("runs the three binaries", async () => {
    await using server = withoutEffect.binary("berth-server", ["--port", "0", "--scenario", "small"])
    const line = await server.printed(/^\{.*\}$/m)
    const { accessToken, apiKey, url } = JSON.parse(line)
    const env = { BERTH_BASE_URL: url, BERTH_API_KEY: apiKey, BERTH_ACCESS_TOKEN: accessToken }

    const listed = await withoutEffect.binary("berth", ["node", "list", "-o", "json"], { env }).ended
    expect(listed).toMatchObject({ code: 0, stderr: "" })
    const nodes: ReadonlyArray<unknown> = JSON.parse(listed.stdout)
    expect(nodes.length).toBeGreaterThan(0)

    const watched = await withoutEffect.binary("berth-watch", ["once"], { env }).ended
    expect(watched.code).toBe(0)
    expect(JSON.parse(watched.stdout.split("\n")[0]!)).toMatchObject({ type: "berth.watch.baseline" })
  })
})

describe("berth-watch", () => {
  it.live("sends mail, and fills in templates", () =>
    checkMail(withoutEffect.folder, (args, env) => withoutEffect.binary("berth-watch", args, { env }))
  )

  it("loads what mail and templates need only if they are asked for", async () => {
    const home = join(folder, "lean")
    await cp(join(withoutEffect.folder, "node_modules/@berthkit/watch"), home, { recursive: true })
    const dist = join(home, "dist")
    const needed = (await readdir(dist)).filter((file) => /^(sendMail|compileTemplate)-.*\.mjs$/.test(file))
    expect(needed).toHaveLength(2)
    for (const file of needed) await rm(join(dist, file))
    const check = async (config: string) => {
      await writeFile(join(home, "watch.yml"), config)
      return checkConfig((args, env) => Program.ofNode(join(home, "bin/berth-watch.mjs"), args, { cwd: home, env }))
    }
    expect(await check(plain)).toMatchObject({ code: 0, stderr: "" })
    const templated = "sinks: [{ name: log, webhook: { url: https://example.com, template: '{{ type | json }}' } }]"
    expect((await check(plain.replace(/^sinks: .*/m, templated))).code).not.toBe(0)
  })
})

const pagesOf: Readonly<Record<string, ReadonlyArray<string>>> = {
  "@berthkit/core": ["docs/using-with-effect.md", "docs/using-with-promises.md", "openapi.json"],
  "@berthkit/cli": ["docs/cli-output.md", "docs/cli.md"],
  "@berthkit/server": [
    "docs/control-plane.md",
    "docs/interface/assumptions.md",
    "docs/interface/interface.md",
    "docs/running-the-mock.md",
    "docs/testing-with-the-mock.md"
  ],
  "@berthkit/watch": [
    "docs/watch.md",
    "docs/watch-events.md",
    "docs/watch-http.md",
    "docs/watch-latency.md",
    "docs/watch-receivers.md",
    "operate/alerts-nodes.yml",
    "operate/alerts.yml",
    "operate/berth-watch.service",
    "operate/compose.yml",
    "operate/fleet.yml",
    "operate/grafana.json",
    "operate/kubernetes.yml"
  ]
}

describe.each(names)("the tarball of %s", (name) => {
  it("contains the files that its entries need, without tests and sources", async () => {
    const files = await readdir(join(withEffect.folder, "node_modules", name), { recursive: true })
    expect(files).toEqual(expect.arrayContaining(["LICENSE", "README.md", "package.json"]))
    expect(files.filter((file) => /(?<!\.d)\.ts$|\.test\.|\.map$|\.tsbuildinfo$/.test(file))).toEqual([])
  })

  it("has pages whose links stay within it", async () => {
    const home = join(withEffect.folder, "node_modules", name)
    const pages = (await readdir(home, { recursive: true })).filter((file) => file.endsWith(".md"))
    expect(pages).toContain("README.md")
    for (const page of pages) {
      const text = await readFile(join(home, page), "utf8")
      for (const [, path] of text.matchAll(/\]\((?!\w+:|#)([^)#\s]+)/g)) {
        const linked = join(home, page, "..", path!)
        expect.soft(linked.startsWith(home) && existsSync(linked), `${page}: ${path}`).toBe(true)
      }
    }
  })

  it("has every page for users that its README links to, directly or through other pages", async () => {
    const files = await readdir(join(withEffect.folder, "node_modules", name), { recursive: true })
    expect(files).toEqual(expect.arrayContaining([...pagesOf[name]!]))
  })

  it("states what is bundled, with its licenses", async () => {
    const home = join(withEffect.folder, "node_modules", name)
    const bill = JSON.parse(await readFile(join(home, "sbom.cdx.json"), "utf8"))
    const licenses = await readFile(join(home, "LICENSES-OF-BUNDLED-PACKAGES"), "utf8")
    expect(bill.metadata.component.name).toBe(name)
    expect(bill.components).toContainEqual(expect.objectContaining({ purl: `pkg:npm/effect@${effectVersion}` }))
    for (const { name, version } of bill.components) expect(licenses).toContain(`${name} ${version} (`)
  })

  it("has a manifest for strangers", async () => {
    const manifest = await withEffect.manifestOf(name)
    expect(manifest).toMatchObject({ name, license: "MIT", engines: { node: ">=22.19" } })
    for (const field of ["private", "scripts", "dependencies", "devDependencies", "publishConfig"]) {
      expect(manifest).not.toHaveProperty(field)
    }
  })
})

describe.each(Object.entries(reportFiles))("the public API of %s", (name, file) => {
  it("is committed as the package has it (`pnpm public-api` writes it)", async () => {
    expect(reportOf(join(contents, name))).toBe(await readFile(file, "utf8"))
  })
})

it("a changed signature, also of a type that is exported from no entry, shows in the public API", async () => {
  const core = join(contents, "core")
  const before = reportOf(core)
  const types = join(core, "dist/client/waiting/Waiting.d.ts")
  const text = await readFile(types, "utf8")
  await writeFile(types, text.replace("readonly timeout?:", "readonly timeLimit?:"))
  const after = reportOf(core)
  await writeFile(types, text)
  const added = after.split("\n").filter((line) => !before.includes(line))
  expect(added.join("\n")).toContain("timeLimit")
})

// Faults in the workspace's own packages must not pass.
describe("the README", () => {
  it("installs each package for whom it is for", { timeout: 300_000 }, async () => {
    const page = await readFile(new URL("../../README.md", import.meta.url), "utf8")
    const commands = Array.from(page.matchAll(/^npm install .*\.tgz.*$/gm), ([command]) => command)
    expect(commands).toHaveLength(names.length)
    // The project next to the clone, and the user's global packages.
    const home = join(folder, "readme")
    const project = join(home, "project")
    await cp(contents, join(home, "berth/dist/packages"), { recursive: true })
    await mkdir(project)
    await writeFile(join(project, "package.json"), '{ "private": true }')
    const programs = [
      "berth --version",
      "berth-watch --version",
      "npx --no-install berth-server --version",
      `node -e 'import("@berthkit/core/promise")'`
    ]
    const global = join(home, "global")
    const { code, stderr, stdout } = await new Program("sh", ["-ec", [...commands, ...programs].join("\n")], {
      cwd: project,
      env: {
        PATH: [join(global, "bin"), dirname(process.execPath), process.env["PATH"]].join(delimiter),
        HOME: home,
        npm_config_prefix: global,
        // The tarballs need no other packages, and npm sends no requests by itself.
        npm_config_offline: "true",
        npm_config_audit: "false",
        npm_config_update_notifier: "false"
      }
    }).ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" })
    expect(stdout).toMatch(/\nberth [\d.]+\nberth-watch v?[\d.]+\nberth-server v?[\d.]+\n$/)
  })
})

describe("a workspace", () => {
  it.each(["packages/core", "packages/terminal", "apps/cli", "apps/server", "apps/watch"])(
    "%s cannot be packed by itself",
    async (home) => {
      const cwd = fileURLToPath(new URL(`../../${home}`, import.meta.url))
      const { code, stderr } = await new Program("npm", ["pack", "--pack-destination", folder], { cwd }).ended
      expect(code).not.toBe(0)
      expect(stderr).toContain("Run `pnpm packages` at the root")
      expect((await readdir(folder)).filter((name) => name.endsWith(".tgz"))).toEqual([])
    }
  )
})

describe("the proof", () => {
  it("fails on a manifest with a version that only the workspace knows", async () => {
    const tarball = await changedCore("catalog", (core) =>
      changeManifest(core, { dependencies: { effect: "catalog:" } })
    )
    await expect(Project.with([tarball])).rejects.toThrow('Unsupported URL Type "catalog:"')
  })

  it("fails on a file that is missing", async () => {
    const tarball = await changedCore("missing", (core) => rm(join(core, "dist/promise.js")))
    await using project = await Project.with([tarball])
    expect(await project.entriesThatFail(["@berthkit/core"])).toContain("@berthkit/core ERR_MODULE_NOT_FOUND")
  })

  it("fails on an entry that is TypeScript", async () => {
    const tarball = await changedCore("source", async (core) => {
      await writeFile(join(core, "dist/promise.ts"), "export const version: string = ''")
      await changeManifest(core, { exports: { ".": "./dist/promise.ts" } })
    })
    await using project = await Project.with([tarball])
    expect(await project.entriesThatFail(["@berthkit/core"])).toContain("ERR_UNSUPPORTED_NODE_MODULES_TYPE_STRIPPING")
  })
})
