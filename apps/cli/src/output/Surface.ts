/**
 * What a stream can show: how wide it is, and whether it shows colours and may be repainted. Pure, and without Effect.
 */
import type { Writable } from "node:stream"

/** What a stream can show. */
export interface Surface {
  readonly isTerminal: boolean
  /** Width in cells, at this moment; infinite where it is no terminal. */
  readonly columns: number
  /** Whether it shows colours. */
  readonly colour: boolean
  /** Whether a line may be repainted on it. */
  readonly animate: boolean
}

/** A stream that may be a terminal. */
export type TerminalStream = Writable & { readonly isTTY?: boolean; readonly columns?: number }

const fallbackColumns = 80

/** What decides about colours; each is undefined where it is not set. */
export interface ColourSettings {
  /** The value of `--color`. */
  readonly color?: string | undefined
  readonly noColor?: string | undefined
  readonly forceColor?: string | undefined
  readonly term?: string | undefined
}

/**
 * What a stream can show, by --color and the conventions of NO_COLOR, FORCE_COLOR and TERM; the first of these wins. `mayAnimate` is
 * whether it is wanted at all that lines are repainted.
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
