/**
 * The statements of the OpenAPI description and the docs page about the service of today, and how certain each statement is. Both show
 * these statements only if the server's first world imitates that service. The sources are the provider's OpenAPI and its clients of 2023
 * to 2026.
 */
import type { Operation } from "@berthkit/profile/operations"

/**
 * Where an observed statement comes from. `live`: the author saw it on the service. `spec`: the provider's OpenAPI of
 * September 2026 says it. `2+`, `1`: two or more clients, or one client, of the provider show it. `inferred`: it follows
 * from one of these. All other statements have not been observed: those marked `documented` are in the older documentation,
 * and those marked `chosen` are Berth's own choice.
 */
type Sure = "live" | "spec" | "2+" | "1" | "inferred"

const observed = (sure: ReadonlyArray<Sure>, text: string): string => `${text} (observed: ${sure.join(", ")})`

const chosen = (text: string): string => `${text} (chosen)`

const documented = (text: string): string => `${text} (documented)`

export const levels =
  "Each statement says where it comes from. `observed` names the evidence: `live` means that somebody saw it on the service; `spec`, that the " +
  "provider's OpenAPI of September 2026 says it; `2+` or `1`, that two or more clients, or one client, of the provider show it; `inferred`, " +
  "that it follows from one of these. Nobody has observed the others: `documented` means that the older documentation says it; `chosen`, that " +
  "Berth's authors decided it."

/** Statements about all operations, or about no operation in particular. */
export const general: ReadonlyArray<string> = [
  observed(["spec", "2+"], "Every operation needs `project_id` and `location` in its query."),
  observed(
    ["1"],
    "Without a project, or with one that does not exist, the reply is 400 with `status_code` and `message`."
  ),
  chosen("Every positive whole number is a project; the locations are Delhi, Chennai, Mumbai and Noida."),
  chosen("A node of another project or location is not found. Nodes of a scenario are in project 1 in Delhi."),
  observed(["spec"], "Names have 3 to 50 letters, digits and hyphens, and are unique in a project."),
  observed(["2+"], "A refused rule is 412. The reason is in `errors`, as text, object or list; `message` is a phrase."),
  observed(["2+"], "401, 403 and 404 have `{detail}`."),
  chosen(
    "Failures have their own HTTP status; with `failuresWith200` it is 200, and the `code` in the body is 400 or more."
  ),
  documented("The rate limit and its headers. No client shows any.")
]

export const operations: Readonly<Record<Operation, string>> = {
  "nodes.create": [
    observed(["spec", "live"], "200 with the record; nested, with counts, if `number_of_instances` was sent."),
    observed(["2+"], "Too little credit is 200 with `is_credit_sufficient: false`, and no node."),
    observed(["2+"], "A SKU such as `C3.8GB` is no plan: 412."),
    chosen("Several nodes of one create are called `name-1`, `name-2`, …")
  ].join(" "),
  "nodes.get": observed(["spec"], "About 50 fields. A node of another place is 404."),
  "nodes.list": [
    observed(["spec", "2+"], "The nodes of one project at one location, with totals next to `data`."),
    documented(
      "Paging parameters work. No client sends any; `paging: ignored` plays a service that does not know them."
    ),
    chosen(
      "A page after the end is empty. `paging: not-found-after-the-end` answers it with 404, as common web frameworks do. `paging: cut` shows the first 20 nodes on every page, without totals."
    ),
    chosen("By ascending id; `order: descending` plays the other order.")
  ].join(" "),
  "nodes.delete": observed(["spec", "2+"], "200 with the envelope."),
  "images.list": [
    observed(["spec", "live"], "A record for each SKU and system of the location, about 2000 without a filter."),
    chosen("`catalogue: short` has 24 of them, `whole` all.")
  ].join(" "),
  "images.saved": observed(["spec"], "Records of a disk. They have no plan and no price."),
  "commitments.set": observed(["spec"], "`{status, message}` without `code` and `data`.")
}

/** Query parameters that today's dialect has in addition to the documented ones. */
export const parameters = {
  project_id: observed(["spec", "2+"], "The project; a whole number."),
  location: observed(["spec", "2+"], "The location."),
  osversion: observed(["spec", "2+"], "Operating system version. The documented `version` is ignored."),
  reserve_ip_required: observed(["spec", "1"], "`true` keeps the address for the account.")
} as const

/** Fields of a create's body that the documented interface does not have. */
export const creation: Readonly<Record<string, readonly [schema: object, text: string]>> = {
  number_of_instances: [
    { type: "integer", minimum: 1, maximum: 100 },
    observed(["spec", "live"], "How many nodes to make. If it is sent, the reply is nested.")
  ],
  disk: [
    { type: "integer", minimum: 1 },
    observed(["spec", "2+"], "Disk space in gigabytes; required for plans that show 0.")
  ],
  cn_status: [
    { type: "string", enum: ["auto_renew", "auto_terminate", "hourly_billing"] },
    observed(["spec"], "What happens when the commitment of `cn_id` ends.")
  ],
  image_id: [{ type: ["integer", "string"] }, observed(["spec"], "The saved image, with `is_saved_image`.")],
  vpc_id: [{ type: ["integer", "string"] }, observed(["spec"], "A private network, with `subnet_id`.")],
  subnet_id: [{ type: ["integer", "string"] }, observed(["spec"], "A part of the network.")],
  enable_bitninja: [{ type: "boolean" }, observed(["spec"], "The security agent, under its product name.")],
  ssh_keys: [
    { type: "array", items: { type: ["string", "integer"] } },
    observed(["live"], "Texts of public keys. An id is accepted, and no key is installed.")
  ],
  plan: [{ type: "string" }, observed(["spec", "2+"], "The slug of a plan of this location, and not a SKU.")]
}

/** Fields of records whose meaning differs from the documented interface. */
export const fields: Readonly<Record<string, string>> = {
  plan: observed(["spec", "live"], "In a node the SKU (`C3.8GB`), in the catalogue the slug that a create takes."),
  vm_id: observed(["spec"], "A number that differs from `id`."),
  memory: observed(["spec"], "Size with its unit, as text."),
  disk: observed(["spec"], "Size with its unit, as text."),
  vcpus: observed(["spec"], "A number as text."),
  price: observed(["spec"], "One sentence with both prices."),
  committed_info: observed(["spec"], "The commitment of the node, null without one."),
  status: observed(
    ["2+"],
    "`Creating`, `Running`, `Powered off`, `Terminating`; the service also has `Stopping`, `Saving`, `Reinstalling`, `Failed` and `Error`."
  ),
  total_count: observed(["1"], "Number of nodes in the place."),
  total_page_number: observed(["1"], "Number of pages."),
  price_per_month: observed(["live"], "0 means that there is no monthly price."),
  price_per_hour: observed(["spec", "2+"], "A number in the record's currency."),
  available_inventory_status: observed(["spec"], "False for a plan that is sold out."),
  currency: observed(["spec"], "`INR`, or `USD` for accounts that pay in it."),
  sku_name: observed(["spec", "2+"], "The SKU. It cannot be cut out of the slug, which may contain another one."),
  disk_space: observed(["spec"], "0 for series whose creates name a `disk`."),
  creation_time: observed(["spec"], "`DD-MM-YYYY HH:MM:SS` without a zone."),
  ssh_keys: observed(["spec"], "The public keys that are installed.")
}

/** Examples of failures by status. */
export const failures: Readonly<Record<number, { readonly text: string; readonly example: object }>> = {
  400: {
    text: `${observed(["1"], "No such project or location.")} ${chosen("Fields that are missing or wrong, with `errors`.")}`,
    example: { status_code: 400, message: "Project not found" }
  },
  401: {
    text: observed(["1"], "The API key or the token is missing or wrong."),
    example: { detail: "Authentication credentials were not provided." }
  },
  403: { text: observed(["1"], "Key and token of different accounts."), example: { detail: "Not allowed." } },
  404: {
    text: observed(["inferred"], "This place has no such node, or the path does not exist."),
    example: { detail: "Not found." }
  },
  405: { text: observed(["inferred"], "Wrong method."), example: { detail: "Method not allowed." } },
  412: {
    text: observed(["2+"], "A rule was broken; the reason is in `errors`."),
    example: { code: 412, data: {}, errors: "Plan does not exist", message: "Precondition Failed" }
  }
}
