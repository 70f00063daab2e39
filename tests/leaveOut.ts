/** Leaves out the tests that state what only the documented interface has. `today.ts` lists them. */
import { relative } from "node:path"
import { beforeEach } from "vitest"
import { documentedOnly } from "./today.ts"

beforeEach(({ skip, task }) => {
  const reason = documentedOnly[relative(import.meta.dirname, task.file.filepath)]?.[task.name]
  if (reason !== undefined) skip(reason)
})
