/**
 * Spans around the methods of a service, named after them. A method that makes one call of the same name has only that call's span.
 */
import type { Effect } from "effect"
import type { Observer } from "./Observer.ts"

/** Wraps a method in a span of this name, such as `nodes.awaitStatus`. Without an observer it returns the method itself. */
export const methodSpans =
  (observer: Observer | undefined) =>
  <Arguments extends ReadonlyArray<unknown>, A, E>(
    name: string,
    method: (...args: Arguments) => Effect.Effect<A, E>
  ): ((...args: Arguments) => Effect.Effect<A, E>) =>
    observer === undefined ? method : (...args) => observer.traced("method", name)(method(...args))
