/** Parses sizes and instants in any format that a service uses. */

const size = /^(\d+(?:\.(\d+))?)(\s*)(GB|MB|GiB|MiB)?$/

/** The parts of `16.00 GB`, or of a string of digits; undefined for any other string. */
export const sizeOf = (text: string) => {
  const [, number, decimals = "", space, unit] = size.exec(text) ?? []
  if (number === undefined) return undefined
  return { value: Number(number), decimals: decimals.length, suffix: unit === undefined ? "" : `${space}${unit}`, unit }
}

const instant = /^(\d{4}-\d\d-\d\d)([T ])(\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:?\d\d|)$/

/** The parts of an ISO 8601 instant; undefined for any other text. */
export const instantOf = (text: string) => {
  const [, date, between, time, decimals = "", zone] = instant.exec(text) ?? []
  if (date === undefined) return undefined
  const millis = Date.parse(`${date}T${time}.${decimals.slice(0, 3).padEnd(3, "0")}${zone === "" ? "Z" : zone}`)
  return Number.isNaN(millis) ? undefined : { millis, decimals: decimals.length, between: between!, zone: zone! }
}
