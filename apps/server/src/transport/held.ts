/**
 * Marks requests whose reply is delayed on purpose or endless: a fault takes its time, or it is a stream of events. A server
 * that shuts down does not wait for them.
 */
const held = new WeakSet<object>()

/** Marks a request, by its `source`. */
export const noteHeld = (request: object): void => void held.add(request)

export const isHeld = (request: object): boolean => held.has(request)
