/**
 * Calls every endpoint with the client that `@hey-api/openapi-ts` generates.
 */
import { createClient } from "./generated/client/index.js"
import {
  commitmentsSet,
  imagesList,
  imagesSaved,
  nodesCreate,
  nodesDelete,
  nodesGet,
  nodesList
} from "./generated/sdk.gen.js"
import { type Account, type Report, unexpected } from "./Report.ts"

export const callAll = async ({ accessToken, apiKey, baseUrl }: Account): Promise<Report> => {
  const client = createClient({
    baseUrl,
    auth: ({ in: place, type }) => (type === "http" ? accessToken : place === "query" ? apiKey : undefined)
  })
  const images = await imagesList({
    client,
    query: { image_type: "public", cpu: 4, ram: 16, series: "C", os: "Ubuntu", version: "24.04" }
  })
  const image = images.data?.data[0] ?? unexpected("no image", images.error)
  const created = await nodesCreate({
    client,
    body: {
      name: "web-1",
      region: "ncr",
      plan: image.plan,
      image: image.image,
      ssh_keys: ["SHA256:key"],
      backups: true,
      cn_id: null
    }
  })
  const made = created.data?.data ?? unexpected("not created", created.error)
  const listed = await nodesList({ client, query: { page_no: 1, per_page: 20 } })
  const found = await nodesGet({ client, path: { node_id: made.id } })
  const read = found.data?.data ?? unexpected("not found", found.error)
  const committed = await commitmentsSet({
    client,
    body: {
      vcn_id: made.id,
      node_status: "auto_renew",
      committed_plan: image.specs.committed_sku?.[0]?.committed_sku_id ?? 0
    }
  })
  const setting = committed.data?.data ?? unexpected("not committed", committed.error)
  const saved = await imagesSaved({ client, query: { image_type: "private" } })
  const deleted = await nodesDelete({ client, path: { node_id: made.id } })
  const missing = await nodesGet({ client, path: { node_id: 1 } })
  if (missing.error?.code !== 404) return unexpected("no 404", missing.data)
  return {
    image: image.image,
    plan: image.plan,
    created: { name: made.name, status: made.status },
    listed: listed.data?.data.map(({ name }) => name) ?? [],
    read: { status: read.status, diskGb: read.disk, address: read.public_ip_address.ip_address },
    commitment: { setting: setting.node_status, isCommitted: setting.committed_plan !== null },
    savedImages: saved.data?.data.map(({ size }) => size) ?? [],
    deleted: deleted.response?.status ?? 0,
    missing: { code: missing.error.code, details: missing.error.errors["detail"] ?? [] }
  }
}
