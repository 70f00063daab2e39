/**
 * Describes what a stream can show: its width, and whether it supports colours and repainting. Pure and without Effect.
 */
import type { Writable } from "node:stream"

/** The capabilities of a stream. */
export interface Surface {
  readonly isTerminal: boolean
  /** Current width in cells; infinite if it is not a terminal. */
  readonly columns: number
  /** Whether it shows colours. */
  readonly colour: boolean
  /** Whether a line may be repainted on it. */
  readonly animate: boolean
}

/** A stream that may be a terminal. */
export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number }

const fallbackColumns = 80

/** The settings that determine colours; each is undefined if unset. */
export interface ColourSettings {
  /** The value of `--color`. */
  readonly color?: string | undefined
  readonly noColor?: string | undefined
  readonly forceColor?: string | undefined
  readonly term?: string | undefined
}

/**
 * The capabilities of a stream. Colours depend on --color, NO_COLOR, FORCE_COLOR and TERM, in this order of precedence. `mayAnimate` says
 * whether repainting is wanted at all.
 */
export const surfaceOf = (
  stream: Pick<TerminalStream, "isTTY" | "columns">,
  { color, forceColor, noColor, term }: ColourSettings,
  mayAnimate = true
): Surface => {
  const isTerminal = stream.isTTY === true
  const forced = forceColor === undefined ? undefined : !/^(?:0|false)$/i.test(forceColor)
  const dumb = term === "dumb"
  const byEnvironment = !noColor && (forced ?? (isTerminal && !dumb))
  return {
    isTerminal,
    get columns() {
      return isTerminal ? stream.columns || fallbackColumns : Number.POSITIVE_INFINITY
    },
    colour: color === "always" || (color !== "never" && byEnvironment),
    animate: isTerminal && !dumb && mayAnimate
  }
}
