/** What can be done with the world that is shown, and with no other: its id is taken when its reader asks. */
import { control, type Living, sentenceOf } from "./controlPlane.ts"
import { forgetList, happened, done, living, refresh, trouble, world } from "./world.ts"
import { readable } from "./wording.ts"

interface Params {
  readonly world: string
}

/** Does something, and shows what went wrong with it. `onReply` is called while the same world is shown. */
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

/** A change of the clock, as the control plane takes it. */
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
            ? "There is no next event."
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
    () => (done.value = "The requests are forgotten.")
  )

/** What a dialog sends about the world that is shown when it opens, whichever is shown later. `textOf` states what was done. */
export const sender = <Body, A>(
  { world: { id } }: Living,
  send: (params: Params, body: Body) => Promise<A>,
  textOf: (reply: A) => string
): ((body: Body) => Promise<undefined>) => {
  return async (body) => {
    const reply = await send({ world: id }, body)
    if (world.value === id) {
      trouble.value = undefined
      done.value = textOf(reply)
    }
    forgetList()
    void refresh()
    return undefined
  }
}

/** A link would not show the token. */
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
