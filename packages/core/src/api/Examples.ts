/**
 * The examples of the OpenAPI description: calls of a mock service of seed 1 whose clock stands still. A test of the mock
 * sends the requests and compares the replies.
 */
import type { OperationExamples } from "./Document.ts"
import { fail, type FailureStatus, succeed } from "./Envelope.ts"
import type { CreatedNode, ListedNode, NodeAttributes, NodeCreation } from "./NodeRecords.ts"
import type { ImageSpecs, ListedImage, SavedImage } from "./ImageRecords.ts"

const nodeId = 97898
const plan = "C-4VCPU-16RAM-100DISK"

const sizes = { vcpus: "4", memory: "16.00 GB", plan, region: "ncr" } as const
const identity = { id: nodeId, name: "web-1", created_at: "2026-01-01T00:00:00.000990Z" } as const
const addresses = { public_ip_address: "100.101.68.92", private_ip_address: "10.223.98.91" } as const

export const createNode = {
  request: {
    name: "web-1",
    region: "ncr",
    plan,
    image: "Ubuntu-24.04",
    ssh_keys: ["SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8"],
    backups: true,
    tags: ["web"]
  } satisfies NodeCreation,
  replies: {
    202: succeed({
      ...identity,
      ...addresses,
      backup: true,
      disk: "100 GB",
      status: "Create",
      ...sizes,
      is_locked: false
    } satisfies typeof CreatedNode.Encoded)
  }
} satisfies OperationExamples

export const getNode = {
  parameters: { node_id: nodeId },
  replies: {
    200: succeed({
      id: nodeId,
      name: "web-1",
      vcpus: 4,
      disk: 100,
      locked: false,
      created_at: identity.created_at,
      status: "created",
      backups: true,
      public_ip_address: {
        ip_address: addresses.public_ip_address,
        netmask: "255.255.255.0",
        gateway: "100.101.68.1",
        type: "public"
      },
      private_ip_address: {
        ip_address: addresses.private_ip_address,
        netmask: "255.255.255.0",
        gateway: "10.223.98.1",
        type: "private"
      },
      tags: []
    } satisfies typeof NodeAttributes.Encoded)
  }
} satisfies OperationExamples

export const listNodes = {
  parameters: { page_no: 1, page: 1, per_page: 20 },
  replies: {
    200: succeed([
      { ...identity, ...addresses, backup: true, disk: "100 GB", status: "created", ...sizes }
    ] satisfies ReadonlyArray<typeof ListedNode.Encoded>)
  }
} satisfies OperationExamples

export const deleteNode = {
  parameters: { node_id: nodeId },
  replies: { 200: succeed({}) }
} satisfies OperationExamples

const committedSku = (skuId: number, days: number, price: string, until: string) => ({
  committed_sku_id: skuId,
  committed_sku_name: `${days} Days Committed`,
  committed_node_message: `Reserved for ${days} days until ${until} at Rs. ${price} in total.`,
  committed_sku_price: price,
  committed_upto_date: until,
  committed_days: days
})

const specs: typeof ImageSpecs.Encoded = {
  ram: "16.00",
  cpu: 4,
  disk_space: 100,
  price_per_month: "9431.60",
  price_per_hour: "12.92",
  series: "C",
  minimum_billing_amount: "310.08",
  committed_sku: [
    committedSku(262, 30, "8837.28", "31-January-2026 00:00"),
    committedSku(263, 90, "24558.34", "01-April-2026 00:00"),
    committedSku(264, 365, "79225.44", "01-January-2027 00:00")
  ]
}

export const listImages = {
  parameters: { image_type: "public", cpu: 4, ram: 16, series: "C", os: "Ubuntu", version: "24.04" },
  replies: {
    200: succeed([
      {
        name: "Ubuntu 24.04",
        image: "Ubuntu-24.04",
        os: { name: "Ubuntu", version: "24.04", image: "9912" },
        zone: { slug_name: "ncr" },
        specs,
        plan
      }
    ] satisfies ReadonlyArray<typeof ListedImage.Encoded>)
  }
} satisfies OperationExamples

export const listSavedImages = {
  parameters: { image_type: "private" },
  replies: {
    200: succeed([
      {
        name: "web-base",
        image: "web-base",
        os: { name: "Ubuntu", version: "24.04", image: "53653" },
        zone: { slug_name: "ncr" },
        specs,
        size: plan
      }
    ] satisfies ReadonlyArray<typeof SavedImage.Encoded>)
  }
} satisfies OperationExamples

export const setCommitment = {
  request: { vcn_id: nodeId, node_status: "auto_renew", committed_plan: 262 },
  replies: { 200: succeed({ vcn_id: nodeId, node_status: "auto_renew", committed_plan: 262 }) }
} satisfies OperationExamples

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
