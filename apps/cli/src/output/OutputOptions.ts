/**
 * The flags that shape data, besides `--output`: `--columns`, `--sort`, `--no-header`, `--raw`, `--query`.
 */
import { Effect, Option } from "effect"
import { GlobalSettings } from "../commandLine/GlobalSettings.ts"
import { wordsOf } from "../commandLine/words.ts"

const words = (list: Option.Option<string>) => Option.match(list, { onNone: () => [], onSome: wordsOf })

/** What they were set to. */
export const OutputOptions = Effect.map(GlobalSettings, ({ columns, noHeader, query, raw, sort }) => ({
  columns: words(columns),
  sort: words(sort),
  header: !noHeader,
  raw,
  query: Option.getOrUndefined(query)
}))
