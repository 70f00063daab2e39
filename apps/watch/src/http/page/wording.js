// How the page writes instants, ages, prices and statuses.

const rupees = new Intl.NumberFormat("en", { style: "currency", currency: "INR", maximumFractionDigits: 0 })

export const priceText = (value) => (value === null ? "–" : rupees.format(value))

/** A price that may be higher says so. */
export const boundText = ({ atLeast, isExact }) => `${atLeast === null || isExact ? "" : "≥ "}${priceText(atLeast)}`

const counts = new Intl.NumberFormat("en")

export const countText = (value) => counts.format(value)

export const pluralText = (value, noun) => `${countText(value)} ${noun}${value === 1 ? "" : "s"}`

/** A name may have nothing in it that can be seen. */
export const nameText = (name) => (name.trim() === "" ? "(no name)" : name)

/** What is left of an allowance, from 0 to 1. */
export const shareOf = ({ limit, remaining }) => (limit === 0 ? 0 : Math.min(1, remaining / limit))

/** The daemon reports it below the same share, at the latest. */
const lowShare = 0.1

export const isLow = (allowance) => shareOf(allowance) <= lowShare

const units = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"]
]

/** A long time in days and hours. */
export const hoursText = (millis) => {
  const hours = Math.floor(millis / 3_600_000)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`
}

/** A span of time by its largest unit: `3 d`. */
export const spanText = (millis) => {
  const seconds = Math.max(0, Math.round(millis / 1000))
  // Up to two days, hours are more exact.
  const [size, unit] = units.find(([size]) => seconds >= (size === 86_400 ? 2 * size : size)) ?? units.at(-1)
  return `${Math.floor(seconds / size)} ${unit}`
}

const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" })
const minutes = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" })
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short" })
const whole = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" })

const isToday = (millis, nowMillis) => new Date(millis).toDateString() === new Date(nowMillis).toDateString()

/** The time of day, with the day where it is not today. */
export const instantText = (millis, nowMillis) =>
  isToday(millis, nowMillis) ? clock.format(millis) : `${day.format(millis)}, ${clock.format(millis)}`

/** The time of day to the minute. */
export const minuteText = (millis) => minutes.format(millis)

/** The same, with the day where it is not today. */
export const shortText = (millis, nowMillis) =>
  isToday(millis, nowMillis) ? minutes.format(millis) : `${day.format(millis)}, ${minutes.format(millis)}`

/** The offset of a clock that is so many minutes ahead of UTC: `UTC+05:30`. */
export const offsetText = (minutes) => {
  const [hours, rest] = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60].map((part) =>
    String(part).padStart(2, "0")
  )
  return minutes === 0 ? "UTC" : `UTC${minutes < 0 ? "-" : "+"}${hours}:${rest}`
}

/** `2026-11-25` as people write it. */
export const monthDayText = (name) => day.format(new Date(`${name}T12:00:00`))

/** The day where it is not today. */
export const dayText = (millis, nowMillis) => (isToday(millis, nowMillis) ? undefined : day.format(millis))

/** Of when something is that may have changed since. */
export const asOfText = ({ atMillis, isBefore }, nowMillis) =>
  `${isBefore ? "before" : "as of"} ${dayText(atMillis, nowMillis) ?? minuteText(atMillis)}`

/** The time that a history shows: all that was asked for, or since something is known. */
export const beginText = (fromMillis, spanMillis, nowMillis) =>
  fromMillis <= nowMillis - spanMillis
    ? `Last ${spanText(spanMillis)}`
    : `Since ${dayText(fromMillis, nowMillis) ?? minuteText(fromMillis)}`

export const wholeInstantText = (millis) => whole.format(millis)

/** A status in the service's own spelling where it is not a known one. */
export const statusText = (status) => (typeof status === "string" ? status : status.unknown)

/** What people ask for is no alarm: amber and red are for what is wrong. */
const statusTones = new Map([
  ["running", "good"],
  ["creating", "coming"],
  ["created", "coming"],
  ["power-off", "off"],
  ["terminate", "going"]
])

export const toneOfStatus = (status) => statusTones.get(status) ?? "odd"

/** The order of statuses wherever several are shown. */
export const statusOrder = (status) => {
  const index = [...statusTones.keys()].indexOf(status)
  return index < 0 ? statusTones.size : index
}
