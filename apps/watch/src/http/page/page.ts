/**
 * The page for people at `/`. The page itself holds no data. Its script in `browser/` asks the daemon, with the session cookie
 * if the daemon has a token.
 */
import { pageOf } from "@berthkit/web/pageOf"

export const page = pageOf({
  title: "Berth watch",
  withoutScript: "This page needs JavaScript. The data is at /api/status.",
  from: import.meta.url
})
