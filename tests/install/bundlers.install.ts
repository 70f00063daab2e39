/**
 * Programs that bundle the client. A bundle for Node keeps its state directory. A bundle for a page has no code for files, and says so if
 * the program sets a state directory.
 */
import { readdir, readFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Program } from "@berthkit/testing/Program"
import { afterAll, beforeAll, describe, expect, it } from "@effect/vitest"
import { install } from "../document/installTools.ts"
import { Project } from "./Project.ts"
import { esbuild, runtimes } from "./runtimes.ts"
import { tarballs } from "./tarballs.ts"

const home = fileURLToPath(new URL("bundlers", import.meta.url))
const tool = (path: string) => [process.execPath, join(home, "node_modules", path)] as const

const webpack = tool("webpack-cli/bin/cli.js")
const rollup = tool("rollup/dist/bin/rollup")
const rolldown = tool("rolldown/bin/cli.mjs")
const tsdown = tool("tsdown/dist/run.mjs")
const vite = tool("vite/bin/vite.js")
const ncc = tool("@vercel/ncc/dist/ncc/cli.js")
const parcel = tool("parcel/lib/bin.js")

const resolvePlugin = join(home, "node_modules/@rollup/plugin-node-resolve/dist/es/index.js")

/** Config files, by name. */
const configs: Readonly<Record<string, string>> = {
  "webpack.mjs": `
    const path = (name) => process.cwd() + "/out/webpack-" + name
    const shared = { mode: "production", optimization: { minimize: false }, entry: "./keyed.js", target: "node22" }
    const modules = { module: true, chunkFormat: "module", filename: "main.mjs", chunkFilename: "[id].mjs" }
    export default [
      { ...shared, output: { path: path("cjs"), filename: "main.cjs", chunkFilename: "[id].cjs" } },
      { ...shared, experiments: { outputModule: true }, output: { ...modules, path: path("esm") } },
      { ...shared, entry: "./webpage.js", target: "web",
        output: { path: path("web"), filename: "main.cjs", asyncChunks: false, publicPath: "" } }
    ]`,
  "rollup.mjs": `
    import { nodeResolve } from ${JSON.stringify(resolvePlugin)}
    const input = "keyed.js"
    const plugins = [nodeResolve()]
    export default [
      { input, plugins, output: { dir: "out/rollup-esm", entryFileNames: "main.mjs" } },
      { input, plugins, output: { dir: "out/rollup-cjs", format: "cjs", entryFileNames: "main.cjs", chunkFileNames: "[name].cjs" } },
      { input, plugins, output: { file: "out/rollup-inlined/main.mjs", inlineDynamicImports: true } },
      { input: "webpage.js", plugins: [nodeResolve({ browser: true })],
        output: { file: "out/rollup-web/main.cjs", format: "iife", inlineDynamicImports: true } }
    ]`,
  "rolldown.mjs": `
    const input = "keyed.js", platform = "node"
    export default [
      { input, platform, output: { dir: "out/rolldown-esm", entryFileNames: "main.mjs" } },
      { input, platform, output: { dir: "out/rolldown-cjs", format: "cjs", entryFileNames: "main.cjs", chunkFileNames: "[name].cjs" } },
      { input: "webpage.js", platform: "browser", output: { file: "out/rolldown-web/main.cjs", format: "iife", codeSplitting: false } }
    ]`,
  "tsdown.config.mjs": `
    const shared = { platform: "node", dts: false, deps: { alwaysBundle: [/./] } }
    export default ["esm", "cjs"].map((format) => ({ ...shared, entry: { main: "keyed.js" }, format, outDir: "out/tsdown-" + format }))`,
  "vite.ssr.mjs": `
    const output = { entryFileNames: "main.mjs" }
    export default { ssr: { noExternal: true }, build: { ssr: "keyed.js", outDir: "out/vite-ssr", rollupOptions: { output } } }`,
  "vite.web.mjs": `
    const lib = { entry: "webpage.js", formats: ["iife"], name: "page", fileName: () => "main.cjs" }
    export default { build: { outDir: "out/vite-web", lib } }`
}

type Command = readonly [command: string, ...args: ReadonlyArray<string>]

/** The commands that run each bundler. */
const builds: Readonly<Record<string, ReadonlyArray<Command>>> = {
  webpack: [[...webpack, "-c", "webpack.mjs"]],
  Rollup: [[...rollup, "-c", "rollup.mjs"]],
  Rolldown: [[...rolldown, "-c", "rolldown.mjs"]],
  tsdown: [[...tsdown]],
  Vite: [
    [...vite, "build", "-c", "vite.ssr.mjs"],
    [...vite, "build", "-c", "vite.web.mjs"]
  ],
  ncc: [[...ncc, "build", "keyed.js", "-o", "out/ncc"]],
  esbuild: [
    [...esbuild, "keyed.js", "--bundle", "--platform=node", "--outfile=out/esbuild-cjs/main.cjs"],
    [...esbuild, "keyed.js", "--bundle", "--platform=node", "--format=esm", "--splitting", "--outdir=out/esbuild-esm"],
    [...esbuild, "webpage.js", "--bundle", "--outfile=out/esbuild-web/main.cjs"]
  ],
  Bun: [
    [runtimes.Bun[0], "build", "keyed.js", "--target=node", "--outfile=out/bun-esm/main.mjs"],
    [runtimes.Bun[0], "build", "keyed.js", "--target=node", "--format=cjs", "--outfile=out/bun-cjs/main.cjs"],
    [runtimes.Bun[0], "build", "webpage.js", "--target=browser", "--format=iife", "--outfile=out/bun-web/main.cjs"]
  ],
  Parcel: [[...parcel, "build", "--no-cache", "--no-source-maps"]]
}

/** The bundles for Node, by the file that starts each. */
const forNode: Readonly<Record<string, ReadonlyArray<string>>> = {
  webpack: ["webpack-cjs/main.cjs", "webpack-esm/main.mjs"],
  Rollup: ["rollup-esm/main.mjs", "rollup-cjs/main.cjs", "rollup-inlined/main.mjs"],
  Rolldown: ["rolldown-esm/main.mjs", "rolldown-cjs/main.cjs"],
  tsdown: ["tsdown-esm/main.mjs", "tsdown-cjs/main.cjs"],
  Vite: ["vite-ssr/main.mjs"],
  ncc: ["ncc/index.js"],
  esbuild: ["esbuild-cjs/main.cjs", "esbuild-esm/keyed.js"],
  Bun: ["bun-esm/main.mjs", "bun-cjs/main.cjs"],
  Parcel: ["parcel/keyed.js"]
}

/** The bundles for pages. */
const forPages: Readonly<Record<string, string>> = {
  webpack: "webpack-web/main.cjs",
  Rollup: "rollup-web/main.cjs",
  Rolldown: "rolldown-web/main.cjs",
  Vite: "vite-web/main.cjs",
  esbuild: "esbuild-web/main.cjs",
  Bun: "bun-web/main.cjs"
}

/** Parcel reads its targets from the manifest. */
const targets = {
  server: { source: "keyed.js", distDir: "out/parcel", context: "node", outputFormat: "commonjs" },
  page: { source: "webpage.js", distDir: "out/parcel-web", context: "browser" }
}

let project: Project
let server: Program
let account: Record<string, string>

beforeAll(async () => {
  await install(home)
  project = await Project.with(tarballs())
  for (const name of ["keyed.js", "webpage.js"]) await project.add(new URL(`programs/${name}`, import.meta.url))
  for (const [name, text] of Object.entries(configs)) await project.write(name, text)
  const all = Object.entries(targets).map(([name, target]) => [
    name,
    { ...target, includeNodeModules: true, optimize: false }
  ])
  await project.write(
    "package.json",
    JSON.stringify({ private: true, type: "module", targets: Object.fromEntries(all) })
  )
  server = project.binary("berth-server", ["--port", "0"])
  const { accessToken, apiKey, url } = JSON.parse(await server.printed(/^\{.*\}$/m))
  account = { BERTH_BASE_URL: url, BERTH_API_KEY: apiKey, BERTH_ACCESS_TOKEN: accessToken }
})

afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
  await project?.[Symbol.asyncDispose]()
})

/** The output of a bundle that runs with a new state directory. */
const printed = async (bundle: string) => {
  const env = [
    "env",
    ...Object.entries({ ...account, STATE: `state/${bundle}` }).map(([name, value]) => `${name}=${value}`)
  ]
  const [command, ...args] = env
  const { stderr, stdout } = await project.runProgram(`out/${bundle}`, [command!, ...args, process.execPath])
  expect(stderr).toBe("")
  return JSON.parse(stdout)
}

describe.each(Object.keys(builds))("%s", (bundler) => {
  beforeAll(async () => {
    for (const [command, ...args] of builds[bundler]!) {
      const { code, stderr, stdout } = await project.runProgram(args[0]!, [command], args.slice(1))
      expect({ code, output: code === 0 ? "" : `${stdout}${stderr}` }).toEqual({ code: 0, output: "" })
    }
    // Parcel writes CommonJS, but the project is a module.
    if (bundler === "Parcel") await project.write("out/parcel/package.json", '{ "type": "commonjs" }')
  })

  it.each(forNode[bundler]!)("a second run of %s gets the node of the first", async (bundle) => {
    const { id } = await printed(bundle)
    expect(id).toBeGreaterThan(0)
    expect(await printed(bundle)).toEqual({ id, outcome: "adopted" })
  })

  const bundle = forPages[bundler]
  if (bundle === undefined) return
  it("a page has no code for files, and says so", async () => {
    expect(await readFile(join(project.folder, "out", bundle), "utf8")).not.toContain("allowance.json")
    expect(await printed(bundle)).toEqual({
      isSame: true,
      onNode: expect.stringContaining("this program is bundled for browsers, without the code for files")
    })
  })
})

it("Parcel leaves the code for files out of a page", async () => {
  const files = await readdir(join(project.folder, "out/parcel-web"))
  const texts = await Promise.all(files.map((file) => readFile(join(project.folder, "out/parcel-web", file), "utf8")))
  expect(texts.join("")).not.toContain("allowance.json")
})

it("an import of isKnownStatus alone is less than 8 KiB", async () => {
  await project.write(
    "status.js",
    `import { isKnownStatus } from "@berthkit/core"\nconsole.log(isKnownStatus("running"))`
  )
  const args = ["--bundle", "--minify", "--outfile=out/status.cjs"]
  expect((await project.runProgram("status.js", [...esbuild, ...args])).code).toBe(0)
  expect((await readFile(join(project.folder, "out/status.cjs"))).length).toBeLessThan(8 * 1024)
})
