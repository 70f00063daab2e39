/**
 * The page for people at `/_mock/`: the worlds, their nodes, the clock, the armed faults and the live journal. The page itself
 * holds no data: its script in `browser/` asks the control plane, with the reader's token if one is needed.
 */
import { pageOf } from "@berthkit/web/pageOf"

export const page = pageOf({
  title: "Berth mock",
  withoutScript: "This page needs JavaScript. The control plane itself is at /_mock/worlds.",
  from: import.meta.url
})
