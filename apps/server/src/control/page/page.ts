/**
 * The page for people at `/_mock/`: the worlds, their nodes, the clock, the armed faults and the live journal. It holds no data: what runs in the
 * browser, `browser/`, asks the control plane, with the token that its reader types in if one is needed.
 */
import { pageOf } from "@berthkit/web/pageOf"

export const page = pageOf({
  title: "Berth mock",
  withoutScript: "This page needs JavaScript. The control plane itself is at /_mock/worlds.",
  from: import.meta.url
})
