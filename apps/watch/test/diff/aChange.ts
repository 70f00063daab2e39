/** An entry of the log of changes for tests: the delete of the node 7. A test states only the fields that matter to it. */
import type { Change } from "@berthkit/core/client/state/Change"

export const aChange = (over: Partial<Change> = {}): Change => ({
  at: "1970-01-01T00:00:00.000Z",
  action: "delete",
  node: 7,
  name: null,
  asked: "",
  outcome: "deleted",
  why: null,
  command: "node delete",
  fleet: null,
  lease: null,
  user: "ann",
  host: "laptop",
  job: null,
  ...over
})
