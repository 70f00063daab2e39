import { assert, it } from "@effect/vitest"
import { withTools } from "../../../src/commands/mcp/answers.ts"

it.each([
  ["List the nodes: berth node list", "List the nodes: list_nodes"],
  ["List the nodes with berth node list, and use the id.", "List the nodes with list_nodes, and use the id."],
  ["Read the list: berth node list --name 'a b'; a node", "Read the list: list_nodes; a node"],
  ["Page by page: berth node list --page 1 --per-page 20", "Page by page: list_nodes"],
  ["See them: berth node get 5 6; one of them", "See them: get_node 5 6; one of them"],
  ["To continue waiting: berth node wait 5 --for deleted --timeout 10m", "To continue waiting: wait"],
  ["See berth image list --plan 'C 1'", "See list_images"],
  ["Try again in 30 min. See: berth limits", "Try again in 30 min."],
  ["Try again, or allow more time: --deadline 2m", "Try again."],
  ["Check the address and the network: berth doctor", "Check the address and the network: berth doctor"]
])("%s", (hint, forAgent) => {
  assert.strictEqual(withTools(hint), forAgent)
})
