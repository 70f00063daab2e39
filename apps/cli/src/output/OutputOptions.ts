/**
 * The flags that shape data, besides `--output`: `--columns`, `--sort`, `--no-header`, `--raw`, `--query`.
 */
import { Effect } from "effect"
import { GlobalSettings } from "../commandLine/GlobalSettings.ts"
import { wordsOf } from "../commandLine/words.ts"

/** What they were set to. */
export const OutputOptions = Effect.map(GlobalSettings, ({ columns, noHeader, query, raw, sort }) => ({
  columns: wordsOf(columns ?? ""),
  sort: wordsOf(sort ?? ""),
  header: !noHeader,
  raw,
  query
}))
