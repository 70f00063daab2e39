import { assert, describe, it } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Program } from "@berthkit/testing/Program"
import { mockService } from "../core/promise/Service.ts"

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8")

/** The fenced blocks of a page in one language. */
const blocks = (page: string, language: string) =>
  Array.from(page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms")), ([, code]) => code!)

for (const name of ["using-with-promises", "using-with-effect"]) {
  describe(`docs/${name}.md`, () => {
    const page = read(`docs/${name}.md`)
    const example = `packages/core/examples/${name}.ts`

    it("consists of the blocks of the example program", () => {
      assert.strictEqual(blocks(page, "ts").join("\n"), read(example))
    })

    it("prints what the page shows", async () => {
      await using service = await mockService({
        scenario: { fleet: 120 },
        clock: "real",
        provisioning: "20 millis",
        termination: "20 millis"
      })
      const { accessToken, apiKey } = service.options
      const state = mkdtempSync(join(tmpdir(), "berth-pages-"))
      await using program = Program.ofNode(fileURLToPath(new URL(`../../${example}`, import.meta.url)), [], {
        env: {
          ...process.env,
          BERTH_BASE_URL: service.baseUrl,
          BERTH_API_KEY: apiKey,
          BERTH_ACCESS_TOKEN: accessToken,
          XDG_STATE_HOME: state
        }
      })
      const { code, stderr, stdout } = await program.ended
      rmSync(state, { recursive: true })
      assert.strictEqual(stderr, "")
      assert.strictEqual(code, 0)
      assert.deepStrictEqual([stdout], blocks(page, "text"))
    })
  })
}
