/** The sinks (receivers of events), their delivery progress, and actions on them. */
import { signal } from "@preact/signals"
import { Badge, type Tone } from "@berthkit/web/components/Badge"
import { Button } from "@berthkit/web/components/Button"
import { Commands } from "@berthkit/web/components/Copyable"
import { Folded } from "@berthkit/web/components/Folded"
import { Isolated } from "@berthkit/web/components/Isolated"
import { quoted } from "@berthkit/terminal/quoted"
import { countText, listText, plain, pluralText } from "@berthkit/web/components/text"
import { shortText } from "@berthkit/web/components/times"
import { Toast } from "@berthkit/web/components/Toast"
import { moment, refreshStatus, status } from "./board.ts"
import { openDeadLetters } from "./DeadLetters.tsx"
import { openSilences } from "./Silences.tsx"
import { toneOf } from "./states.ts"
import { daemon, failureText, type SinkStatus } from "./watchApi.ts"

/** How many sinks without a problem are named. */
const maxNamed = 5

/** The result of the last action. */
const reply = signal("")

/** Asks the daemon to change something, and shows the result. */
const ask = async (action: () => Promise<unknown>, done: string): Promise<void> => {
  try {
    await action()
    reply.value = done
  } catch (error) {
    reply.value = failureText(error)
  }
  await refreshStatus()
}

/** Opens something that may not exist, or shows why it does not. */
const open = async (action: () => Promise<void>): Promise<void> => {
  try {
    await action()
  } catch (error) {
    reply.value = failureText(error)
    await refreshStatus()
  }
}

interface Action {
  readonly text: string
  readonly isOffered: boolean
  /** The command that does the same. */
  readonly command: string
  readonly run: () => Promise<void>
}

const actionsOf = ({ deadLetters, sink, state, waiting }: SinkStatus): ReadonlyArray<Action> => {
  const params = { sink }
  const command = (verb: string) => `berth-watch sinks ${verb} ${quoted(sink)}`
  return [
    {
      text: "Enable",
      isOffered: state === "disabled",
      command: command("enable"),
      run: () => ask(() => daemon.ask("POST /api/sinks/:sink/enable", { params }), `${sink} is enabled.`)
    },
    {
      text: "Retry now",
      isOffered: state !== "removed" && (deadLetters > 0 || waiting > 0),
      command: command("retry"),
      run: () => ask(() => daemon.ask("POST /api/sinks/:sink/retry", { params }), `${sink} tries again now.`)
    },
    {
      text: "Dead letters",
      isOffered: deadLetters > 0,
      command: command("dead"),
      run: () => open(() => openDeadLetters(sink))
    },
    {
      text: "Test",
      isOffered: state !== "removed",
      command: command("test"),
      run: () => ask(() => daemon.ask("POST /api/sinks/:sink/test", { params }), `A test event went to ${sink}.`)
    },
    {
      text: "Remove",
      isOffered: state === "removed",
      command: command("remove"),
      run: () => ask(() => daemon.ask("DELETE /api/sinks/:sink", { params }), `${sink} is forgotten.`)
    }
  ]
}

const commandsOf = (shown: SinkStatus): ReadonlyArray<string> =>
  actionsOf(shown).flatMap(({ command, isOffered }) => (isOffered ? [command] : []))

/** The facts about a sink apart from its state. */
const noteOf = ({ deadLetters, failingSince, kind, lag, message, silenced, state, waiting }: SinkStatus): string => {
  const parts = [
    kind,
    ...(message === null ? [] : [plain(message)]),
    ...(failingSince === null ? [] : [`since ${shortText(Date.parse(failingSince), moment.value)}`]),
    ...(lag > 0 ? [`lag ${countText(lag)}`] : []),
    ...(waiting > 0 ? [`${countText(waiting)} waiting`] : []),
    ...(silenced > 0 ? [`${countText(silenced)} held by silences`] : []),
    ...(deadLetters > 0 ? [pluralText(deadLetters, "dead letter")] : [])
  ]
  if (parts.length === 1) parts.push(state === "removed" ? "no longer in the config" : "up to date")
  return parts.join(" · ")
}

const toneOfSink = ({ sink, state }: SinkStatus): Tone => toneOf("sink", sink, state, status.value.troubles)

/** Whether a sink has delivered everything, and nothing holds events back. */
const isWell = (shown: SinkStatus): boolean =>
  toneOfSink(shown) === "good" && shown.waiting + shown.silenced + shown.deadLetters === 0

const Row = ({ shown }: { readonly shown: SinkStatus }) => {
  const { sink, state } = shown
  return (
    <li data-sink={sink}>
      <strong class="sink-name">
        <Isolated text={sink} />
      </strong>
      <Badge tone={toneOfSink(shown)}>{state}</Badge>
      <div class="actions">
        {/* All buttons are always there, so that none moves under a finger. */}
        {actionsOf(shown).map(({ isOffered, run, text }) => (
          <Button key={text} isSmall label={`${text} ${sink}`} hidden={!isOffered} onClick={run}>
            {text}
          </Button>
        ))}
      </div>
      <p class="note">{noteOf(shown)}</p>
    </li>
  )
}

const Rows = ({ sinks }: { readonly sinks: ReadonlyArray<SinkStatus> }) =>
  sinks.map((shown) => <Row key={shown.sink} shown={shown} />)

/** Active silences, in a line next to their sinks. */
const silenceText = (): string => {
  const active = status.value.silences.filter(({ state }) => state === "active")
  const held = active.reduce((sum, silence) => sum + silence.held, 0)
  return active.length === 0 ? "" : `${pluralText(active.length, "silence")} active, ${pluralText(held, "event")} held`
}

/** Scrolls to a sink, and focuses its first action. */
export const toSink = (name: string): void => {
  const row = document.querySelector(`.sinks [data-sink="${CSS.escape(name)}"]`)
  row?.scrollIntoView({ block: "nearest" })
  row?.querySelector<HTMLElement>("button:not([hidden])")?.focus()
}

/** Sinks without a problem are folded, because there is nothing to do about them. */
export const Sinks = () => {
  const { sinks } = status.value
  const well = sinks.filter(isWell)
  const others = sinks.filter((shown) => !isWell(shown))
  return (
    <section class="sheet sinks" aria-labelledby="sinks-title">
      <div class="sinks-head">
        <h2 id="sinks-title">Sinks</h2>
        {silenceText() === "" ? null : <p class="note">{silenceText()}</p>}
        <Button isSmall onClick={() => open(openSilences)}>
          Silences
        </Button>
      </div>
      {sinks.length > 0 ? null : (
        <div class="empty">
          <p>No sinks are configured: events are kept and shown here, and go nowhere else.</p>
          <p>Name a webhook or a command under sinks in the config, then send SIGHUP.</p>
        </div>
      )}
      {others.length === 0 ? null : (
        <ul id="sinks" class="sink-rows" aria-labelledby="sinks-title">
          <Rows sinks={others} />
        </ul>
      )}
      <div class="folds">
        {well.length === 0 ? null : (
          <Folded
            title={`${countText(well.length)} up: ${listText(
              well.map(({ sink }) => plain(sink)),
              maxNamed
            )}`}
            content={() => (
              <ul class="sink-rows" aria-label="Sinks that are up">
                <Rows sinks={well} />
              </ul>
            )}
          />
        )}
        <Commands commands={sinks.flatMap(commandsOf)} />
      </div>
      <Toast id="sink-reply" text={reply.value} />
    </section>
  )
}
