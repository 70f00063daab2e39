/**
 * The NODE argument of a command.
 */
import { Argument } from "effect/cli"

const described = (text: string) =>
  Argument.String("NODE").pipe(
    Argument.withMetavar(""),
    Argument.withDescription(text),
    Argument.filter(
      (given) => given !== "",
      () => "an id or a name"
    )
  )

/** One node. */
export const oneNode = described("Id or name of the node")

/** One node or more. */
export const someNodes = described("Id, name, or pattern such as 'web-*'").pipe(Argument.atLeast(1))
