/** The events that a sink gave up on: the reason, the time, and a button to deliver each one again. */
import { signal } from "@preact/signals"
import { Button } from "@berthkit/web/components/Button"
import { Commands } from "@berthkit/web/components/Copyable"
import { Dialog } from "@berthkit/web/components/Dialog"
import { Empty } from "@berthkit/web/components/Empty"
import { quoted } from "@berthkit/terminal/quoted"
import { plain, pluralText } from "@berthkit/web/components/text"
import { instantText } from "@berthkit/web/components/times"
import { Toast } from "@berthkit/web/components/Toast"
import { moment, phase, refreshStatus, status } from "./board.ts"
import { Meaning, NodeTitle, toneOfEvent } from "./EventRow.tsx"
import { daemon, type DeadLetter, failureText, type WatchEvent } from "./watchApi.ts"

/** Maximum number in the dialog: `berth-watch sinks dead` prints all. */
const maxDeadLetters = 100

interface Shown {
  readonly sink: string
  readonly letters: ReadonlyArray<DeadLetter>
}

const shown = signal<Shown | undefined>(undefined)

/** The result of the last attempt. */
const reply = signal("")

const read = async (sink: string): Promise<Shown> => {
  const query = { limit: maxDeadLetters }
  const { deadLetters } = await daemon.ask("GET /api/sinks/:sink/dead", { params: { sink }, query })
  return { sink, letters: deadLetters }
}

/** Shows the dead letters of a sink. Rejects if they cannot be read. */
export const openDeadLetters = async (sink: string): Promise<void> => {
  const opened = await read(sink)
  reply.value = ""
  shown.value = opened
}

const close = (): void => {
  shown.value = undefined
}

const retry = async (sink: string, id: string): Promise<void> => {
  try {
    await daemon.ask("POST /api/sinks/:sink/dead/:id/retry", { params: { sink, id } })
    reply.value = `${sink} tries this event again now.`
  } catch (error) {
    reply.value = failureText(error)
  }
  await refreshStatus()
  if (shown.peek()?.sink !== sink) return
  const rest = await read(sink).catch(() => undefined)
  // The reader may have closed the dialog in the meantime.
  if (rest !== undefined && shown.peek()?.sink === sink) shown.value = rest
}

const Row = ({ letter, sink }: { readonly letter: DeadLetter; readonly sink: string }) => {
  const { attempts, id, reason, since } = letter
  const event = letter.event as unknown as WatchEvent
  return (
    <li class={toneOfEvent(event)}>
      <p class="what">
        <NodeTitle event={event} />
        <Meaning event={event} />
      </p>
      <small>
        <time dateTime={since}>{instantText(Date.parse(since), moment.value)}</time>
        {` · ${pluralText(attempts, "attempt")} · ${plain(reason)}`}
      </small>
      <Button isSmall label={`Retry ${id}`} onClick={() => retry(sink, id)}>
        Retry
      </Button>
    </li>
  )
}

const Open = ({ letters, sink }: Shown) => {
  const count = status.value.sinks.find((each) => each.sink === sink)?.deadLetters ?? 0
  const rest = count > letters.length ? `, the first ${letters.length} of ${count}` : ""
  return (
    <Dialog
      id="dead-letters"
      closesBeside
      onClose={close}
      title={`Dead letters of ${plain(sink)}${rest}`}
      head={<Button onClick={close}>Close</Button>}
    >
      <Toast text={reply.value} />
      <ul class="rows" aria-labelledby="dead-letters-title">
        {letters.length === 0 ? <Empty>None is left.</Empty> : null}
        {letters.map((letter) => (
          <Row key={letter.id} letter={letter} sink={sink} />
        ))}
      </ul>
      <Commands commands={[`berth-watch sinks dead ${quoted(sink)}`, `berth-watch sinks retry ${quoted(sink)}`]} />
    </Dialog>
  )
}

export const DeadLetters = () =>
  shown.value === undefined || phase.value !== "board" ? null : <Open {...shown.value} />
