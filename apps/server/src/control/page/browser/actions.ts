/**
 * Actions on the world that is shown. An action takes the world's id at the moment of the click, so it cannot hit another
 * world.
 */
import type { Prepared } from "@berthkit/web/components/client"
import { control, type Living, sentenceOf } from "./controlPlane.ts"
import type { Question } from "./Question.tsx"
import { forgetList, happened, done, living, refresh, trouble, world } from "./world.ts"
import { readable } from "./wording.ts"

interface Params {
  readonly world: string
}

/** Performs an action, and shows the error if it fails. `onReply` is called only if the same world is still shown. */
const act = async <A>(send: (params: Params) => Promise<A>, onReply: (reply: A) => void): Promise<void> => {
  const id = world.value
  if (living() === undefined) return
  let sentence: string | undefined
  try {
    const reply = await send({ world: id })
    if (world.value === id) onReply(reply)
  } catch (error) {
    sentence = sentenceOf(error)
  }
  if (world.value === id) trouble.value = sentence
  await refresh()
}

/** Changes the clock. */
export const moveClock = (payload: {
  readonly advance?: string
  readonly advanceTo?: "next-event"
  readonly mode?: string
}) =>
  act(
    (params) => control.ask("POST /_mock/worlds/:world/clock", { params, payload }),
    ({ events, now }) => {
      const names = events?.map(({ kind, nodeId }) => (nodeId === undefined ? kind : `${kind} of ${nodeId}`))
      happened.value =
        names === undefined
          ? `Now ${readable(now)}.`
          : names.length === 0
            ? "No event will come by itself."
            : `${names.join(", ")}.`
    }
  )

export const disarm = (fault: string) =>
  act(
    (params) => control.ask("DELETE /_mock/worlds/:world/faults/:fault", { params: { ...params, fault } }),
    () => (done.value = `${fault} is disarmed.`)
  )

export const disarmAll = () =>
  act(
    (params) => control.ask("DELETE /_mock/worlds/:world/faults", { params }),
    () => (done.value = "All faults are disarmed.")
  )

export const forgetRequests = () =>
  act(
    (params) => control.ask("DELETE /_mock/worlds/:world/requests", { params }),
    () => (done.value = "Cleared the journal.")
  )

/**
 * The request of a dialog. The change is about the world that was shown when the dialog opened, even if the page shows another
 * world by then. `textOf` returns a string that says what was done.
 */
export const about = <Given, A>(
  { world: { id } }: Living,
  request: (params: Params, given: Given) => Prepared<A>,
  textOf: (reply: A) => string
): Pick<Question, "request" | "onReply"> => ({
  request: (given: Given) => request({ world: id }, given),
  onReply: (reply: A) => {
    if (world.value === id) {
      trouble.value = undefined
      done.value = textOf(reply)
    }
    forgetList()
    void refresh()
    return undefined
  }
})

/** Downloads the archive with a request of the script, because a link cannot send the token. */
export const downloadArchive = async (): Promise<void> => {
  const id = world.value
  try {
    const reply = await control.open("GET /_mock/worlds/:world/requests.har", { params: { world: id } })
    const href = URL.createObjectURL(await reply.blob())
    Object.assign(document.createElement("a"), { href, download: `${id}.har` }).click()
    setTimeout(() => URL.revokeObjectURL(href), 60_000)
    trouble.value = undefined
  } catch (error) {
    trouble.value = sentenceOf(error)
  }
}
