/**
 * What would refute each assumption of `docs/interface/assumptions.md`: for every claim that evidence can touch the observation
 * that decides it, and for the others why none can. A test compares this table with the page.
 */
import { pageSize } from "@berthkit/core/api/Routes"
import type { Operation } from "../faults/operations.ts"
import { isObject, kindOf, sizeOf, instantOf } from "../profile/values.ts"
import * as Failures from "./observe/failures.ts"
import * as Images from "./observe/images.ts"
import * as Life from "./observe/life.ts"
import type { Observer } from "./observe/Observation.ts"
import * as Other from "./observe/other.ts"
import * as Paging from "./observe/paging.ts"
import * as Records from "./observe/records.ts"
import * as Window from "./observe/window.ts"

/** What it takes to see it. */
type Needs = "a read" | "a create and a delete" | "a request that the probe does not send" | "time"

export interface Claim {
  readonly assumption: string
  readonly claim: string
  /** The observation that would refute it, in words. */
  readonly refutedBy: string
  readonly needs: Needs
  readonly observe: Observer<any>
  readonly holds: (value: any) => boolean
}

/** An assumption, or a part of one, that no evidence can refute. */
export interface NoClaim {
  readonly assumption: string
  readonly claim: string
  readonly unobservable: string
}

const claim =
  (assumption: string, needs: Needs = "a read") =>
  <A>(text: string, refutedBy: string, observe: Observer<A>, holds: (value: A) => boolean): Claim => ({
    assumption,
    claim: text,
    refutedBy,
    needs,
    observe,
    holds
  })

const is =
  <A>(expected: A) =>
  (value: unknown): boolean =>
    value === expected

const reads: ReadonlyArray<Operation> = ["nodes.list", "nodes.get"]
const texts: ReadonlyArray<Operation> = ["nodes.create", "nodes.list"]
const nodeReads: ReadonlyArray<Operation> = ["nodes.create", ...reads]

/** The keys of the three shapes of a node (interface.md §2.3 to §2.5). */
const listKeys = [
  "id",
  "name",
  "created_at",
  "public_ip_address",
  "private_ip_address",
  "backup",
  "disk",
  "status",
  "vcpus",
  "memory",
  "plan",
  "region"
]
const createKeys = [...listKeys, "is_locked"]
const getKeys = [
  "id",
  "name",
  "vcpus",
  "disk",
  "locked",
  "created_at",
  "status",
  "backups",
  "public_ip_address",
  "private_ip_address",
  "tags"
]

/** A size as text `16.00 GB`, or as a whole number: the form in words. */
const sizeForm = (value: unknown): string => {
  const size = typeof value === "string" ? sizeOf(value) : undefined
  if (size === undefined) return kindOf(value)
  return `a text with ${size.decimals} decimals and ${size.suffix === "" ? "no unit" : `the end "${size.suffix}"`}`
}

const addressForm = (value: unknown): string =>
  isObject(value) ? `an object of ${Object.keys(value).join(", ")}` : value === "" ? "an empty text" : kindOf(value)

const instantForm = (value: unknown): string => {
  const instant = typeof value === "string" ? instantOf(value) : undefined
  return instant === undefined
    ? kindOf(value)
    : `an instant with ${instant.decimals} decimals and ${instant.zone === "" ? "no zone" : instant.zone}`
}

const a1 = claim("A1")
const a2 = claim("A2")
const a4 = claim("A4")
const a7 = claim("A7")
const a8 = claim("A8")
const a9 = claim("A9")
const a11 = claim("A11", "a create and a delete")
const a18 = claim("A18")
const a19 = claim("A19")
const a20 = claim("A20")
const a22 = claim("A22", "time")
const a24 = claim("A24")
const sent = "a request that the probe does not send" as const

export const claims: ReadonlyArray<Claim | NoClaim> = [
  a1(
    "A success has message, code, data and errors",
    "A success with other keys around its data",
    Records.envelopePart(
      (envelope, exchange) => {
        // Of saved images the interface itself says both (A18).
        if (exchange.operation === "images.saved") return undefined
        const names = Object.keys(envelope).filter(
          (name) => exchange.operation !== "nodes.list" || !/total|page|count|size|limit/.test(name)
        )
        return [names, `the envelope has ${names.join(", ") || "nothing"}`] as const
      },
      (names) => Records.sameSet(names, ["message", "code", "data", "errors"])
    ),
    (names) => Records.sameSet(names, ["message", "code", "data", "errors"])
  ),
  a1(
    "message is Success",
    "A success with another message",
    Records.envelopePart(
      ({ message }) =>
        message === undefined ? undefined : [message, `message: ${JSON.stringify(message).slice(0, 60)}`],
      is("Success")
    ),
    is("Success")
  ),
  a1(
    "code is the number 200, whatever the status",
    "A success whose code is a text, or its status where that is not 200",
    Records.envelopePart(
      ({ code }) => (code === undefined ? undefined : [code, `code: ${JSON.stringify(code)}`]),
      is(200)
    ),
    is(200)
  ),
  a1(
    "errors is an empty object",
    "A success whose errors are null, a list, or not empty",
    Records.envelopePart(
      ({ errors }) =>
        errors === undefined ? undefined : [JSON.stringify(errors), `errors: ${JSON.stringify(errors).slice(0, 60)}`],
      is("{}")
    ),
    is("{}")
  ),
  a2(
    "A failure has the same envelope with data {}",
    "A refusal in another form, or in plain text",
    Failures.failureForm,
    is("envelope")
  ),
  a2("code of a failure is its status", "A refusal whose code is another number", Failures.failureCode, is(true)),
  a2(
    "errors of a failure is an object of lists of texts",
    "A refusal whose errors are a text, a list, null or empty",
    Failures.failureErrors,
    is(true)
  ),
  {
    assumption: "A3",
    claim: "The client takes failures in other forms",
    unobservable: "It says what the client tolerates, and so no reply contradicts it; A2 says which form there is"
  },
  a4(
    "An unknown node is 404",
    "A get of an id that no list has, with another status",
    Failures.statusIn("unknown-node", "an unknown node"),
    is(404)
  ),
  a4(
    "An unknown path is 404",
    "A path below the prefix that there is not, with another status",
    Failures.statusIn("unknown-path", "an unknown path"),
    is(404)
  ),
  a4("A page that is no number is 400", "page_no=abc with another status, or accepted", Paging.malformed, is(400)),
  claim("A4", sent)(
    "Missing or wrong credentials are 401",
    "A request without them, with another status",
    Failures.statusIn("unauthorized", "wrong credentials"),
    (status) => status === 401 || status === 403
  ),
  claim("A4", sent)(
    "A 401 has WWW-Authenticate: Bearer",
    "A 401 without this header",
    Failures.headerIn("unauthorized", "www-authenticate"),
    is("Bearer")
  ),
  claim("A4", sent)(
    "An invalid create is 422",
    "A create whose fields are at fault, with another status",
    Failures.statusIn("invalid-create", "an invalid create"),
    is(422)
  ),
  claim("A4", sent)("HEAD works wherever GET does", "A HEAD of a path that answers GET, refused", Other.head, is(true)),
  {
    assumption: "A5",
    claim: "Key and token are both needed",
    unobservable:
      "Recorders leave credentials out, so that evidence without one says nothing; the probe never sends a wrong one"
  },
  {
    assumption: "A6",
    claim: "The commitment endpoint takes three cookies in place of the token",
    unobservable: "Evidence has no credentials: they are taken out as it is read, and cookies are among them"
  },
  a7(
    "A page without per_page has 20 nodes",
    "A first page of another length, while there are more nodes",
    Paging.defaultSize,
    is<number>(pageSize.default)
  ),
  a7(
    "per_page goes up to 100",
    "A per_page of 1 to 100 that is shortened or refused",
    Paging.maxPageSize,
    is<number | string>(pageSize.maximum)
  ),
  a7(
    "per_page beyond 100 is refused",
    "per_page=101 that is capped or answered",
    Paging.tooLarge,
    is<number | string>("refused")
  ),
  a7(
    "A page or size below 1 is 422",
    "page_no=0 with another status, or accepted",
    Paging.outOfBounds,
    is<number | string>(422)
  ),
  a7(
    "Past the end a page is empty",
    "A page behind the end that has nodes, or is refused",
    Paging.pastTheEnd,
    is<string>("empty")
  ),
  a7("A list is in ascending id", "A page whose ids do not ascend", Paging.order, is<string>("ascending")),
  a7(
    "A list has no totals",
    "An envelope of a list with a total or a number of pages",
    Paging.totals,
    (names) => names.length === 0
  ),
  a7("page is an alias of page_no", "page=2 that does not give the second page", Paging.alias, is(true)),
  a7("page_no wins over page", "A request with both that gives the page of page", Paging.winner, is<string>("page_no")),
  a8(
    "A listed node has the fields of the example",
    "A listed node with further or fewer fields",
    Records.keys("nodes.list", listKeys),
    (names) => Records.sameSet(names, listKeys)
  ),
  a8(
    "A node by id has the fields of the table",
    "A node by id with further or fewer fields",
    Records.keys("nodes.get", getKeys),
    (names) => Records.sameSet(names, getKeys)
  ),
  claim("A8", "a create and a delete")(
    "A created node has the fields of the list and is_locked",
    "A reply to a create with further or fewer fields",
    Records.keys("nodes.create", createKeys),
    (names) => Records.sameSet(names, createKeys)
  ),
  a8(
    "vcpus is a text in lists, a whole number by id",
    "vcpus of another type",
    Records.field(
      nodeReads,
      ["vcpus"],
      kindOf,
      (form, operation) => form === (operation === "nodes.get" ? "integer" : "string")
    ),
    is(true)
  ),
  a8(
    "memory is a text such as 16.00 GB",
    "memory of another type, unit or precision",
    Records.field(texts, ["memory"], sizeForm, is('a text with 2 decimals and the end " GB"')),
    is(true)
  ),
  a8(
    "disk is a text such as 100 GB in lists, a whole number by id",
    "disk of another type, unit or precision",
    Records.field(
      nodeReads,
      ["disk"],
      sizeForm,
      (form, operation) => form === (operation === "nodes.get" ? "integer" : 'a text with 0 decimals and the end " GB"')
    ),
    is(true)
  ),
  a8(
    "Addresses are texts in lists, objects by id",
    "An address that is null, empty or of another form",
    Records.field(nodeReads, ["public_ip_address", "private_ip_address"], addressForm, (form, operation) =>
      operation === "nodes.get" ? form === "an object of ip_address, netmask, gateway, type" : form === "string"
    ),
    is(true)
  ),
  a8(
    "The id of a node is a whole number",
    "An id of another type",
    Records.field(nodeReads, ["id"], kindOf, is("integer")),
    is(true)
  ),
  a8(
    "No field of a node is null",
    "A node with a field that is null",
    Records.nulls(nodeReads),
    (names) => names.length === 0
  ),
  a8(
    "Every record of a list has the same fields",
    "A field that only some records have",
    Records.missing(reads),
    (names) => names.length === 0
  ),
  a9(
    "tags is an empty list",
    "A node with tags",
    Records.field(["nodes.get"], ["tags"], (value) => JSON.stringify(value), is("[]")),
    is(true)
  ),
  a9(
    "No node is locked",
    "A node that is locked",
    Records.field(nodeReads, ["locked", "is_locked"], (value) => JSON.stringify(value), is("false")),
    is(true)
  ),
  claim("A10")(
    "status is created, running, power-off or terminate",
    "A status in another word or another case",
    Records.statusWords(reads, ["created", "running", "power-off", "terminate"]),
    (words) => words.every((word) => ["created", "running", "power-off", "terminate"].includes(word))
  ),
  claim("A10", "a create and a delete")(
    "A create shows the status Create",
    "A reply to a create with another status",
    Records.statusWords(["nodes.create"], ["Create"]),
    (words) => words.every(is("Create"))
  ),
  a11(
    "A node goes Create → created → running → terminate",
    "A node that shows other statuses, or these in another order",
    Life.transitions,
    Life.isDocumentedLife
  ),
  a11("A node that is gone is 404", "A get after the end of a node, with another status", Life.goneStatus, is(404)),
  a11(
    "A node that cannot be read is not listed",
    "A list that has a node after a get of it was 404",
    Other.ghost,
    is(0)
  ),
  a11("Ids grow", "A new node with a lower id than one before it", Life.idsGrow, is(true)),
  a11(
    "A second delete is 204 again",
    "A delete of a node that is being terminated, refused",
    Other.secondDelete,
    is(true)
  ),
  claim("A12", "a create and a delete")(
    "A delete is 204 without a body",
    "A delete with another status or a body",
    Life.deleteReply,
    ({ body, status }) => status === 204 && !body
  ),
  claim("A13", "a create and a delete")(
    "A create is 202 with Location",
    "A create with another status, or without the header",
    Other.createReply,
    is("202 with Location")
  ),
  claim("A13")(
    "created_at has microseconds and Z",
    "created_at with another precision or zone",
    Records.field(nodeReads, ["created_at"], instantForm, is("an instant with 6 decimals and Z")),
    is(true)
  ),
  claim("A14", sent)(
    "Names may repeat",
    "A create that is refused because its name is taken",
    Other.namesRepeat,
    is(true)
  ),
  claim("A14")(
    "Unknown query parameters are ignored",
    "A request with project_id or location, refused",
    Other.unknownParameters,
    is(true)
  ),
  {
    assumption: "A15",
    claim: "Backups can be chosen at creation only",
    unobservable: "It is documented that there is no request for it, and a request that does not exist shows nothing"
  },
  claim("A16", sent)(
    "A commitment answers vcn_id, node_status and committed_plan",
    "A success of the endpoint with other data",
    Other.commitmentReply,
    (names) => Records.sameSet(names, ["vcn_id", "node_status", "committed_plan"])
  ),
  {
    assumption: "A17",
    claim: "What a commitment needs, and what follows its end",
    unobservable: "A term is 30 days or more, and a commitment costs its whole price: no evidence is recorded for that"
  },
  a18("Filters narrow", "os=… with rows of other systems", Images.narrows, is(true)),
  a18("Filters ignore case", "os=… in another case that finds nothing", Images.anyCase, is(true)),
  a18(
    "No match is an empty list",
    "A filter without a match that is refused or has rows",
    Images.noMatch,
    is<number | string>("empty")
  ),
  a18(
    "An unknown image_type is 422",
    "An unknown image_type with another status, or accepted",
    Images.unknownType,
    is<number | string>(422)
  ),
  a18("specs.ram is a text", "specs.ram of another type", Images.spec("ram"), is("string")),
  a18(
    "The list of saved images is under data",
    "A list of saved images under another key",
    Images.savedKey,
    is("data")
  ),
  a18("A saved image names its plan size", "A saved image with plan in place of size", Images.savedPlan, is("size")),
  a19(
    "There are 4 series, 12 plans and 8 systems at least",
    "An image list without filters that has fewer",
    Images.catalogueSize,
    ({ plans, series, systems }) => series >= 4 && plans >= 12 && systems >= 8
  ),
  a19("A month costs 730 hours", "A plan whose price per month is another multiple", Images.monthHours, Images.isMonth),
  a19(
    "Committed options are of 30, 90 and 365 days",
    "A committed option of another length",
    Images.committedDays,
    (days) => days.every((each) => [30, 90, 365].includes(each))
  ),
  a20("Successes have the three headers", "A success without one of them", Window.headersOn("success"), is(true)),
  a20("Failures have them too", "A failure without one of them", Window.headersOn("failure"), is(true)),
  a20("The limit is 1200", "ratelimit-limit with another number", Window.limit, is(1200)),
  claim("A21", "time")(
    "A 429 has Retry-After in seconds",
    "A 429 without it, or with a date",
    Failures.headerIn("over-the-allowance", "retry-after"),
    (value) => /^\d+$/.test(value)
  ),
  claim("A21", "time")(
    "A 429 costs nothing",
    "Two of them in one window with different numbers left",
    Window.refusalIsFree,
    is(true)
  ),
  a20(
    "The reset is in seconds since the epoch",
    "ratelimit-reset in seconds from now",
    Window.resetForm,
    is<string>("epoch")
  ),
  a22(
    "The window is a fixed one",
    "An allowance that refills bit by bit, or whose reset moves with each request",
    Window.window,
    ({ algorithm }) => algorithm === "fixed-window"
  ),
  a22(
    "The window is an hour long",
    "The first request of a window with another time to its reset",
    Window.windowLength,
    is(3_600_000)
  ),
  claim("A23", sent)(
    "Another version is 404",
    "A path with another version, with another status",
    Failures.otherVersion,
    is(404)
  ),
  {
    assumption: "A23",
    claim: "There are no events",
    unobservable: "An interface for events that is not documented cannot be looked for, only stumbled upon"
  },
  a24("The last slash of a path may be left out", "A path without it, refused", Paging.noSlash, is(true)),
  a24("An empty parameter counts as none", "per_page= that is refused", Paging.emptyParameter, is(true)),
  a24(
    "A parameter given twice is 400",
    "A parameter given twice, with another status or accepted",
    Paging.twice,
    is<number | string>(400)
  )
]

export const isClaim = (entry: Claim | NoClaim): entry is Claim => "observe" in entry
