/** A field whose text is the written form of a value of another type: a duration, a clock, a scenario. */
import { Effect, Option, Schema, SchemaIssue, SchemaTransformation } from "effect"

/** Maximum characters of such a string; every valid string is much shorter. */
const maxLength = 100

/** A field whose text `read` parses and `show` writes. `expected` completes the error "Expected …". */
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
