/**
 * A command as plain data, with the columns of what it prints: loads the command and its records.
 */
import type { Declared } from "../commandLine/Command.ts"
import type { CommandDescription } from "../commandLine/CommandDescription.ts"
import type { Verb } from "../commandLine/CommandTree.ts"
import { describeVerb } from "../commandLine/describe.ts"
import type { Field } from "../output/RecordDescriptor.ts"
import { recordNamed } from "./recordList.ts"

export const describeCommand = async (
  path: ReadonlyArray<string>,
  verb: Verb<Declared>
): Promise<CommandDescription> => {
  const [command, ...records] = await Promise.all([verb.load(), ...[...verb.prints, ...verb.paints].map(recordNamed)])
  const fields = records.flatMap((record): ReadonlyArray<Field<never>> => record.fields([]))
  const namesOf = (some: typeof fields) => Array.from(new Set(some.map(({ alias, key }) => alias ?? key)))
  return describeVerb(path, verb, command, {
    columns: namesOf(fields),
    sortColumns: namesOf(fields.filter(({ computed }) => computed !== true))
  })
}
