/**
 * Checks that a run printed what its row states: data of the format and nothing else on stdout, the right texts on stderr, and the exit
 * code.
 */
import { stripVTControlCharacters } from "node:util"
import type { Ended } from "@berthkit/testing/Program"
import { assert } from "@effect/vitest"
import { Ajv2020 } from "ajv/dist/2020.js"
import { parse, parseAllDocuments } from "yaml"
import { controls, lines } from "../berth.ts"
import { cellOf, type Format, hasNotes, isColoured, type Place, type Row } from "./rows.ts"

/** Checks that a value is valid by the schema that `berth schema` prints for a command. */
export type Valid = (value: unknown, what: string) => void

const validators = new Map<string, Valid>()

/** Compiles each schema once for all suites: compiling those of all commands takes a second. */
export const validator = (schema: object): Valid => {
  const text = JSON.stringify(schema)
  const known = validators.get(text)
  if (known !== undefined) return known
  const ajv = new Ajv2020({ strict: false })
  const validate = ajv.compile(schema)
  const valid: Valid = (value, what) => assert.isTrue(validate(value), `${what}: ${ajv.errorsText(validate.errors)}`)
  validators.set(text, valid)
  return valid
}

/** Whether a text has colours, which only tables for people have. */
const hasColours = (text: string): boolean =>
  text
    .split("\u001b[")
    .slice(1)
    .some((code) => /^\d*m/.test(code))

/** The cells of a line of CSV. */
const csvCells = (line: string): ReadonlyArray<string> =>
  Array.from(line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/g), ([, quoted, plain]) => quoted ?? plain ?? "")

const isOne = ({ kind }: Row): boolean => ["record", "bare", "row"].includes(kind)

/** Checks the values of a format that prints several values. Each must be valid by the command's schema. */
const checkEach = (row: Row, values: ReadonlyArray<unknown>, valid: Valid, what: string) => {
  assert.isNotEmpty(values, what)
  if (isOne(row)) assert.lengthOf(values, 1, what)
  if (row.kind === "records") return valid(values, what)
  for (const value of values) valid(value, what)
}

/** Checks the value of a format that prints a single value: an object for one record, a list for several. */
const checkWhole = (row: Row, value: unknown, valid: Valid, what: string) => {
  assert.strictEqual(Array.isArray(value), !isOne(row), what)
  if (Array.isArray(value)) assert.isNotEmpty(value, what)
  valid(value, what)
}

const checkRecords = (row: Row, format: Format, stdout: string, valid: Valid, what: string) => {
  switch (format) {
    case "table":
      return assert.isNotEmpty(lines(stdout), what)
    case "json":
      if (row.kind === "changes") {
        return checkEach(row, JSON.parse(`[${stdout.replaceAll("}\n{", "},{")}]`), valid, what)
      }
      return checkWhole(row, JSON.parse(stdout), valid, what)
    case "ndjson":
      return checkEach(
        row,
        lines(stdout).map((line) => JSON.parse(line)),
        valid,
        what
      )
    case "yaml":
      if (row.kind === "changes") {
        return checkEach(
          row,
          parseAllDocuments(stdout).map((document) => document.toJS() as unknown),
          valid,
          what
        )
      }
      return checkWhole(row, parse(stdout), valid, what)
    case "csv": {
      const [titles = [], ...records] = lines(stdout).map(csvCells)
      for (const title of titles) assert.match(title, /^\w+(?:\.\w+)*$/, what)
      for (const record of records) assert.lengthOf(record, titles.length, what)
      return isOne(row) ? assert.lengthOf(records, 1, what) : assert.isNotEmpty(records, what)
    }
    case "id":
    case "name": {
      for (const each of lines(stdout)) assert.match(each, /\S/, what)
      return isOne(row) ? assert.lengthOf(lines(stdout), 1, what) : assert.isNotEmpty(lines(stdout), what)
    }
  }
}

/** Whether each of the two streams of a run was a pipe or a terminal. */
export interface Places {
  readonly stdout: Place
  readonly stderr: Place
  /** Whether colours are turned off. */
  readonly isPlain: boolean
}

/** The line about a wait, which appears in a pipe once a busy machine has made a call last for more than two seconds. */
const slowLine = /^[A-Z][^:\n]* \(\d+ s\)\n/gm

/** Checks one run. `valid` checks data by the command's schema; it is undefined if the command prints no records. */
export const checkCell = (row: Row, format: Format, places: Places, ended: Ended, valid: Valid | undefined): void => {
  const what = `berth ${row.command} (${row.prints ?? row.kind}) -o ${format}, stdout to a ${places.stdout}: ${ended.stderr}`
  const { code, stdout: expected } = cellOf(row, format, places.stdout)
  assert.strictEqual(ended.code, code, what)

  assert.strictEqual(
    hasColours(ended.stdout),
    places.stdout === "terminal" && !places.isPlain && isColoured(row, format),
    what
  )
  const stdout = stripVTControlCharacters(ended.stdout)
  if (expected !== "a live table") assert.notMatch(stdout, controls, what)
  if (expected === "") assert.strictEqual(stdout, "", what)
  else if (row.kind === "value") {
    const value: unknown = format === "yaml" ? parse(stdout) : JSON.parse(stdout)
    assert.isObject(value, what)
    if (format === "ndjson") assert.lengthOf(lines(stdout), 1, what)
  } else if (row.kind === "text") assert.isNotEmpty(stdout, what)
  else checkRecords(row, format, stdout, valid!, what)

  const isJson = format === "json" || format === "ndjson"
  const stderr =
    places.stderr === "terminal" ? stripVTControlCharacters(ended.stderr).replaceAll("\r", "") : ended.stderr
  assert.notMatch(stderr, controls, what)
  const own = stderr.replace(slowLine, "")
  if (code !== 0) {
    assert.lengthOf(lines(own), isJson ? 1 : 2, what)
    if (isJson) assert.hasAllKeys(JSON.parse(own), ["error"], what)
    else assert.match(own, /^error: .+\nhint: .+\n$/, what)
  } else if (hasNotes(row, format, places.stderr)) {
    assert.isNotEmpty(stderr, what)
    assert.notInclude(stderr, "error:", what)
  } else if (row.notes === "changes") {
    assert.isNotEmpty(stderr, what)
    for (const each of lines(stderr)) assert.hasAllKeys(JSON.parse(each), ["change"], what)
  } else if (places.stderr === "pipe") assert.strictEqual(own, "", what)
}
