/**
 * Validates arguments against the domain before anything is sent. Without this, a program that misspells a field would
 * pay for a node without that field.
 *
 * The shapes repeat the domain's schemas in a tenth of the code: a bundle with schemas is 13 KiB larger. The compiler
 * keeps their fields equal, and `Argument.test.ts` their rules.
 */
import { Effect, Predicate } from "effect"
import { InvalidRequest } from "../../domain/ErrorReason.ts"

/** Reports a fault: its place and its description. */
type Report = (place: string, fault: string) => void

/** The required shape of a value. */
export interface Shape<out A> {
  /** A description for people who do not know schemas. */
  readonly expected: string
  /** Whether a value has this shape at its top level. */
  readonly is: (value: unknown) => boolean
  /** Copies the value, and reports its faults. */
  readonly read: (value: any, place: string, report: Report) => A
}

/** The shape of an optional value. */
interface Optional<out A> extends Shape<A> {
  readonly optional: true
}

const shape = <A>(expected: string, is: Shape<A>["is"], read: Shape<A>["read"] = (value) => value): Shape<A> => ({
  expected,
  is,
  read
})

const check = <A>({ expected, is, read }: Shape<A>, value: unknown, place: string, report: Report): A => {
  if (is(value)) return read(value, place, report)
  report(place, `expected ${expected}`)
  return value as A
}

/** The same shape with an additional rule. */
export const where = <A>(base: Shape<A>, rule: string, holds: (value: A) => boolean): Shape<A> =>
  shape(base.expected, base.is, (value, place, report) => {
    if (!holds(value)) report(place, `expected ${rule}`)
    return base.read(value, place, report)
  })

export const text = shape<string>("a text", Predicate.isString)
export const flag = shape<boolean>("true or false", Predicate.isBoolean)
export const anything = shape<unknown>("anything", () => true)
export const notBlank = where(text, "a text, but it is empty", (value) => /\S/.test(value))
export const whole = where(shape<number>("a number", Predicate.isNumber), "an integer", Number.isSafeInteger)

export const maxLength = (max: number, base: Shape<string>): Shape<string> =>
  where(base, `a value with a length of at most ${max}`, ({ length }) => length <= max)

export const min = <A extends number>(min: A): Shape<number> =>
  where(whole, `a value greater than or equal to ${min}`, (value) => value >= min)

export const oneOf = <A extends string>(values: ReadonlyArray<A>): Shape<A> => {
  const all = values.map((value) => JSON.stringify(value)).join(", ")
  return shape(values.length > 1 ? `one of ${all}` : all, (value) => values.some((one) => one === value))
}

export const list = <A>(item: Shape<A>): Shape<ReadonlyArray<A>> =>
  shape("a list", Array.isArray, (values: ReadonlyArray<unknown>, place, report) =>
    // Unlike `map`, this visits the holes of a list.
    Array.from(values, (value, i) => check(item, value, `${place}[${i}]`, report))
  )

export const either = <A, B>(a: Shape<A>, b: Shape<B>): Shape<A | B> =>
  shape<A | B>(
    `${a.expected} or ${b.expected}`,
    (value) => a.is(value) || b.is(value),
    (value, place, report) => (a.is(value) ? a : b).read(value, place, report)
  )

export const optional = <A>(base: Shape<A>): Optional<A | undefined> => ({ ...base, optional: true })

/** The path of a field in a program's notation. */
const fieldOf = (place: string, name: string) => (place === "" ? name : `${place}.${name}`)

/** An object whose fields have one shape, and whose names pass `nameFault`. */
export const record = <A>(
  item: Shape<A>,
  nameFault: (name: string) => string | undefined = () => undefined
): Shape<Readonly<Record<string, A>>> =>
  shape("an object", Predicate.isObject, (value: object, place, report) =>
    Object.fromEntries(
      Object.entries(value).map(([name, inner]) => {
        const fault = nameFault(name)
        if (fault !== undefined) report(fieldOf(place, name), fault)
        return [name, check(item, inner, fieldOf(place, name), report)]
      })
    )
  )

/** Values that are nested deeper are refused, because they may contain themselves. */
const maxDepth = 64

const isJson = (value: unknown, depth = 0): boolean => {
  if (Predicate.isNumber(value)) return Number.isFinite(value)
  if (!Predicate.isObjectOrArray(value))
    return value === null || Predicate.isString(value) || Predicate.isBoolean(value)
  const isPlain =
    Array.isArray(value) || [null, Object.prototype].includes(Object.getPrototypeOf(value) as object | null)
  return isPlain && depth < maxDepth && Object.values(value).every((inner) => isJson(inner, depth + 1))
}

/** A JSON value. */
export const json = shape<unknown>("a value of JSON", isJson, (value) => structuredClone(value))

/** The shape of each field. */
type Fields<A> = {
  readonly [Name in keyof A]-?: undefined extends A[Name] ? Optional<A[Name]> : Shape<A[Name]>
}

/** An object with exactly these fields. */
export const fields = <A>(shapes: Fields<A>): Shape<A> =>
  shape("an object", Predicate.isObject, (value: Readonly<Record<string, unknown>>, place, report) => {
    const read: Record<string, unknown> = {}
    for (const [name, shape] of Object.entries<Shape<unknown>>(shapes)) {
      const inner = value[name]
      if (inner !== undefined) read[name] = check(shape, inner, fieldOf(place, name), report)
      else if (!("optional" in shape)) report(fieldOf(place, name), "it is needed")
    }
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(shapes, name)) report(fieldOf(place, name), "there is no such field")
    }
    return read as A
  })

/** Validates the argument `name`: returns a copy of it, or fails with every wrong field. */
export const argument =
  <A>(shape: Shape<A>, name: string) =>
  (value: unknown): Effect.Effect<A, InvalidRequest> =>
    Effect.suspend(() => {
      const faults = new Map<string, Array<string>>()
      // Fields are named without their argument; a fault of the argument itself is under the argument's name.
      const place = shape.expected === "an object" && shape.is(value) ? "" : name
      const read = check(shape, value, place, (place, fault) =>
        faults.set(place, [...(faults.get(place) ?? []), fault])
      )
      return faults.size === 0
        ? Effect.succeed(read)
        : Effect.fail(
            new InvalidRequest({ status: null, detail: `${name} is not valid`, fields: Object.fromEntries(faults) })
          )
    })
