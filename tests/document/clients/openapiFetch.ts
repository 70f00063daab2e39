/**
 * Calls every endpoint with `openapi-fetch` and the types that `openapi-typescript` generates.
 */
import createClient from "openapi-fetch"
import type { paths } from "./generated/schema.d.ts"
import { type Account, type Report, unexpected } from "./Report.ts"

const nodes = "/myaccount/api/v1/nodes/"
const node = "/myaccount/api/v1/nodes/{node_id}/"

export const callAll = async ({ accessToken, apiKey, baseUrl }: Account): Promise<Report> => {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${accessToken}` } })
  client.use({
    onRequest: ({ request }) => {
      const url = new URL(request.url)
      url.searchParams.set("apikey", apiKey)
      return new Request(url, request)
    }
  })
  const images = await client.GET("/myaccount/api/v1/images/", {
    params: { query: { image_type: "public", cpu: 4, ram: 16, series: "C", os: "Ubuntu", version: "24.04" } }
  })
  const image = images.data?.data[0] ?? unexpected("no image", images.error)
  const created = await client.POST(nodes, {
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
  const listed = await client.GET(nodes, { params: { query: { page_no: 1, per_page: 20 } } })
  const found = await client.GET(node, { params: { path: { node_id: made.id } } })
  const read = found.data?.data ?? unexpected("not found", found.error)
  const committed = await client.POST("/myaccount/api/v1/update_committed_node_status/", {
    body: {
      vcn_id: made.id,
      node_status: "auto_renew",
      committed_plan: image.specs.committed_sku?.[0]?.committed_sku_id ?? 0
    }
  })
  const setting = committed.data?.data ?? unexpected("not committed", committed.error)
  const saved = await client.GET("/myaccount/api/v1/images/saved-images/", {
    params: { query: { image_type: "private" } }
  })
  const deleted = await client.DELETE(node, { params: { path: { node_id: made.id } } })
  const missing = await client.GET(node, { params: { path: { node_id: 1 } } })
  if (missing.error?.code !== 404) return unexpected("no 404", missing.data)
  return {
    image: image.image,
    plan: image.plan,
    created: { name: made.name, status: made.status },
    listed: listed.data?.data.map(({ name }) => name) ?? [],
    read: { status: read.status, diskGb: read.disk, address: read.public_ip_address.ip_address },
    commitment: { setting: setting.node_status, isCommitted: setting.committed_plan !== null },
    savedImages: saved.data?.data.map(({ size }) => size) ?? [],
    deleted: deleted.response.status,
    missing: { code: missing.error.code, details: missing.error.errors["detail"] ?? [] }
  }
}
