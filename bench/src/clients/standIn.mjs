/**
 * A stand-in for a cloud's own command line in TypeScript, because that is not on npm. It loads commander and axios as such a program
 * does, sends one request as `berth node list`, `get` or `create` does, and prints a table. Modules are named by URL:
 * `node standIn.mjs COMMANDER AXIOS BASE_URL node list`.
 */
const [, , commanderUrl, axiosUrl, baseUrl, ...words] = process.argv
const { Command } = await import(commanderUrl)
const { default: axios } = await import(axiosUrl)

const columns = ["id", "name", "status", "vcpus", "memory", "disk", "public_ip_address", "plan", "created_at"]

const nodes = `${baseUrl}/myaccount/api/v1/nodes/`
const headers = { authorization: "Bearer token" }
const params = { apikey: "key" }

const print = (records) => {
  const rows = [
    columns.map((name) => name.toUpperCase()),
    ...records.map((node) => columns.map((name) => String(node[name] ?? "-")))
  ]
  const widths = columns.map((_, index) => Math.max(...rows.map((row) => row[index].length)))
  process.stdout.write(
    rows.map((row) => `${row.map((cell, index) => cell.padEnd(widths[index])).join("  ")}\n`).join("")
  )
}

const program = new Command("stand-in")
const node = program.command("node")
node.command("list").action(async () => {
  const { data } = await axios.get(nodes, { params: { ...params, page_no: 1, per_page: 100 }, headers })
  print(data.data)
})
node
  .command("get")
  .argument("<id>")
  .action(async (id) => {
    const { data } = await axios.get(`${nodes}${id}/`, { params, headers })
    print([data.data])
  })
node
  .command("create")
  .argument("<name>")
  .requiredOption("--plan <plan>")
  .requiredOption("--image <image>")
  .action(async (name, { image, plan }) => {
    const { data } = await axios.post(nodes, { name, region: "ncr", plan, image }, { params, headers })
    print([data.data])
  })
await program.parseAsync(words, { from: "user" })
