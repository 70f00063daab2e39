/** The statuses of a node over time, as a strip. */
import { toneOfStatus } from "@berthkit/web/components/statuses"
import { moment, now } from "./board.ts"
import { historyOf, type Past, stripParts } from "./history.ts"
import type { NodeRow } from "./nodes.ts"

interface StripProps {
  readonly node: NodeRow
  readonly past: Past
  readonly fromMillis: number
  /** Nothing is known about later times. */
  readonly asOfMillis: number | undefined
}

export const Strip = ({ asOfMillis, fromMillis, node, past }: StripProps) => {
  // Includes what has just happened, even if the page's own time has not been refreshed yet.
  const toMillis = Math.max(now(), moment.value)
  const stops: Array<string> = []
  let end = "0"
  for (const part of stripParts(historyOf(node, past, fromMillis, asOfMillis ?? toMillis), fromMillis, toMillis)) {
    const [begin, until] = [part.begin.toFixed(2), part.end.toFixed(2)]
    stops.push(`transparent ${end}% ${begin}%`, `var(--${toneOfStatus(part.status)}-fill) ${begin}% ${until}%`)
    end = until
  }
  stops.push(`transparent ${end}% 100%`)
  const changes = past.changes.filter(({ atMillis }) => atMillis >= fromMillis).length
  return (
    <span
      class="strip"
      role="img"
      aria-label={`now ${node.status}, changes of status: ${changes}`}
      style={{ backgroundImage: `linear-gradient(to right, ${stops.join(", ")})` }}
    />
  )
}
