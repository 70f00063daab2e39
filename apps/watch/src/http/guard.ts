/**
 * Who may use the HTTP interface: the guard of `@berthkit/web`, in the words of the daemon.
 */
import { makeGuard } from "@berthkit/web/guard"

export const refusalOf = makeGuard({
  name: "The daemon",
  token: "token",
  toAllow: () => "use its address"
})
