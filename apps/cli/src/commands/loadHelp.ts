/**
 * The help of a command, with the columns of what it prints: loads the command and its records.
 */
import type { CommandHelp } from "../commandLine/CommandHelp.ts"
import type { Verb } from "../commandLine/CommandTree.ts"
import { helpOfVerb } from "../commandLine/helpOf.ts"
import type { Field } from "../output/RecordDescriptor.ts"
import type { Command } from "./command.ts"
import { recordNamed } from "./recordList.ts"

export const loadHelp = async (path: ReadonlyArray<string>, verb: Verb<Command>): Promise<CommandHelp> => {
  const [command, ...records] = await Promise.all([verb.load(), ...[...verb.prints, ...verb.paints].map(recordNamed)])
  const fields = records.flatMap((record): ReadonlyArray<Field<never>> => record.fields([]))
  const namesOf = (some: typeof fields) => Array.from(new Set(some.map(({ alias, key }) => alias ?? key)))
  return helpOfVerb(path, verb, command.parameters, {
    columns: namesOf(fields),
    sortColumns: namesOf(fields.filter(({ computed }) => computed !== true))
  })
}
