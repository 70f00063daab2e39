/**
 * Who may use the control plane: the guard of `@berth/web`, in the words of the control plane.
 */
import { makeGuard } from "@berth/web/guard"

export const refusalOf = makeGuard({
  name: "The control plane",
  token: "control token",
  toAllow: (host) => `start with --allow-host ${host}`
})
