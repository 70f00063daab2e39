/**
 * The suites that run in today's dialect too (`pnpm test:today`), and the tests of them that do not.
 */

/** Files of tests that make requests. */
export const suites: ReadonlyArray<string> = [
  "cli/anyCatalogue.test.ts",
  "cli/catalogue.test.ts",
  "cli/deadline.test.ts",
  "cli/emptyLists.test.ts",
  "cli/exactlyOnce.machine.ts",
  "cli/fleet.test.ts",
  "cli/fleetMoney.test.ts",
  "cli/givenFiles.test.ts",
  "cli/leases.test.ts",
  "cli/machine/approve.machine.ts",
  "cli/machine/fleetQuestions.machine.ts",
  "cli/machine/folders.machine.ts",
  "cli/machine/runEnds.machine.ts",
  "cli/matrix.test.ts",
  "cli/mcp/consent.machine.ts",
  "cli/mcp/data.machine.ts",
  "cli/mcp/hosts.test.ts",
  "cli/mcp/once.machine.ts",
  "cli/mcp/readOnly.test.ts",
  "cli/mcp/tools.test.ts",
  "cli/node.test.ts",
  "cli/nodeAddress.test.ts",
  "cli/oneRecord.test.ts",
  "cli/progress.test.ts",
  "cli/proposal.test.ts",
  "cli/proxy.test.ts",
  "cli/refuseFirst.test.ts",
  "cli/requests.test.ts",
  "cli/sharing.test.ts",
  "cli/usable.test.ts",
  "cli/waitRefused.test.ts",
  "cli/watch.test.ts",
  "core/allowance/Admission.test.ts",
  "core/allowance/together.test.ts",
  "core/allowance/trial.test.ts",
  "core/creation/exactlyOnce.machine.ts",
  "core/creation/processes.machine.ts",
  "core/faults.test.ts",
  "core/promise/abort.test.ts",
  "core/promise/attempts.test.ts",
  "core/promise/calls.test.ts",
  "core/promise/errors.test.ts",
  "core/promise/list.test.ts",
  "core/promise/logger.test.ts",
  "core/promise/watching.test.ts",
  "watch/Poller.test.ts",
  "watch/catalogue.test.ts",
  "watch/daemon.test.ts",
  "watch/hanging.test.ts",
  "watch/kill.machine.ts",
  "watch/once.test.ts",
  "watch/run.test.ts",
  "watch/stop.test.ts",
  "watch/unreadable.test.ts"
]

/** Tests that state what only the documented interface has, by file and name, each with the reason. */
export const documentedOnly: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "cli/catalogue.test.ts": {
    "of plans and images narrows by the least that a plan is to have":
      "compares plan list with the slugs of image list, and shows SKUs today",
    "prints the reply to a refused request, and exits with the code of the failure": "states the envelope of a 404"
  },
  "cli/fleet.test.ts": {
    "creates again what is gone, says so, and leaves alone what the list only hides":
      "an empty list has no total there; today it says that it is not whole, and apply refuses",
    "makes 100 nodes with at most 130 requests":
      "counts without the image list, and without reads of nodes that have no date"
  },
  "cli/givenFiles.test.ts": {
    "is the text of a public key, from a file or as it is, or a fingerprint or an id":
      "fingerprints and ids are refused today"
  },
  "cli/machine/fleetQuestions.machine.ts": {
    "deletes no node that has changed in the meantime: protected, renamed, or doubled":
      "makes a second node of one name, which is refused today"
  },
  "cli/matrix.test.ts": {
    "berth node wait prints outcome in every format": "waits for created, which no node is today",
    "berth node wait prints outcome[] in every format": "waits for created, which no node is today",
    "berth node wait prints outcome in every format, and no colours under NO_COLOR":
      "waits for created, which no node is today",
    "berth node wait prints outcome[] in every format, and no colours under NO_COLOR":
      "waits for created, which no node is today"
  },
  "cli/node.test.ts": {
    "reports how many there are where it knows: with --sort, which reads them all": "each page has the total today",
    "does nothing to the terminal, whatever is in it": "such names are refused today",
    "sends every field it has a flag for": "sends ids of SSH keys",
    "names the field that the service refused": "a refused plan is a 412 without a field today",
    "sets what happens at the end of a commitment": "a record shows its commitment today, so it differs afterwards"
  },
  "cli/oneRecord.test.ts": {
    "is the same by id, name and pattern, after a wait and in the result of a delete":
      "expects a region, and none is shown today",
    "is that of a get in the result of every command that changes or awaits nodes":
      "replies to create and get differ today",
    "is that of the list, besides what the list does not report of a node":
      "the list has neither dates nor sizes today",
    "is found by get and wait, and by others as name:123 alone": "waits for created, which no node is today",
    "is one among all that match where it is read as a pattern, and alone with name:": "such names are refused today"
  },
  "cli/proposal.test.ts": {
    "shows the very request that is sent without it, byte for byte": "sends ids of SSH keys, and names with spaces",
    "is refused before it is sent, with the nearest spelling, unless it is forced":
      "images have no ids in the image list today",
    "names what the plan offers instead of the image": "takes the SKUs of plan list with images that each slug has"
  },
  "cli/sharing.test.ts": {
    "ends no create either, unless that has a key, which could not be kept": "counts replies with 202"
  },
  "core/promise/calls.test.ts": {
    "leads a node through its life with plain values": "orders by the names of plan list, which are SKUs today"
  },
  "core/promise/watching.test.ts": {
    "is what the replies reported": "counts without the image list",
    "gives changes until its signal is aborted, or its client closed": "counts without the image list",
    "of a list gets its totals": "each page has the total today",
    "of a list that need not be exact gets what was assumed": "each page has the total today"
  },
  "watch/catalogue.test.ts": {
    "an image that is saved is reported, at one request in half an hour and one more for the doubt":
      "saved images are no records of the image list today"
  },
  "cli/watch.test.ts": {
    "prints a line for each change: a new node, a status, an end": "such names are refused today",
    "shows a reading that failed in its last line, over the nodes as they were read last":
      "expects the short words of a 503 on one line",
    "shows how old the nodes are, at each reading anew": "the list has no dates today"
  }
}
