/**
 * Who may use the HTTP interface: the guard of `@berth/web`, in the words of the daemon.
 */
import { makeGuard } from "@berth/web/guard"

export const refusalOf = makeGuard({
  name: "The daemon",
  token: "token",
  toAllow: () => "use its address"
})
