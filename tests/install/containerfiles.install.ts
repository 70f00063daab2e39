import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { describe, expect, it } from "@effect/vitest"
import { containerfileLinter } from "./runtimes.ts"

const pathOf = (app: string) => fileURLToPath(new URL(`../../apps/${app}/Containerfile`, import.meta.url))

describe.each(["server", "watch"])("the Containerfile of %s", (app) => {
  const text = readFileSync(pathOf(app), "utf8")

  it("passes the linter", async () => {
    const [command, ...args] = containerfileLinter
    const { code, stdout } = await new Program(command, [...args, pathOf(app)]).ended
    expect({ code, stdout: stdout.trim() }).toEqual({ code: 0, stdout: "" })
  })

  it("has the Node of the workspace, and a user that is not root", () => {
    expect(text).toContain(`FROM docker.io/library/node:${process.versions.node}-slim\n`)
    expect(text).toMatch(/^USER [1-9]\d*:[1-9]\d*$/m)
  })
})

it("the linter finds what is wrong", async () => {
  const [command, ...args] = containerfileLinter
  const broken = fileURLToPath(new URL("../../README.md", import.meta.url))
  expect((await new Program(command, [...args, broken]).ended).code).not.toBe(0)
})
