/** The commands of docs/several-machines.md print what the page shows, except for times, ports, and the process that has each account. */
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { freePort } from "@berthkit/testing/freePort"
import { Postgres } from "@berthkit/testing/Postgres"
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { Shell } from "./machine/Shell.ts"
import { folder, wait } from "./Scene.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
const page = readFileSync(join(root, "docs/several-machines.md"), "utf8")
const [, section = ""] = /^## From one machine to three[^\n]*\n([^]*?)^## /m.exec(page) ?? []

const fences = Array.from(section.matchAll(/^```(\w*)\n([^]*?)^```$/gm), ([, language, text]) => ({
  language,
  text: text!
}))

const fenced = (language: string) => fences.flatMap((each) => (each.language === language ? [each.text] : []))

interface Step {
  readonly command: string
  readonly printed: string
}

/** Each command of the page, with the output that the page shows below it. */
const steps: ReadonlyArray<Step> = fenced("").flatMap((block) =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      const [command = "", ...printed] = step.split("\n")
      return { command, printed: printed.join("\n").trim() }
    })
)

const withoutChance = (text: string): string =>
  text
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
    .replace(/[\w-]+:\d+:\w{8}/g, "PROCESS")
    .trim()

/** Replaces the names on the page by the actual ones. */
const local = (address: string, ports: ReadonlyArray<number>) => (text: string) =>
  text
    .replace("postgres://watch:PASSWORD@db.example.com/watch", address)
    .replaceAll("4010", String(ports[0]))
    .replaceAll("9464", String(ports[1]))

it.live("scales from one machine to three and back, as docs/several-machines.md says", () =>
  Effect.gen(function* () {
    const postgres = yield* Postgres.scoped()
    const here = yield* folder
    const toLocal = local(postgres.url(), [yield* wait(freePort), yield* wait(freePort)])
    for (const [name, path] of [
      ["berth-watch", "apps/watch/bin/berth-watch.mjs"],
      ["berth-server", "apps/server/bin/berth-server.mjs"]
    ] as const) {
      writeFileSync(join(here, name), `#!/bin/sh\nexec '${process.execPath}' '${join(root, path)}' "$@"\n`)
      chmodSync(join(here, name), 0o755)
    }
    const [config = ""] = fenced("yaml")
    writeFileSync(join(here, "watch.yml"), toLocal(config))
    const env = { HOME: here, BERTH_ALLOWANCE_FILE: "off", PATH: `${here}${delimiter}${process.env["PATH"]}` }
    const shell = yield* Shell.scoped(here, env)
    expect(steps.length).toBeGreaterThan(15)
    for (const { command, printed } of steps) {
      const shown = withoutChance(toLocal(printed))
      const run = () => shell.run(toLocal(command)).then(withoutChance)
      // Commands that show a state may show a change only after a while.
      if (/^(berth-watch status|diff)/.test(command)) {
        yield* wait(() => expect.poll(run, { interval: 500, message: command }).toBe(shown))
      } else expect({ command, shown: yield* wait(run) }).toEqual({ command, shown })
    }
  })
)
