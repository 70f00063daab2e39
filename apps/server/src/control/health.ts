/**
 * Answers for `HealthGroup`.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import pkg from "../../package.json" with { type: "json" }
import { ControlApi } from "./ControlApi.ts"
import { ControlledWorlds } from "./ControlledWorlds.ts"

export const layer = HttpApiBuilder.group(ControlApi, "health", (handlers) =>
  handlers.handle("get", () =>
    Effect.map(ControlledWorlds, ({ worlds }) => ({
      status: "ok" as const,
      version: pkg.version,
      worlds: worlds.size
    }))
  )
)
