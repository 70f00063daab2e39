/**
 * Lists the suites that also run in today's dialect (`pnpm test:today`), the suites that do not, and single tests that do not although
 * their suites do. A new suite of `tests/` belongs in one of the first two lists.
 */

/** The suites that also run in today's dialect, because they send requests. */
export const suites: ReadonlyArray<string> = [
  "cli/catalogue.test.ts",
  "cli/deadline.test.ts",
  "cli/emptyLists.test.ts",
  "cli/everyCommand.machine.ts",
  "cli/exactlyOnce.machine.ts",
  "cli/fleet.machine.ts",
  "cli/fleet.test.ts",
  "cli/fleetMoney.test.ts",
  "cli/givenFiles.test.ts",
  "cli/history.test.ts",
  "cli/leases.test.ts",
  "cli/machine/approve.machine.ts",
  "cli/machine/fleetQuestions.machine.ts",
  "cli/machine/folders.machine.ts",
  "cli/machine/githubAction.machine.ts",
  "cli/machine/run.machine.ts",
  "cli/machine/runEnds.machine.ts",
  "cli/machine/terminal.machine.ts",
  "cli/matrix.test.ts",
  "cli/mcp/consent.machine.ts",
  "cli/mcp/data.machine.ts",
  "cli/mcp/hosts.test.ts",
  "cli/mcp/once.machine.ts",
  "cli/mcp/readOnly.test.ts",
  "cli/mcp/tools.test.ts",
  "cli/noSecrets.machine.ts",
  "cli/node.test.ts",
  "cli/nodeAddress.test.ts",
  "cli/oneRecord.test.ts",
  "cli/progress.test.ts",
  "cli/proposal.test.ts",
  "cli/proxy.test.ts",
  "cli/refuseFirst.test.ts",
  "cli/requests.test.ts",
  "cli/sharedState.test.ts",
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
  "core/promise/ending.machine.ts",
  "core/promise/environment.test.ts",
  "core/promise/errors.test.ts",
  "core/promise/list.test.ts",
  "core/promise/logger.test.ts",
  "core/promise/proxy.test.ts",
  "core/promise/stateDirectory.test.ts",
  "core/promise/watching.test.ts",
  "watch/Poller.test.ts",
  "watch/accounts.machine.ts",
  "watch/agreement.machine.ts",
  "watch/catalogue.test.ts",
  "watch/causes.test.ts",
  "watch/commands.machine.ts",
  "watch/cost.machine.ts",
  "watch/daemon.test.ts",
  "watch/fleet.machine.ts",
  "watch/hanging.test.ts",
  "watch/kill.machine.ts",
  "watch/machine/proxies.machine.ts",
  "watch/machine/silences.machine.ts",
  "watch/machine/setUp.machine.ts",
  "watch/once.test.ts",
  "watch/run.test.ts",
  "watch/sharing.machine.ts",
  "watch/stop.test.ts",
  "watch/unreadable.test.ts"
]

/** Suites that run only in the documented dialect, by reason. Each entry is a file, a folder, or the end of the names of files. */
export const documentedSuites: Readonly<Record<string, ReadonlyArray<string>>> = {
  "nothing of it reaches the mock: it has a service of its own, or asks none": [
    "cli/anyCatalogue.test.ts",
    "cli/api.test.ts",
    "cli/boughtOnce.test.ts",
    "cli/costBound.test.ts",
    "cli/credentials.test.ts",
    "cli/deleteAgain.test.ts",
    "cli/earlierBoot.test.ts",
    "cli/exitCode.test.ts",
    "cli/fleetGuard.test.ts",
    "cli/fleetHints.test.ts",
    "cli/fleetLedger.test.ts",
    "cli/fleetPrices.test.ts",
    "cli/fleetSpellings.test.ts",
    "cli/formats.test.ts",
    "cli/help.test.ts",
    "cli/killedFleets.test.ts",
    "cli/machine/completion.machine.ts",
    "cli/machine/powerCut.machine.ts",
    "cli/machine/powershell.machine.ts",
    "cli/machine/ssh.machine.ts",
    "cli/model.test.ts",
    "cli/money.test.ts",
    "cli/newKey.test.ts",
    "cli/openCreates.test.ts",
    "cli/places.test.ts",
    "cli/profiles.test.ts",
    "cli/quick.test.ts",
    "cli/replacementsRun.test.ts",
    "cli/restart.test.ts",
    "cli/schema.test.ts",
    "cli/secrets.test.ts",
    "cli/signals.test.ts",
    "cli/spellings.test.ts",
    "cli/spending.test.ts",
    "cli/stoppedFleet.test.ts",
    "cli/switches.test.ts",
    "cli/todaysCatalogue.test.ts",
    "cli/twoFleets.test.ts",
    "cli/unreadableFleets.test.ts",
    "cli/unsureCommitments.test.ts",
    "cli/usage.test.ts",
    "cli/userAgent.test.ts",
    "cli/vanishedState.test.ts",
    "cli/wrongMachine.test.ts",
    "core/creation/clocks.machine.ts",
    "core/creation/killed.machine.ts",
    "core/machine/fullDisk.machine.ts",
    "core/promise/secrets.test.ts",
    "watch/checkConfig.test.ts",
    "watch/machine/alerts.machine.ts",
    "watch/machine/systemd.machine.ts",
    "watch/machine/troubles.machine.ts",
    "watch/silences.machine.ts",
    "watch/store.machine.ts",
    "watch/userAgent.test.ts"
  ],
  "it measures widths by what the documented list shows of nodes": ["watch/latency.test.ts"],
  "it chooses the dialects of its worlds itself": ["cli/today.test.ts", "watch/today.test.ts"],
  "it states what a page or a docstring shows, which is the documented dialect": [
    "core/docstrings.test.ts",
    "watch/severalMachines.machine.ts"
  ],
  "it makes nodes with names that are refused today": [
    "cli/hostileNames.machine.ts",
    "cli/machine/inventory.machine.ts"
  ],
  "a terminal changes how records are shown; the records of today are those of cli/matrix.test.ts": [
    "cli/machine/matrix.machine.ts"
  ],
  "it is about timers; core/promise/calls.test.ts calls the same methods in both dialects": [
    "core/promise/fakeTimers.test.ts"
  ],
  "it is about a database that processes share; core/allowance/together.test.ts and cli/sharedState.test.ts share one in both dialects":
    ["cli/machine/sharedState.machine.ts", "core/allowance/database.machine.ts", "core/sharedState.test.ts"],
  "it is about the protocol of agents; cli/mcp/ has the tools in both dialects": ["agents/clients.machine.ts"],
  "it is about the mock, its pages and its description": ["document/", "server/"],
  "it is about packages, images and bundlers": ["install/"],
  "it is about the repository and its pages": ["repository/", "site/"],
  "it is about pages in a browser": ["*.browser.ts"],
  "it is a longer run of a suite that runs in both dialects": ["*.soak.ts"],
  "it is about the store and its disk or server, and what is kept in it; watch/kill.machine.ts and watch/fleet.machine.ts read the service into a store in both dialects":
    ["watch/fleetStore.machine.ts", "watch/machine/retention.machine.ts", "watch/machine/store.machine.ts"],
  "it is about silences of events, which are the same events in both dialects": ["watch/silencing.machine.ts"]
}

/** Suites of the workspaces that run Berth's client against the mock. Each starts the mock in both dialects itself. */
export const suitesOfWorkspaces: ReadonlyArray<string> = [
  "apps/server/test/learn/command.machine.ts",
  "apps/server/test/learn/node.machine.ts",
  "apps/server/test/learn/probeCheck.machine.ts",
  "apps/server/test/learn/strangeServices.machine.ts"
]

/** All other suites of the workspaces, by the reason why they need no second dialect. Each entry is a file or a folder. */
export const otherSuitesOfWorkspaces: Readonly<Record<string, ReadonlyArray<string>>> = {
  "it does not start the mock, because its workspace may not import it; tests/ runs its program against the mock": [
    "apps/cli/",
    "apps/watch/",
    "packages/"
  ],
  "no client of Berth runs in it, only requests by hand; apps/server/test/dialect/ has the replies of today": [
    "apps/server/test/cli/",
    "apps/server/test/control/",
    "apps/server/test/dialect/",
    "apps/server/test/docs/",
    "apps/server/test/http/",
    "apps/server/test/injection/",
    "apps/server/test/journal/",
    "apps/server/test/lifecycle/",
    "apps/server/test/state/",
    "apps/server/test/testing.test.ts",
    "apps/server/test/testing/",
    "apps/server/test/transport/",
    "apps/server/test/world/"
  ],
  "no client of Berth runs in it; it learns from recordings, and plays what it learned": [
    "apps/server/test/learn/churn.test.ts",
    "apps/server/test/learn/playsProfile.test.ts",
    "apps/server/test/learn/singlePoints.test.ts",
    "apps/server/test/learn/statusWords.test.ts"
  ],
  "everything in it is refused before a request": ["apps/server/test/learn/refusals.machine.ts"]
}

/**
 * Tests that run only in the documented dialect although their suites run in both, by file and by the name of the test or its group, each
 * with the reason.
 */
export const documentedOnly: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "cli/catalogue.test.ts": {
    "of plans and images narrows by the least that a plan is to have":
      "compares plan list with the slugs of image list, and shows SKUs today",
    "prints the reply to a refused request, and exits with the code of the failure": "states the envelope of a 404"
  },
  "cli/everyCommand.machine.ts": {
    "where the output cannot be written": "is about stdout, whatever was read",
    "where there is no home folder": "is about the home folder, whatever was read",
    "without a network": "reaches no service"
  },
  "cli/fleet.test.ts": {
    "creates a missing member again, says so, and leaves nodes alone that the list only hides":
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
  "cli/machine/githubAction.machine.ts": {
    "succeeds if only the create of an earlier job on this runner is not settled, and says so":
      "waits 50 s; cli/leases.test.ts settles creates in both dialects"
  },
  "cli/machine/run.machine.ts": {
    "a run at a terminal": "is about signals of a terminal",
    "the command of a run": "is about the process that is run"
  },
  "cli/machine/terminal.machine.ts": {
    "a command that is stopped at a terminal": "is about signals and the state of a terminal",
    "a login": "asks for secrets before it reaches a service"
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
    "reports the total if it knows it: with --sort, which reads all nodes": "each page has the total today",
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
  "core/promise/watching.test.ts": {
    "is what the replies reported": "counts without the image list",
    "gives changes until its signal is aborted, or its client closed": "counts without the image list",
    "of a list gets its totals": "each page has the total today",
    "of an inexact list is called assumed": "each page has the total today"
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
  },
  "watch/sharing.machine.ts": {
    "a process begins with what the one before it has learnt of the allowance, and asks nothing in vain":
      "counts on the headers of replies and on the requests of the documented list"
  },
  "watch/fleet.machine.ts": {
    "keep the log of every account whole, whichever of them is killed, frozen, cut off or ended":
      "is about processes; watch/kill.machine.ts kills one in both dialects",
    "know after a take-over what the one before them spent, and ask nothing in vain":
      "a 429 has no headers today, so nobody knows when to ask again",
    "stand still without their server, say so, and go on when it is back": "is about the server of the store",
    "keep working while a later version changes the tables, and lose nothing when it takes over":
      "is about the tables of the store",
    "refuse a user of the database who may not take part": "is about the rights of users of the store"
  }
}
