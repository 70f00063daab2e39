/** Leaves out the tests that run in the documented dialect alone. `today.ts` lists them, by themselves or by what they are in. */
import { relative } from "node:path"
import { beforeEach } from "vitest"
import { documentedOnly } from "./today.ts"

beforeEach(({ skip, task }) => {
  const reasons = documentedOnly[relative(import.meta.dirname, task.file.filepath)]
  const reason = reasons?.[task.name] ?? reasons?.[task.suite?.name ?? ""]
  if (reason !== undefined) skip(reason)
})
