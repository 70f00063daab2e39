/**
 * A field that is written as text and means something else: a duration, a clock, a scenario.
 */
import { Effect, Option, Schema, SchemaIssue, SchemaTransformation } from "effect"

/** Characters of such a text: many more than any has that means something. */
const maxLength = 100

/** A text that `read` understands and `show` writes; `expected` completes "Expected …". */
export const textField = <A>(
  target: Schema.Codec<A>,
  expected: string,
  read: (text: string) => Option.Option<A>,
  show: (value: A) => string
) =>
  Schema.String.annotate({ description: expected }).pipe(
    Schema.decodeTo(
      target,
      SchemaTransformation.transformEffect<A, string>({
        decode: (given, options) =>
          Option.match(given.length > maxLength ? Option.none() : read(given), {
            onNone: () => Effect.fail(new SchemaIssue.InvalidValue({ expected }, given, options)),
            onSome: Effect.succeed
          }),
        encode: (value) => Effect.succeed(show(value))
      })
    )
  )
