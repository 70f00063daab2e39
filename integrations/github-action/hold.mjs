// The command that `berth run` runs: it writes the node to a file, and ends when the job has ended.
import { renameSync, writeFileSync } from "node:fs"
import { filesIn, readOr, until } from "./common.mjs"

const files = filesIn(process.argv[2])
const { BERTH_NODE_ID: id, BERTH_NODE_IP: ip } = process.env
writeFileSync(`${files.node}.new`, JSON.stringify({ id: Number(id), ip }))
renameSync(`${files.node}.new`, files.node)
// berth ends this process when the lease is over.
await until(() => readOr(files.done), Number.POSITIVE_INFINITY)
