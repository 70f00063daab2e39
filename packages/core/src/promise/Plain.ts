/**
 * Converts domain values for programs without Effect: instants become `Date`s, ids become plain numbers, and a status becomes a string,
 * which is empty if the service states none. Everything else stays the same.
 */
import { type Brand, DateTime, Predicate } from "effect"
import type * as Domain from "../domain/Node.ts"
import { spelling, type UnknownStatus } from "../domain/NodeStatus.ts"

/** The plain form of `A`. */
export type Plain<A> = A extends DateTime.Utc
  ? Date
  : A extends UnknownStatus
    ? string & {}
    : A extends number & Brand.Brand<string>
      ? number
      : A extends ReadonlyArray<infer Item>
        ? ReadonlyArray<Plain<Item>>
        : A extends object
          ? { readonly [Key in keyof A]: Plain<A[Key]> }
          : A

const isUnknownStatus = (value: object): value is UnknownStatus =>
  "unknown" in value && Predicate.isString(value.unknown) && Object.keys(value).length === 1

const plainUnknown = (value: unknown): unknown => {
  if (DateTime.isDateTime(value)) return new Date(value.epochMilliseconds)
  if (Array.isArray(value)) return value.map(plainUnknown)
  if (!Predicate.isObject(value)) return value
  if (isUnknownStatus(value)) return value.unknown
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainUnknown(inner)]))
}

/** Converts any domain value deeply. */
export const plain = <A>(value: A): Plain<A> => plainUnknown(value) as Plain<A>

/** Converts a node. Lists are long, so this function knows which fields differ. */
export const plainNode = (node: Domain.Node): Plain<Domain.Node> => ({
  ...node,
  status: spelling(node.status),
  createdAt: node.createdAt && new Date(node.createdAt.epochMilliseconds)
})
