/**
 * `berth inventory --ansible`: the nodes as a dynamic inventory of Ansible, which runs it with `--list` or `--host NAME`.
 */
import { accountCacheFolder } from "@berthkit/core/client/AccountFiles"
import { Clock, Duration, Effect, Option, Result } from "effect"
import { fleetOfNodes, type KnownLedger, ownMemberships } from "../../applying/Registry.ts"
import { anyLedger, type NoLedger } from "../../applying/LedgerFile.ts"
import { command } from "../command.ts"
import { duration, flag, flagOr, flags as repeated, switchFlag, text } from "../../commandLine/Parameter.ts"
import { LocalFileFault, NameNotFound, UsageFault } from "../../failure/CliFailure.ts"
import { ansibleList, inventoryOf } from "../../inventory/ansible.ts"
import { loadHosts, saveHosts } from "../../inventory/InventoryCache.ts"
import { allHosts, warnOfHosts } from "../../nodes/reachedHosts.ts"
import { Output } from "../../output/Output.ts"
import { printValue } from "../../output/print.ts"
import { client, connection } from "../../settings/client.ts"

const flags = {
  ansible: switchFlag("ansible", "Ansible's format, the only one so far"),
  list: switchFlag("list", "All hosts with their groups and variables; the default"),
  host: flag(
    "host",
    text("NAME", (name) => name !== "", "expected the name of a host"),
    "The variables of one host"
  ),
  maxAge: flagOr(
    "max-age",
    duration({ minMillis: 0, maxMillis: 86_400_000 }),
    "Accept a cached list up to this age; default 0s",
    Duration.zero
  ),
  ledgers: repeated(
    "ledger",
    text("FILE"),
    "Ledger of berth apply, for groups by fleet and member; repeatable; default: those that berth knows"
  )
}

const whyNone: Readonly<Record<NoLedger, string>> = {
  missing: "there is none",
  later: "a later version wrote it",
  damaged: "it was not written by berth apply",
  doubled: "a member is in it twice"
}

/** Reads the fleet members in these ledgers. */
const readLedgers = Effect.fnUntraced(function* (paths: ReadonlyArray<string>) {
  const ledgers: Array<Pick<KnownLedger, "entries" | "fleet">> = []
  for (const path of paths) {
    const found = yield* anyLedger(path)
    if (Result.isFailure(found)) {
      return yield* new LocalFileFault({
        path,
        message: `The ledger ${path} cannot be read: ${whyNone[found.failure]}.`,
        hint: "Name the file that berth apply writes, such as --ledger fleet.ledger.json."
      })
    }
    const { fleet, members } = found.success
    ledgers.push({ fleet, entries: members })
  }
  return fleetOfNodes(ledgers)
})

/** Returns the nodes, from the cache if it is fresh enough. */
const hosts = Effect.fnUntraced(function* (maxAgeMillis: number) {
  const folder = yield* Effect.flatMap(connection, ({ options }) => Effect.orDie(accountCacheFolder(options)))
  const cached = Option.isSome(folder) ? yield* loadHosts(folder.value, maxAgeMillis) : Option.none()
  if (Option.isSome(cached)) return cached.value
  const readMillis = yield* Clock.currentTimeMillis
  const read = yield* allHosts
  if (read.isWhole && Option.isSome(folder)) yield* saveHosts(folder.value, read.hosts, readMillis)
  return read.hosts
})

export const inventory = command(
  flags,
  Effect.fnUntraced(function* ({ ansible, host, ledgers, list, maxAge }) {
    if (!ansible) {
      return yield* new UsageFault({
        message: "berth inventory needs --ansible.",
        hint: "Run: berth inventory --ansible"
      })
    }
    if (list && host !== undefined) {
      return yield* new UsageFault({ message: "--list and --host exclude each other.", hint: "Leave one of them out." })
    }
    const members =
      ledgers.length === 0 ? yield* Effect.orElseSucceed(ownMemberships, () => new Map()) : yield* readLedgers(ledgers)
    const found = inventoryOf(yield* hosts(Duration.toMillis(maxAge)), members)
    const { stderr } = yield* Output
    if (host === undefined) {
      yield* printValue(ansibleList(found))
      // Ansible prints stderr as errors on every run, so renamed hosts are reported only on a terminal. Each host's variables contain the
      // node's real name.
      return yield* warnOfHosts(stderr.isTerminal ? found : { ...found, changed: 0 })
    }
    const variables = found.hosts.get(host)
    if (variables === undefined) {
      return yield* new NameNotFound({ name: host, names: Array.from(found.hosts.keys()) })
    }
    yield* printValue(variables)
  }),
  client
)
