/**
 * A tool of `berth mcp`: what a model is shown of it, and what it does. `serve.ts` offers them over the protocol.
 */
import { Effect, Result } from "effect"
import type { McpSchema } from "effect/ai"
import { UsageFault } from "../../failure/CliFailure.ts"
import type { Failure } from "../../failure/Problem.ts"
import { type Arguments, readArguments, type Values } from "./arguments.ts"

/** The result of a tool, as JSON that its schema describes. */
export type Data = Readonly<Record<string, unknown>>

/** What a tool answers: its result, or that it needs a person first. */
export type Answer = Data | McpSchema.InputRequired

/** What programs that run tools may assume of one that changes nothing, here or at the service. */
export const reading = { readOnlyHint: true, destructiveHint: false, idempotentHint: true }

interface Definition<A extends Arguments> {
  readonly name: string
  readonly description: string
  readonly parameters: A
  readonly output: Readonly<Record<string, unknown>>
  /** What programs that run tools may assume. */
  readonly annotations: typeof reading
}

export interface Tool<out R> extends Definition<Arguments> {
  readonly run: (given: unknown) => Effect.Effect<Answer, Failure, R>
}

/** A tool whose arguments are checked before it runs. */
export const tool = <const A extends Arguments, E extends Failure, R>(
  definition: Definition<A>,
  run: (values: Values<A>) => Effect.Effect<Answer, E, R>
): Tool<R> => ({
  ...definition,
  run: (given): Effect.Effect<Answer, Failure, R> => {
    const values = readArguments(definition.parameters, given)
    return Result.isFailure(values)
      ? new UsageFault({ message: values.failure, hint: `See the description of ${definition.name}.` })
      : run(values.success)
  }
})
