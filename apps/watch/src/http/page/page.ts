/**
 * The page for people at `/`. It holds no data: what runs in the browser, `browser/`, asks the daemon, with the cookie of its reader where a
 * token is needed.
 */
import { pageOf } from "@berthkit/web/pageOf"

export const page = pageOf({
  title: "Berth watch",
  withoutScript: "This page needs JavaScript. The data are at /api/status.",
  from: import.meta.url
})
