/**
 * The hand-written examples of the OpenAPI description: requests and failures. The requests are sent to a mock with seed 1 and a stopped
 * clock. `pnpm example-replies` in `apps/server` writes the mock's replies to `exampleReplies.json`. A test of the mock compares the
 * failures here with those that the mock sends.
 */
import type { RequestExample } from "./Document.ts"
import { fail, type FailureStatus } from "./Envelope.ts"
import type { NodeCreation } from "./NodeRecords.ts"

const nodeId = 97898

export const createNode = {
  body: {
    name: "web-1",
    region: "ncr",
    plan: "C-4VCPU-16RAM-100DISK",
    image: "Ubuntu-24.04",
    ssh_keys: ["SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8"],
    backups: true,
    tags: ["web"]
  } satisfies NodeCreation
} satisfies RequestExample

export const oneNode = { parameters: { node_id: nodeId } } satisfies RequestExample

export const listNodes = { parameters: { page_no: 1, page: 1, per_page: 20 } } satisfies RequestExample

export const listImages = {
  parameters: { image_type: "public", cpu: 4, ram: 16, series: "C", os: "Ubuntu", version: "24.04" }
} satisfies RequestExample

export const listSavedImages = { parameters: { image_type: "private" } } satisfies RequestExample

export const setCommitment = {
  body: { vcn_id: nodeId, node_status: "auto_renew", committed_plan: 262 }
} satisfies RequestExample

/** The failures, which are the same for every operation. */
export const failures = {
  400: fail(400, "A query parameter is of the wrong type.", { page_no: ["The value must be a whole number."] }),
  401: fail(401, "The API key or the access token is missing or wrong.", {
    authorization: ["The access token is missing: Authorization: Bearer …"]
  }),
  403: fail(403, "The API key and the access token are of different accounts."),
  404: fail(404, "There is no node 97899."),
  405: fail(405, "The path does not answer PUT, only GET, HEAD, DELETE, OPTIONS."),
  408: fail(408, "The request took too long to arrive."),
  409: fail(409, `Node ${nodeId} is locked and refuses user actions.`),
  413: fail(413, "The body is larger than 1048576 bytes."),
  414: fail(414, "The URL is longer than 8192 bytes."),
  415: fail(415, "The body must be JSON: content-type application/json."),
  422: fail(422, "The fields name, backups are not valid.", {
    name: ["The name must not be blank."],
    backups: ["Expected true or false."]
  }),
  429: fail(429, "The allowance of 1200 requests is used up: try again in 3600 seconds."),
  431: fail(431, "The headers are larger than 16384 bytes."),
  500: fail(500, "The service failed."),
  503: fail(503, "The service is not available.")
} as const satisfies Readonly<Record<FailureStatus, unknown>>
