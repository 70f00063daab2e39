/**
 * What hands one event over to the receiver of a sink.
 */
import { Context, Effect, type Scope } from "effect"
import { runCommand } from "./exec/runCommand.ts"
import type { Outcome } from "./Outcome.ts"
import type { SinkOptions } from "./SinkOptions.ts"
import { makeSender } from "./webhook/send.ts"

export type Attempt = (id: string, body: string) => Effect.Effect<Outcome>

/** Null for stdout, which takes many at once. */
export const makeAttempt = ({
  target
}: Pick<SinkOptions, "target">): Effect.Effect<Attempt | null, never, Scope.Scope> => {
  switch (target._tag) {
    case "Webhook":
      return makeSender(target)
    case "Exec":
      return Effect.succeed((_, body) => runCommand(target, body))
    case "Stdout":
      return Effect.succeed(null)
  }
}

/** How the attempts of a sink are made; in a test without a network, otherwise. */
export const MakeAttempt = Context.Reference<typeof makeAttempt>("@berthkit/watch/deliver/MakeAttempt", {
  defaultValue: () => makeAttempt
})
