/**
 * The page for people at `/`. The page itself holds no data: its script in `browser/` asks the daemon, with the reader's cookie
 * if a token is needed.
 */
import { pageOf } from "@berthkit/web/pageOf"

export const page = pageOf({
  title: "Berth watch",
  withoutScript: "This page needs JavaScript. The data is at /api/status.",
  from: import.meta.url
})
