/** Silences (times in which sinks do not get some events): the list, a new one, and ending one. */
import { signal, useSignal } from "@preact/signals"
import { Badge, type Tone } from "@berthkit/web/components/Badge"
import { Button } from "@berthkit/web/components/Button"
import { Commands } from "@berthkit/web/components/Copyable"
import { Dialog } from "@berthkit/web/components/Dialog"
import { Empty } from "@berthkit/web/components/Empty"
import { Isolated } from "@berthkit/web/components/Isolated"
import { Select } from "@berthkit/web/components/Select"
import { quoted, quotedFlag } from "@berthkit/terminal/quoted"
import { countText, plain } from "@berthkit/web/components/text"
import { offsetText, shortText, spanText } from "@berthkit/web/components/times"
import { Toast } from "@berthkit/web/components/Toast"
import { moment, now, onStatus, phase, refreshStatus, status } from "./board.ts"
import { daemon, failureText, type Silence } from "./watchApi.ts"

/** The silences in the dialog; undefined while it is closed. */
const shown = signal<ReadonlyArray<Silence> | undefined>(undefined)

/** The result of the last action. */
const reply = signal("")

const read = async () => (await daemon.ask("GET /api/silences")).silences

/** Opens the dialog with the silences. Rejects if they cannot be read. */
export const openSilences = async (): Promise<void> => {
  reply.value = ""
  shown.value = await read()
}

const close = (): void => {
  shown.value = undefined
}

onStatus(async () => {
  if (shown.peek() === undefined) return
  const silences = await read()
  // The reader may have closed the dialog in the meantime.
  if (shown.peek() !== undefined) shown.value = silences
})

/** Returns whether the action succeeded. */
const ask = async (action: () => Promise<unknown>, done: string): Promise<boolean> => {
  try {
    await action()
    reply.value = done
    return true
  } catch (error) {
    reply.value = failureText(error)
    return false
  } finally {
    void refreshStatus()
  }
}

type End = Silence["then"] | undefined

const end = (silence: string, then: End): Promise<boolean> => {
  const payload = then === undefined ? {} : { then }
  return ask(
    () => daemon.ask("POST /api/silences/:silence/end", { params: { silence }, payload }),
    "Ended the silence."
  )
}

const endCommand = (silence: string, then: End): string =>
  `berth-watch silence end ${quoted(silence)}${then === undefined ? "" : ` --then ${then}`}`

const tones: Readonly<Record<Silence["state"], Tone>> = { planned: "off", active: "warm", over: "off" }

/** What a silence covers, in words. */
const coveredText = ({ accounts, nodes, sinks }: Silence): string => {
  const ofAccounts = accounts.length === 0 ? "" : ` of ${accounts.map(plain).join(", ")}`
  const what = nodes.length === 0 ? `Everything${ofAccounts}` : `${nodes.map(plain).join(", ")}${ofAccounts}`
  return sinks.length === 0 ? what : `${what}, for ${sinks.map(plain).join(", ")}`
}

const timeText = ({ from, state, until }: Silence): string => {
  const ending = shortText(Date.parse(until), moment.value)
  if (state === "planned") return `from ${shortText(Date.parse(from), moment.value)} until ${ending}`
  return state === "over" ? `ended ${ending}` : `until ${ending}, ${spanText(Date.parse(until) - moment.value)} left`
}

const countsText = ({ dropped, held, state, then }: Silence): string => {
  const parts = state === "over" && held === 0 ? [] : [`${countText(held)} held`]
  if (dropped > 0) parts.push(`${countText(dropped)} dropped`)
  if (state !== "over") parts.push(then === "deliver" ? "delivered at the end" : "dropped at the end")
  return parts.map((part) => ` · ${part}`).join("")
}

const endsOf = ({ held, state }: Silence): ReadonlyArray<readonly [string, End]> => {
  if (state === "over") return []
  if (state === "planned") return [["Cancel", undefined]]
  if (held === 0) return [["End", undefined]]
  return [
    ["End, deliver", "deliver"],
    ["End, drop", "drop"]
  ]
}

const Row = ({ silence }: { readonly silence: Silence }) => {
  const covered = coveredText(silence)
  return (
    <li>
      <p class="what">
        <strong>
          <Isolated text={covered} />
        </strong>{" "}
        <Badge tone={tones[silence.state]}>{silence.state}</Badge>
      </p>
      <p>
        <Isolated text={silence.reason} />
      </p>
      <small>{timeText(silence) + countsText(silence)}</small>
      <div class="actions">
        {endsOf(silence).map(([text, then]) => (
          <Button key={text} isSmall label={`${text}: ${covered}`} onClick={() => end(silence.id, then)}>
            {text}
          </Button>
        ))}
      </div>
      <Commands commands={endsOf(silence).map(([, then]) => endCommand(silence.id, then))} />
    </li>
  )
}

const lengths = [
  { value: "1800", text: "30 minutes" },
  { value: "3600", text: "1 hour" },
  { value: "7200", text: "2 hours" },
  { value: "28800", text: "8 hours" },
  { value: "86400", text: "1 day" },
  { value: "604800", text: "7 days" }
]

const ends = [
  { value: "deliver", text: "deliver what was held" },
  { value: "drop", text: "drop what was held" }
]

const choices = (none: string, names: ReadonlyArray<string>) => [
  { value: "", text: none },
  ...names.map((name) => ({ value: name, text: plain(name) }))
]

const nothingYet = { nodes: "", account: "", sink: "", from: "", lasting: "7200", atEnd: "deliver", reason: "" }

/** The reader's input in the form that the daemon accepts. Instants follow the daemon's clock. */
const silenceOf = ({ account, atEnd, from, lasting, nodes, reason, sink }: typeof nothingYet) => {
  const fromMillis = from === "" ? now() : new Date(from).getTime()
  return {
    nodes: nodes.split(/[\s,]+/).filter((pattern) => pattern !== ""),
    accounts: account === "" ? [] : [account],
    sinks: sink === "" ? [] : [sink],
    ...(from === "" ? {} : { from: new Date(fromMillis).toISOString() }),
    until: new Date(fromMillis + Number(lasting) * 1000).toISOString(),
    reason: reason.trim(),
    then: atEnd as Silence["then"]
  }
}

/** The command that adds the same silence. */
const addCommand = (written: typeof nothingYet): string => {
  const { accounts, from, nodes, reason, sinks, then } = silenceOf(written)
  const flags = [
    ...nodes.map((pattern) => quotedFlag("nodes", pattern)),
    ...accounts.map((name) => quotedFlag("account", name)),
    ...sinks.map((name) => quotedFlag("sink", name)),
    ...(from === undefined ? [] : [`--from ${from}`]),
    `--for ${written.lasting}s`,
    quotedFlag("reason", reason),
    ...(then === "deliver" ? [] : [`--then ${then}`])
  ]
  return `berth-watch silence add ${flags.join(" ")}`
}

/** The UTC offset of the time that was typed, which may differ on another day. */
const zoneOf = (from: string): string => {
  const written = from === "" ? new Date(now()) : new Date(from)
  return offsetText(-written.getTimezoneOffset())
}

const NewSilence = () => {
  const written = useSignal(nothingYet)
  const take = (name: keyof typeof nothingYet) => (value: string) => {
    written.value = { ...written.value, [name]: value }
  }
  const typed = (name: keyof typeof nothingYet) => ({
    value: written.value[name],
    autocomplete: "off",
    onInput: ({ currentTarget }: { readonly currentTarget: HTMLInputElement }) => take(name)(currentTarget.value)
  })
  const submit = async () => {
    const isAdded = await ask(
      () => daemon.ask("POST /api/silences", { payload: silenceOf(written.value) }),
      "Added the silence."
    )
    if (isAdded) written.value = nothingYet
  }
  const { account, atEnd, from, lasting, sink } = written.value
  const accounts = status.value.accounts.map((each) => each.account)
  const sinks = status.value.sinks.filter(({ state }) => state !== "removed").map((each) => each.sink)
  return (
    <form
      class="fields"
      aria-labelledby="new-silence-title"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <label class="field">
        <span class="name">Nodes</span>
        <input {...typed("nodes")} placeholder="web-* db-1" spellcheck={false} />
      </label>
      <label class="field">
        <span class="name">Account</span>
        <Select value={account} options={choices("All accounts", accounts)} onChange={take("account")} />
      </label>
      <label class="field">
        <span class="name">Sink</span>
        <Select value={sink} options={choices("All sinks", sinks)} onChange={take("sink")} />
      </label>
      <label class="field">
        <span class="name">Begins ({zoneOf(from)})</span>
        <input {...typed("from")} type="datetime-local" aria-describedby="begins-note" />
      </label>
      <label class="field">
        <span class="name">Lasts</span>
        <Select value={lasting} options={lengths} onChange={take("lasting")} />
      </label>
      <label class="field">
        <span class="name">At its end</span>
        <Select value={atEnd} options={ends} onChange={take("atEnd")} />
      </label>
      <label class="field wide">
        <span class="name">Reason</span>
        <input {...typed("reason")} maxLength={500} required />
      </label>
      <p id="begins-note" class="note wide">
        Without a beginning it begins now. Without nodes, name an account: it then covers all its events.
      </p>
      <div class="wide">
        <Commands title="Command" commands={[addCommand(written.value)]} />
      </div>
      <p class="actions wide">
        <Button type="submit" kind="primary">
          Add silence
        </Button>
      </p>
    </form>
  )
}

const Open = ({ silences }: { readonly silences: ReadonlyArray<Silence> }) => (
  <Dialog id="silences" closesBeside onClose={close} title="Silences" head={<Button onClick={close}>Close</Button>}>
    <ul class="rows" aria-labelledby="silences-title">
      {silences.length > 0 ? null : (
        <Empty>No silence. During one, sinks get no events until it ends; the timeline shows them at once.</Empty>
      )}
      {silences.toReversed().map((silence) => (
        <Row key={silence.id} silence={silence} />
      ))}
    </ul>
    <Toast text={reply.value} />
    <h3 id="new-silence-title">New silence</h3>
    <NewSilence />
  </Dialog>
)

export const Silences = () =>
  shown.value === undefined || phase.value !== "board" ? null : <Open silences={shown.value} />
