/**
 * Calls every endpoint with the client that `orval` generates.
 */
import {
  commitmentsSet,
  imagesList,
  imagesSaved,
  nodesCreate,
  nodesDelete,
  nodesGet,
  nodesList
} from "./generated/client.ts"
import { setAccount } from "./orvalSend.ts"
import { type Account, type Report, unexpected } from "./Report.ts"

export const callAll = async (account: Account): Promise<Report> => {
  setAccount(account)
  const images = await imagesList({
    image_type: "public",
    cpu: 4,
    ram: 16,
    series: "C",
    os: "Ubuntu",
    version: "24.04"
  })
  const image = (images.status === 200 ? images.data.data[0] : undefined) ?? unexpected("no image", images)
  const created = await nodesCreate({
    name: "web-1",
    region: "ncr",
    plan: image.plan,
    image: image.image,
    ssh_keys: ["SHA256:key"],
    backups: true,
    cn_id: null
  })
  const made = created.status === 202 ? created.data.data : unexpected("not created", created)
  const listed = await nodesList({ page_no: 1, per_page: 20 })
  const found = await nodesGet(made.id)
  const read = found.status === 200 ? found.data.data : unexpected("not found", found)
  const committed = await commitmentsSet({
    vcn_id: made.id,
    node_status: "auto_renew",
    committed_plan: image.specs.committed_sku?.[0]?.committed_sku_id ?? 0
  })
  const setting = committed.status === 200 ? committed.data.data : unexpected("not committed", committed)
  const saved = await imagesSaved({ image_type: "private" })
  const deleted = await nodesDelete(made.id)
  const missing = await nodesGet(1)
  if (missing.status !== 404) return unexpected("no 404", missing)
  return {
    image: image.image,
    plan: image.plan,
    created: { name: made.name, status: made.status },
    listed: listed.status === 200 ? listed.data.data.map(({ name }) => name) : [],
    read: { status: read.status, diskGb: read.disk, address: read.public_ip_address.ip_address },
    commitment: { setting: setting.node_status, isCommitted: setting.committed_plan !== null },
    savedImages: saved.status === 200 ? saved.data.data.map(({ size }) => size) : [],
    deleted: deleted.status,
    missing: { code: missing.data.code, details: missing.data.errors["detail"] ?? [] }
  }
}
