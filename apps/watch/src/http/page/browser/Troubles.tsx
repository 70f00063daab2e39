/** The current troubles (problems of the daemon), at the top of the page. */
import { Button } from "@berthkit/web/components/Button"
import { Copyable } from "@berthkit/web/components/Copyable"
import { Isolated } from "@berthkit/web/components/Isolated"
import { plain } from "@berthkit/web/components/text"
import { shortText, spanText } from "@berthkit/web/components/times"
import { moment, troubles } from "./board.ts"
import { toSink } from "./Sinks.tsx"
import { adviceOf, type Line, shownLines } from "./troubles.ts"

/** The duration is hidden from screen readers, which would read it at each change. */
const Since = ({ millis }: { readonly millis: number }) => (
  <time dateTime={new Date(millis).toISOString()}>
    since {shortText(millis, moment.value)}
    <span aria-hidden="true"> · {spanText(moment.value - millis)}</span>
  </time>
)

const Who = ({ line: { sink, who } }: { readonly line: Line }) =>
  sink === null ? (
    <strong>
      <Isolated text={who} />
    </strong>
  ) : (
    <Button kind="link" onClick={() => toSink(sink)}>
      <Isolated text={who} />
    </Button>
  )

/** A command at the end stands alone, without the full stop of its sentence, so that it can be copied. */
const Next = ({ text }: { readonly text: string }) => {
  const { advice, command } = adviceOf(text)
  return (
    <>
      <p>{plain(advice)}</p>
      {command === undefined ? null : <Copyable text={plain(command)} />}
    </>
  )
}

const Row = ({ line }: { readonly line: Line }) => (
  <li class={`trouble ${line.tone}`}>
    <p class="what">
      {/* This text is for readers who cannot see the colour. */}
      {line.tone === "bad" ? <span class="unseen">critical: </span> : null}
      {line.who === "" ? null : <Who line={line} />} {plain(line.what)}
    </p>
    <div class="next">
      <Next text={line.next} />
    </div>
    {line.sinceMillis === undefined ? null : <Since millis={line.sinceMillis} />}
  </li>
)

/** The element always exists, because screen readers ignore a live region that appears later. */
export const Troubles = () => (
  <div id="troubles" role="status">
    {troubles.value.length === 0 ? null : (
      <ul id="trouble-rows" class="sheet" aria-labelledby="summary">
        {shownLines(troubles.value).map((line) => (
          <Row key={line.key} line={line} />
        ))}
      </ul>
    )}
  </div>
)
