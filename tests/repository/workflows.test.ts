/** Checks what the GitHub workflows may do. actionlint, in `tests/document`, checks whether GitHub accepts them. */
import { readdirSync, readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { parse } from "yaml"

const folder = new URL("../../.github/workflows/", import.meta.url)
const files = readdirSync(folder)

/** The permissions of jobs apart from reading. */
const permitted: Readonly<Record<string, unknown>> = {
  "release.yml": [["publish", { "id-token": "write" }]],
  "docs.yml": [
    ["build", { contents: "read", pages: "read" }],
    ["publish", { pages: "write", "id-token": "write" }]
  ]
}

interface Job {
  readonly uses?: string
  readonly needs?: string | ReadonlyArray<string>
  readonly container?: unknown
  readonly permissions?: Readonly<Record<string, string>>
  readonly strategy?: { readonly matrix: Readonly<Record<string, ReadonlyArray<unknown>>> }
  readonly steps?: ReadonlyArray<{ readonly uses?: string; readonly run?: string }>
}

interface Workflow {
  readonly permissions: unknown
  readonly jobs: Readonly<Record<string, Job>>
}

const read = (file: string): string => readFileSync(new URL(file, folder), "utf8")
const workflow = (file: string): Workflow => parse(read(file))
const stepsOf = ({ jobs }: Workflow) => Object.values(jobs).flatMap(({ steps = [] }) => steps)

describe.each(files)("%s", (file) => {
  it("has actions that are pinned by digest, with the version next to it", () => {
    const lines = read(file).match(/uses: .*$/gm) ?? []
    const foreign = lines.filter((line) => !line.startsWith("uses: ./"))
    expect(foreign.length).toBeGreaterThan(0)
    for (const line of foreign) expect(line).toMatch(/^uses: actions\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it("may only read, but for the one job that publishes", () => {
    const { jobs, permissions } = workflow(file)
    expect(permissions).toEqual({ contents: "read" })
    const further = Object.entries(jobs).flatMap(([name, job]) => (job.permissions ? [[name, job.permissions]] : []))
    expect(further).toEqual(permitted[file] ?? [])
  })

  it("has no secret and no container, and leaves no token in a checkout", () => {
    const text = read(file)
    expect(text).not.toMatch(/secrets\.|--privileged|^ *container:|NODE_AUTH_TOKEN|_authToken/m)
    expect(text.match(/persist-credentials: false/g)).toHaveLength(text.match(/uses: actions\/checkout@/g)!.length)
  })

  it("passes text of an event to a script only as a variable", () => {
    for (const { run = "" } of stepsOf(workflow(file))) expect(run).not.toContain("${{")
  })
})

it("one version of an action is used everywhere", () => {
  const used = new Set(files.flatMap((file) => read(file).match(/actions\/[\w-]+@[0-9a-f]+/g) ?? []))
  const names = Array.from(used, (each) => each.split("@")[0])
  expect(names).toEqual(Array.from(new Set(names)))
})

it("a pull request runs every part of .ci/run on Linux, and the test command on every system", () => {
  const { jobs } = workflow("ci.yml")
  const [, parts = ""] = /^readonly parts=\((.*)\)$/m.exec(
    readFileSync(new URL("../../.ci/run", import.meta.url), "utf8")
  )!
  const { os, node } = jobs["test"]!.strategy!.matrix as { os: ReadonlyArray<string>; node: ReadonlyArray<number> }
  // No clone contains the standard.
  expect(["test", ...(jobs["linux"]!.strategy!.matrix["part"] as ReadonlyArray<string>), "conformance"]).toEqual(
    parts.split(" ")
  )
  expect(os.map((name) => name.split("-")[0])).toEqual(["ubuntu", "macos"])
  expect(jobs["test"]!.strategy!.matrix["include"]).toEqual([{ os: expect.stringMatching(/^windows-/), node: 26 }])
  expect(node).toEqual([22, 24, 26])
})

it("a release is published after it was tested and built, by a job that runs no code of the repository", () => {
  const { jobs } = workflow("release.yml")
  expect(Object.keys(jobs)).toEqual(["test", "build", "publish"])
  expect(jobs["test"]!.uses).toBe("./.github/workflows/ci.yml")
  expect(jobs["publish"]!.needs).toEqual(["test", "build"])
  const steps = jobs["publish"]!.steps!
  expect(steps.filter(({ uses = "" }) => uses.startsWith("actions/checkout"))).toEqual([])
  expect(steps.flatMap(({ run }) => run ?? []).join("\n")).not.toMatch(/pnpm|npx|node /)
})
