/**
 * Prints the version and the help of each command from texts that are made when berth is bundled. This is a bundle of its own, because
 * loading the other one takes half as long as Node itself.
 */
import { readFileSync } from "node:fs"
import { stripVTControlCharacters } from "node:util"
import { coloursOf, printText } from "./output/printText.ts"

/** The texts; none while a build writes them. */
const readTexts = (): ReadonlyMap<string, string> => {
  try {
    return new Map(JSON.parse(readFileSync(new URL("answers.json", import.meta.url), "utf8")))
  } catch {
    return new Map()
  }
}

const answerTo = (args: ReadonlyArray<string>): string | undefined => {
  const hasColours = coloursOf(process.stdout, process)
  if (hasColours === undefined) return undefined
  const texts = readTexts()
  const text = texts.get(JSON.stringify(args))
  return hasColours ? text : text && stripVTControlCharacters(text)
}

const answer = answerTo(process.argv.slice(2))
if (answer !== undefined) printText(answer)

/** Whether the command line was answered. If it was not, the program answers it. */
export const isAnswered = answer !== undefined
