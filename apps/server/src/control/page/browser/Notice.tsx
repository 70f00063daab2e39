/**
 * Says why the world cannot be steered: there is no connection, or the world has ended or is unknown. In the last two cases
 * it offers other worlds.
 */
import { Isolated } from "@berthkit/web/components/Isolated"
import { plain } from "@berthkit/web/components/text"
import { useLayoutEffect, useRef } from "preact/hooks"
import { connection, seen, world, worlds } from "./world.ts"
import { readable } from "./wording.ts"
import { addressOf } from "./WorldList.tsx"

/** Worlds to continue with: the main world and the newest ones. */
const offers = (): ReadonlyArray<string> => {
  const [main, ...made] = worlds.value.living.map(({ id }) => id)
  return main === undefined ? [] : [main, ...made.toReversed().slice(0, 4)].filter((id) => id !== world.value)
}

const noticeText = () => {
  const shown = seen.value
  if (connection.value !== "live") {
    return connection.value === "connecting"
      ? undefined
      : {
          sentence: "No connection to the server.",
          text: "You see the last known state. This page keeps trying.",
          worlds: []
        }
  }
  if (shown?.is === "ended") {
    const { at, reason } = shown.journal.ended!
    const why = reason === "idle" ? "It was not used for a while" : "It was deleted"
    return {
      sentence: `World ${world.value} has ended.`,
      text: `${why}, at ${readable(at).replace(/\.\d+$/, "")} of its own time. Its last journal is below.`,
      worlds: offers()
    }
  }
  return shown?.is === "unknown"
    ? {
        sentence: shown.sentence ?? `There is no world ${plain(world.value)}.`,
        text: shown.journal === undefined ? "Nothing is kept of it." : "Below is the last state that this page saw.",
        worlds: offers()
      }
    : undefined
}

/** `takesFocus` says whether the element that had the focus has disappeared together with the world. */
export const Notice = ({ takesFocus }: { readonly takesFocus: boolean }) => {
  const notice = noticeText()
  const place = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (takesFocus) place.current?.focus()
  }, [takesFocus])
  return (
    <div id="notice" role="status" tabIndex={-1} ref={place}>
      {notice === undefined ? null : (
        <div>
          <strong>{notice.sentence}</strong>
          <p>{notice.text}</p>
          {notice.worlds.length === 0 ? null : (
            <p class="offers">
              Go to{" "}
              {notice.worlds.map((id) => (
                <a key={id} href={addressOf(id)}>
                  <Isolated text={id} />
                </a>
              ))}
            </p>
          )}
        </div>
      )}
    </div>
  )
}
