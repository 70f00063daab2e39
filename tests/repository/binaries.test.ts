import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const binaries = [
  { name: "berth", home: "apps/cli", compilesSchemas: false },
  { name: "berth-server", home: "apps/server", compilesSchemas: true },
  { name: "berth-watch", home: "apps/watch", compilesSchemas: true }
]

/** Runs a binary on this Node, which claims to be `version`. */
const onNode = (version: string, binary: string, argument = "-v") =>
  spawnSync(
    process.execPath,
    [
      "--import",
      `data:text/javascript,Object.defineProperty(process.versions,"node",{value:"${version}"})`,
      binary,
      argument
    ],
    { encoding: "utf8", timeout: 120_000 }
  )

describe.each(binaries)("$name", ({ compilesSchemas, name, home }) => {
  const binary = `${home}/bin/${name}.mjs`

  it.each(["12.22.12", "20.20.2", "22.18.0"])("refuses Node %s in one line, and exits 1", (version) => {
    const { status, stdout, stderr } = onNode(version, binary)
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: "",
      stderr: `${name} needs Node 22.19 or newer; this is Node ${version}.\n`
    })
  })

  it.each(["22.19.0", "24.0.0", "26.10.0"])("starts on Node %s", (version) => {
    const { status, stdout, stderr } = onNode(version, binary)
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    expect(stdout).toMatch(/\d+\.\d+\.\d+/)
  })

  it("caches its compiled code for the next start", () => {
    onNode(process.versions.node, binary, "-h")
    expect(readdirSync(`${home}/dist/compiled`)).not.toEqual([])
  })

  it(`${compilesSchemas ? "compiles" : "does not compile"} its schemas: bundling keeps an import for its side effect`, () => {
    // The module `effect/schema/SchemaJITCompiler/enable` makes this call, and bundles keep its name.
    const bundled = readdirSync(`${home}/dist`).filter((name) => name.endsWith(".mjs"))
    const texts = bundled.map((name) => readFileSync(`${home}/dist/${name}`, "utf8"))
    expect(texts.filter((text) => /\binstall\(\(ast,resolve\)=>/.test(text))).toHaveLength(compilesSchemas ? 1 : 0)
  })
})
