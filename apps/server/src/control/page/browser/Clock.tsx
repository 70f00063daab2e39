/** The clock of the world: its time, its speed, and the allowance that refills with it. */
import { useSignal } from "@preact/signals"
import { Button } from "@berthkit/web/components/Button"
import { Commands } from "@berthkit/web/components/Copyable"
import { countText } from "@berthkit/web/components/text"
import { useEffect } from "preact/hooks"
import { moveClock } from "./actions.ts"
import { commandOf, control, type WorldSummary } from "./controlPlane.ts"
import { changeRateLimit } from "./questions.tsx"
import { clockAt, durationText, readable } from "./wording.ts"
import { connection, happened, readAtMillis } from "./world.ts"

const modes = [
  ["frozen", "Freeze"],
  ["real", "Real time"],
  ["x60", "60 times as fast"]
] as const

const Now = ({ clock, now }: WorldSummary) => {
  const atMillis = useSignal(performance.now())
  useEffect(() => {
    // Tick only with a connection, because without one the page cannot know how the clock continues.
    const ticking = setInterval(() => {
      if (connection.value === "live") atMillis.value = performance.now()
    }, 250)
    return () => clearInterval(ticking)
  }, [])
  const instant = clockAt(clock, now, Math.max(0, atMillis.value - readAtMillis.value))
  return (
    <time id="now" dateTime={instant}>
      {readable(instant)}
    </time>
  )
}

export const Clock = ({ shown }: { readonly shown: WorldSummary }) => {
  const { allowance, clock, savedImages } = shown
  const { algorithm, limit, remaining, resetAt, window } = allowance
  const step = useSignal("10 seconds")
  const facts = [
    ["Allowance", `${countText(remaining)} of ${countText(limit)}`],
    ["Refills", readable(resetAt)],
    ["Rate limit", `${countText(limit)} per ${durationText(window).replace(/^1 /, "")}, ${algorithm}`],
    ["Saved images", String(savedImages)]
  ] as const
  return (
    <section class="sheet" aria-labelledby="clock-title">
      <div class="moment">
        <h2 id="clock-title">Clock</h2>
        <Now {...shown} />
        <span class="note">{clock === "frozen" ? "stands still" : clock === "real" ? "runs" : `runs ${clock}`}</span>
        <span class="note" role="status">
          {happened}
        </span>
      </div>
      <form
        id="advance-form"
        name="advance-form"
        class="actions"
        onSubmit={(event) => {
          event.preventDefault()
          void moveClock({ advance: step.value })
        }}
      >
        <label for="advance">Advance by</label>
        <input
          id="advance"
          value={step}
          onInput={({ currentTarget }) => (step.value = currentTarget.value)}
          spellcheck={false}
          autocomplete="off"
          list="durations"
          required
        />
        <datalist id="durations">
          {["1 second", "10 seconds", "1 minute", "1 hour", "1 day", "30 days"].map((text) => (
            <option key={text} value={text} />
          ))}
        </datalist>
        <Button type="submit" kind="primary">
          Advance
        </Button>
        <Button onClick={() => moveClock({ advanceTo: "next-event" })}>Next event</Button>
      </form>
      <p class="actions" id="modes" role="group" aria-label="Speed of the clock">
        {modes.map(([mode, name]) => (
          <Button key={mode} aria-pressed={mode === clock} onClick={() => moveClock({ mode })}>
            {name}
          </Button>
        ))}
      </p>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <div class="folds">
        <Button isSmall onClick={changeRateLimit}>
          Change the rate limit
        </Button>
        <Commands
          commands={[
            { advance: step.value },
            { advanceTo: "next-event" } as const,
            ...modes.map(([mode]) => ({ mode }))
          ].map((payload) =>
            commandOf(control.prepare("POST /_mock/worlds/:world/clock", { params: { world: shown.id }, payload }))
          )}
        />
      </div>
    </section>
  )
}
