/** Instants and durations as people write them, in the reader's time zone. Pure. */

const units = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"]
] as const

/** A duration in its largest unit, for narrow columns: `3 d`. Up to two days it is in hours, which are more exact. */
export const shortSpanText = (millis: number): string => {
  const seconds = Math.max(0, Math.round(millis / 1000))
  const [size, unit] = units.find(([size]) => seconds >= (size === 86_400 ? 2 * size : size)) ?? units[3]
  return `${Math.floor(seconds / size)} ${unit}`
}

/** A duration in its largest unit, hours with their minutes: `1 h 57 min`. */
export const spanText = (millis: number): string => {
  const largest = shortSpanText(millis)
  const minutes = Math.floor(Math.round(millis / 1000) / 60) % 60
  return largest.endsWith(" h") && minutes > 0 ? `${largest} ${minutes} min` : largest
}

/** A long duration in days and hours. */
export const hoursText = (millis: number): string => {
  const hours = Math.floor(millis / 3_600_000)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`
}

const seconds = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" })
const minutes = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" })
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" })
const whole = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" })

/** The day, unless it is today. */
export const dayText = (millis: number, nowMillis: number): string | undefined =>
  new Date(millis).toDateString() === new Date(nowMillis).toDateString() ? undefined : day.format(millis)

const withDay = (time: string, millis: number, nowMillis: number): string => {
  const date = dayText(millis, nowMillis)
  return date === undefined ? time : `${date}, ${time}`
}

/** The time of day to the second, with the day unless it is today. */
export const instantText = (millis: number, nowMillis: number): string =>
  withDay(seconds.format(millis), millis, nowMillis)

/** The time of day to the minute. */
export const minuteText = (millis: number): string => minutes.format(millis)

/** The time of day to the minute, with the day unless it is today. */
export const shortText = (millis: number, nowMillis: number): string =>
  withDay(minutes.format(millis), millis, nowMillis)

export const wholeInstantText = (millis: number): string => whole.format(millis)

/** `2026-11-25` as people write it. */
export const monthDayText = (name: string): string => day.format(new Date(`${name}T12:00:00`))

/** The offset of a clock that is this many minutes ahead of UTC: `UTC+05:30`. */
export const offsetText = (minutesAhead: number): string => {
  const [hours, rest] = [Math.trunc(Math.abs(minutesAhead) / 60), Math.abs(minutesAhead) % 60].map((part) =>
    String(part).padStart(2, "0")
  )
  return minutesAhead === 0 ? "UTC" : `UTC${minutesAhead < 0 ? "-" : "+"}${hours}:${rest}`
}
