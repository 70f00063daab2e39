/**
 * A flag that takes one or more of a few words, such as `--status running,created`. Help and completions show the words.
 */
import { Effect } from "effect"
import { Param, Primitive } from "effect/cli"
import { wordsOf } from "../output/Selection.ts"

export const choicesFlag = (name: string, choices: ReadonlyArray<string>) => {
  const one = Primitive.Choice(choices.map((choice) => [choice, choice] as const))
  const some: Primitive.Primitive<ReadonlyArray<string>> = Object.assign(Object.create(one), {
    isList: true,
    parse: (text: string) => {
      const words = wordsOf(text)
      if (words.length < 2) return Effect.map(one.parse(words[0] ?? text), (word) => [word])
      const wrong = words.find((word) => !choices.includes(word))
      return wrong === undefined ? Effect.succeed(words) : Effect.fail(`${wrong} is none of ${choices.join(", ")}`)
    }
  })
  return Param.makeSingle({ kind: Param.flagKind, name, primitiveType: some })
}
