/**
 * A stand-in for a cloud's own command line in TypeScript, because that is not on npm. It loads commander and axios as such a program
 * does, sends the same request as `berth node list`, and prints a table. Modules are named by URL: `node standIn.mjs COMMANDER AXIOS
 * BASE_URL`.
 */
const [, , commanderUrl, axiosUrl, baseUrl] = process.argv
const { Command } = await import(commanderUrl)
const { default: axios } = await import(axiosUrl)

const columns = ["id", "name", "status", "vcpus", "memory", "disk", "public_ip_address", "plan", "created_at"]

const list = async () => {
  const { data } = await axios.get(`${baseUrl}/myaccount/api/v1/nodes/`, {
    params: { apikey: "key", page_no: 1, per_page: 100 },
    headers: { authorization: "Bearer token" }
  })
  const rows = [
    columns.map((name) => name.toUpperCase()),
    ...data.data.map((node) => columns.map((name) => String(node[name] ?? "-")))
  ]
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index].length)))
  process.stdout.write(
    rows.map((row) => `${row.map((cell, index) => cell.padEnd(widths[index])).join("  ")}\n`).join("")
  )
}

const program = new Command("stand-in")
program.command("node").command("list").action(list)
await program.parseAsync(["node", "list"], { from: "user" })
