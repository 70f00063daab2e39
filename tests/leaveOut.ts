/** Leaves out the tests that run only in the documented dialect. `today.ts` lists these tests, singly or by their groups. */
import { relative } from "node:path"
import { beforeEach } from "vitest"
import { documentedOnly } from "./today.ts"

beforeEach(({ skip, task }) => {
  const reasons = documentedOnly[relative(import.meta.dirname, task.file.filepath)]
  const reason = reasons?.[task.name] ?? reasons?.[task.suite?.name ?? ""]
  if (reason !== undefined) skip(reason)
})
