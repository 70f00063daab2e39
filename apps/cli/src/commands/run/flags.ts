/**
 * The flags of `berth run`: those of a create that make sense for a node of one command, and those of its lease.
 */
import { Duration, Effect, Random, Struct } from "effect"
import { argumentsFrom, duration, flag, flagOr, switchFlag, text, type Values } from "../../commandLine/Parameter.ts"
import { type NodeOptions, nodeName, parameters as ofCreate } from "../node/createFlags.ts"

/** Two weeks: whoever needs a node for longer creates one. */
const maxTtlMillis = 14 * 86_400_000

export const parameters = {
  words: argumentsFrom(1, "COMMAND", text(""), "What to run here"),
  ...Struct.omit(ofCreate, ["nameFlag", "committedSku", "ifAbsent", "key", "count", "wait"]),
  name: flag("name", nodeName("NAME"), "Name of the node; default run- and a random word"),
  ttl: flagOr(
    "ttl",
    duration({ minMillis: 1000, maxMillis: maxTtlMillis }),
    "Stop the command and delete the node after this time; default 1h",
    Duration.hours(1)
  ),
  reuse: switchFlag("reuse", "Use a node that an earlier run kept, and keep it for the rest of its paid hour"),
  timeout: flag("timeout", duration(), "Maximum time to wait until the node runs; default 10m")
}

export type RunOptions = Values<typeof parameters>

/** A word of eight letters and digits. */
export const randomWord = Effect.map(Random.nextIntBetween(36 ** 7, 36 ** 8), (drawn) => drawn.toString(36))

/** The same as the flags of a create. */
export const asCreate = (options: RunOptions, name: string): NodeOptions => ({
  ...options,
  name,
  nameFlag: undefined,
  committedSku: undefined
})
