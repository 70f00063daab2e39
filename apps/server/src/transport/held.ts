/**
 * Marks requests whose reply does not end soon: an injected fault delays the reply on purpose, or the reply is an endless
 * stream of events. A server that shuts down does not wait for such requests.
 */
const held = new WeakSet<object>()

/** Marks a request. Pass its `source`. */
export const noteHeld = (request: object): void => void held.add(request)

export const isHeld = (request: object): boolean => held.has(request)
