import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { send } from "../http/service.ts"
import { run, serve } from "./berthServer.ts"

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "berth-token-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

const variable = (token: string) => ({ BERTH_CONTROL_TOKEN: token })

/** The statuses of the replies to a request without a token and to one with this token. */
const statusesWith = Effect.fnUntraced(function* (url: string, token: string) {
  const worlds = `${url}/_mock/worlds`
  const without = yield* send(worlds)
  const shown = yield* send(worlds, { headers: { authorization: `Bearer ${token}` } })
  return [without.status, shown.status]
})

describe("the control token", () => {
  it.live("comes from a variable or a file, so that no process list shows it", () =>
    Effect.gen(function* () {
      const file = join(yield* directory, "token")
      writeFileSync(file, "from-file\n")
      const host = ["--port", "0", "--host", "0.0.0.0"]
      const byVariable = yield* serve(host, variable("from-variable"))
      expect(yield* statusesWith(byVariable.ready.url, "from-variable")).toEqual([401, 200])
      const byFile = yield* serve([...host, "--control-token-file", file], variable("from-variable"))
      expect(yield* statusesWith(byFile.ready.url, "from-file")).toEqual([401, 200])
      const open = yield* serve(["--port", "0"], variable(""))
      expect(yield* statusesWith(open.ready.url, "any")).toEqual([200, 200])
    })
  )

  it.live("that cannot be used is refused in one line that does not repeat it", () =>
    Effect.gen(function* () {
      const path = yield* directory
      const [bad, missing] = [join(path, "bad"), join(path, "missing")]
      writeFileSync(bad, "s3cret s3cret\n")
      const sentence = "expected a token of visible ASCII characters, which a header can hold"
      const cases = [
        [["--port", "0"], variable("s3cret s3cret"), `BERTH_CONTROL_TOKEN: ${sentence}`],
        [["--control-token-file", bad], {}, `--control-token-file: ${sentence}`],
        [["--control-token-file", missing], {}, `--control-token-file: cannot read ${missing}: there is no such file`],
        [
          ["--control-token", "t", "--control-token-file", bad],
          {},
          "--control-token and --control-token-file: leave out one of the two"
        ],
        [
          ["--host", "0.0.0.0"],
          variable(""),
          "--host 0.0.0.0 is reachable from other machines and needs BERTH_CONTROL_TOKEN or --control-token-file"
        ]
      ] as const
      for (const [args, variables, message] of cases) {
        const { code, stderr } = yield* run(args, variables)
        expect([code, stderr]).toEqual([2, `berth-server: ${message}\n`])
      }
    })
  )
})
