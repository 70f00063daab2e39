/**
 * A flag for how long, written as people write it: `500ms`, `30s`, `5m`, `1h`.
 */
import { Option } from "effect"
import { Flag } from "effect/cli"

const millisPer = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const
const written = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/

/** Longest duration that can be asked for: a day. */
const longestMillis = 24 * millisPer.h

/** Milliseconds from `shortestMillis` to a day; none when `text` says anything else. */
export const parseDuration = (text: string, shortestMillis: number): Option.Option<number> => {
  const [, number, unit] = written.exec(text) ?? []
  if (number === undefined || unit === undefined) return Option.none()
  const millis = Number(number) * millisPer[unit as keyof typeof millisPer]
  return millis >= shortestMillis && millis <= longestMillis ? Option.some(millis) : Option.none()
}

/** A duration flag in milliseconds, from `shortestMillis` to a day; its default is written as people write it. */
export const durationFlag = (name: string, byDefault: string, shortestMillis: number, description: string) =>
  Flag.String(name).pipe(
    Flag.withMetavar("DURATION"),
    Flag.withDescription(`${description} (default ${byDefault})`),
    Flag.withDefault(byDefault),
    Flag.filterMap(
      (text) => parseDuration(text, shortestMillis),
      () => `Expected ${shortestMillis}ms to 24h, written like 500ms, 30s, 5m or 1h`
    )
  )
