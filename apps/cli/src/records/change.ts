/**
 * An entry of the log of changes: the columns of `berth history`.
 */
import { Change } from "@berthkit/core/client/state/Change"
import { textOr } from "../output/format.ts"
import { recordOf } from "../output/RecordDescriptor.ts"

export const changeRecord = recordOf(Change, { none: "no changes", idKey: "node", nameKey: "name" }, [
  { key: "at", title: "WHEN (UTC)", value: ({ at }) => at.slice(0, 19).replace("T", " ") },
  { key: "action", title: "ACTION", value: ({ action }) => action },
  { key: "node", title: "NODE", value: ({ node }) => textOr(node === null ? null : String(node)), align: "right" },
  { key: "name", title: "NAME", value: ({ name }) => textOr(name), shrinkTo: 12 },
  { key: "asked", title: "ASKED", value: ({ asked }) => asked, shrinkTo: 12, dropOrder: 1 },
  {
    key: "outcome",
    title: "RESULT",
    value: ({ outcome }) => outcome,
    style: ({ outcome }) => (outcome === "failed" ? "bad" : outcome === "unknown" ? "waiting" : undefined)
  },
  { key: "command", title: "COMMAND", value: ({ command }) => command, dropOrder: 4 },
  { key: "fleet", title: "FLEET", value: ({ fleet }) => textOr(fleet), shrinkTo: 12, dropOrder: 6 },
  { key: "lease", title: "LEASE", value: ({ lease }) => textOr(lease), shrinkTo: 12, dropOrder: 1 },
  { key: "user", title: "USER", value: ({ user }) => textOr(user), dropOrder: 5 },
  { key: "host", title: "HOST", value: ({ host }) => host, dropOrder: 3 },
  { key: "job", title: "JOB", value: ({ job }) => textOr(job), dropOrder: 2 },
  { key: "why", title: "WHY", value: ({ why }) => textOr(why), shrinkTo: 12, dropOrder: 0 }
])
