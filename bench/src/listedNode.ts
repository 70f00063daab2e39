/** Records of the node list, as the service writes them. */
import { nodeRecord } from "@berthkit/core/testing"

/** A record with these fields. Its id comes first, as in a list: the decoder is fastest with the documented order. */
export const listedNode = (id: number, fields: Readonly<Record<string, unknown>>) =>
  Object.assign({ id }, nodeRecord({ id, ...fields }))

/** Series, vCPUs, GB of memory and GB of disk of the fleet's plans. */
const plans = [
  ["A", 1, 2, 20],
  ["B", 2, 6, 75],
  ["C", 4, 16, 100],
  ["B", 4, 12, 150],
  ["C", 8, 32, 200],
  ["C", 16, 64, 400],
  ["B", 16, 48, 600]
] as const
const roles = ["web", "db-replica", "worker", "ci-runner-linux", "cache"]
const statuses = ["running", "running", "running", "power-off", "running", "created", "running", "terminate"] as const

/** Distinct instants spread over 2024 and 2025, unsorted. */
const createdAt = (i: number) => {
  const minutes = (i * 104_729) % (2 * 365 * 24 * 60)
  const millis = Date.UTC(2024, 0, 1) + minutes * 60_000 + ((i * 7919) % 60_000)
  return new Date(millis).toISOString().replace("Z", `${String((i * 37) % 1000).padStart(3, "0")}Z`)
}

/** A node of a fleet in which hardly two nodes are alike. */
export const variedNode = (i: number) => {
  const [series, vcpus, memoryGb, diskGb] = plans[(i * 5 + (i >> 3)) % plans.length]!
  return listedNode(97_000 + i, {
    name: `${roles[i % roles.length]}-${i}`,
    created_at: createdAt(i),
    public_ip_address: `164.52.${i >> 8}.${i & 255}`,
    private_ip_address: `10.1.${i >> 8}.${i & 255}`,
    backup: i % 3 === 0,
    disk: `${diskGb} GB`,
    status: statuses[(i * 3 + (i >> 4)) % statuses.length]!,
    vcpus: String(vcpus),
    memory: `${memoryGb}.00 GB`,
    plan: `${series}-${vcpus}VCPU-${memoryGb}RAM-${diskGb}DISK`
  })
}
