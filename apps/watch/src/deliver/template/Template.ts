/** What a config knows about templates without loading their language. */
import type { Result } from "effect"

/** Renders the event `json`. A failure says why in a few words. */
export type Render = (json: string) => Result.Result<string, string>

/** What is wrong with a template, with the row and the column in the template, from 1. */
export interface TemplateProblem {
  readonly row: number
  readonly column: number
  /** It follows the name of the setting. */
  readonly message: string
}

/**
 * Compiles a template for events of these types. If `isJson`, the result must be JSON for every sample of an event:
 * samples with all fields, and samples without the fields that may be missing or null.
 */
export type CompileTemplate = (
  text: string,
  types: ReadonlyArray<string>,
  isJson: boolean
) => Result.Result<Render, ReadonlyArray<TemplateProblem>>
