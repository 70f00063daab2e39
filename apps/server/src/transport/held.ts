/**
 * Requests whose reply is held back on purpose, or has no end: by a fault that takes time, or as a stream of events. A server
 * that ends does not wait for them.
 */
const held = new WeakSet<object>()

/** Notes this about a request, by its `source`. */
export const noteHeld = (request: object): void => void held.add(request)

export const isHeld = (request: object): boolean => held.has(request)
