/** The state of the model (files, service and clock), and how each step changes it with `berth`. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Fleet, type FleetFile, fleetOfGroup, group, otherFile, textOf } from "./fleetFile.ts"
import { type Invocation, type Outcome, Terminal } from "./program.ts"
import { type ChangeTruth, images, type NodeTruth, type Place, places, plans, Service } from "./service.ts"
import { type Access, isWriting } from "@berthkit/testing/disk"
import type { Address, ApiKey, Around, DiskFault, Edit, Happening, Step } from "./steps.ts"
import { VirtualTime } from "./VirtualTime.ts"

export const secrets = {
  "first key": "model-api-key-7f3a9c",
  "second key": "model-other-key-e41d07",
  accessToken: "model-access-token-51be"
}

const addresses: Readonly<Record<Address, string>> = {
  "plain address": "http://localhost:9",
  "address with a slash": "http://localhost:9/",
  "address in capitals": "HTTP://LOCALHOST:9",
  "address by number": "http://127.0.0.1:9"
}

/** A command and its result, for the invariants. */
export interface Ran extends Outcome {
  readonly step: Extract<Step, Around>
  readonly args: ReadonlyArray<string>
  /** When the command began. */
  readonly atMillis: number
  /** The ids in the ledger when the command began, and those of them that ran at that time. */
  readonly ledgerBefore: ReadonlyMap<number, string>
  readonly ledgerAfter: ReadonlyMap<number, string>
  /** The nodes that the ledger protects. */
  readonly protectedBefore: ReadonlySet<number>
  readonly protectedAfter: ReadonlySet<number>
  /** The fleet of the command, and its file. */
  readonly fleet: Fleet
  readonly file: FleetFile
  /** Nodes that were in both ledgers when the command began. */
  readonly sharedBefore: ReadonlySet<number>
  /** For a proposal that is carried out: the text that a person has read. */
  readonly consent: string
  readonly proposal: Proposed | undefined
}

interface Proposed {
  readonly id: string
  /** The number of the command that proposed it. */
  readonly command: number
  readonly step: Extract<Step, { readonly step: "propose" }>
  /** What `berth approve` has printed. */
  consent: string
  answer: "y" | "n" | undefined
}

/** Whether a command runs on another machine that does not give its ledger back. */
export const isApart = (step: Step): boolean => isElsewhere(step) && !("handsBack" in step && step.handsBack)

/** Whether a command runs on another machine. */
export const isElsewhere = (step: Step): boolean => "machine" in step && step.machine === "second"

/** The fleet of a command. */
const fleetOfStep = (step: Step): Fleet => ("fleet" in step && step.fleet !== undefined ? step.fleet : "shop")

const ledgerNames: Readonly<Record<Fleet, string>> = { shop: "fleet.ledger.json", other: "other.ledger.json" }
const fileNames: Readonly<Record<Fleet, string>> = { shop: "fleet.yaml", other: "other.yaml" }

/** A line of a ledger. */
interface Line {
  readonly member: string
  readonly protect?: boolean
  readonly node?: { readonly id: number }
  readonly previous?: { readonly id: number }
}

const idsOf = ({ node, previous }: Line): ReadonlyArray<number> => [node, previous].flatMap((owned) => owned?.id ?? [])

/** The code with which a use of a file fails; undefined if it succeeds. */
const codeOf = (fault: DiskFault, access: Access, path: string): string | undefined => {
  switch (fault) {
    case "full":
      return access === "fills" ? "ENOSPC" : undefined
    case "read-only":
      return isWriting(access) ? "EROFS" : undefined
    case "unreadable":
    case "unreadable files": {
      const isRead = access === "reads" || (access === "looks" && fault === "unreadable")
      return isRead && path.includes("/state/") ? "EACCES" : undefined
    }
  }
}

/** A folder on a fast disk, because the model writes many small files. */
const temporary = existsSync("/dev/shm") ? "/dev/shm" : tmpdir()

export class World {
  readonly time = new VirtualTime()
  readonly service = new Service(this.time)
  readonly terminal = new Terminal(this.service)
  readonly folder = mkdtempSync(join(temporary, "berth-model-"))
  readonly state = join(this.folder, "state")
  readonly saved = join(this.folder, "saved")
  file: FleetFile = { web: group }
  otherFile: FleetFile = otherFile
  readonly #before: Array<FleetFile> = []
  /** Whether the state folder was lost or restored, or another machine kept its ledger. Then a key guarantees nothing. */
  isStateBroken = false
  /** Nodes that a person has adopted into the fleet. */
  readonly adopted = new Set<number>()
  /** For each node that a person has adopted into a fleet or taken out of one: the fleet; null if it was taken out. */
  readonly givenTo = new Map<number, Fleet | null>()
  /** The last command before the machine was started again; 0 if it never was. */
  lastOfEarlierBoot = 0
  /** The place of each command. */
  readonly placeOf = new Map<number, Place>()
  /** The fleet of each command. */
  readonly fleetOf = new Map<number, Fleet>()
  /** Whether an older ledger was restored, which may have a node that another fleet has adopted since. */
  isLedgerOld = false
  /** The name of each command, by its number. */
  readonly commands = new Map<number, string>()
  /** Nodes that a person has taken out of the fleet. */
  readonly forgotten = new Set<number>()
  /** Commands of `--if-absent`, which have no key. */
  readonly keyless = new Set<number>()
  /** Nodes of the ledger whose group an apply did not find in the file, until a later apply finds the group there and the node running. */
  readonly givenUp = new Set<number>()
  /** The groups that were protected in the last successful apply. */
  readonly protectedGroups = new Set<string>()
  /** The group of each node that was once in the ledger. */
  readonly groupOf = new Map<number, string>()
  /** Commands that could not record the outcome of their creates. */
  readonly unrecorded = new Set<number>()
  /** Runs that could not keep a lease, or that keep their node for the next run. */
  readonly leaseless = new Set<number>()
  readonly proposals: Array<Proposed> = []
  /** The machine of each command that ran on another machine. */
  readonly machineOf = new Map<number, string>()
  /** The account of each command, as this machine tells accounts apart: by API key, until a login has joined the keys. */
  readonly accountOf = new Map<number, string>()
  /** The nodes that a fleet of this machine protects and has not released. */
  readonly protectedNodes = new Set<number>()
  /** Whether the state of this machine knows the fleet. */
  isFleetKnown = false
  #apiKey: ApiKey = "first key"
  #address: Address = "plain address"
  /** The place that the environment names. */
  #place: Place = "first"
  /** The API key and the place of the profile, while a person is logged in. */
  #profile: { readonly key: ApiKey; readonly place: Place } | undefined
  /** Whether a login has shown this machine that both keys belong to one account. */
  #isJoined = false
  #clones = 0

  constructor() {
    this.#write()
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true })
  }

  #write(): void {
    writeFileSync(join(this.folder, fileNames.shop), textOf(this.file))
    writeFileSync(join(this.folder, fileNames.other), textOf(this.otherFile, "other"))
    const script = Object.values(this.file).find((each) => each.script !== null)?.script
    if (script !== undefined && script !== null) writeFileSync(join(this.folder, "start.sh"), script)
  }

  #lines(folder: string, fleet: Fleet): ReadonlyArray<Line> {
    const path = join(folder, ledgerNames[fleet])
    return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as { members: ReadonlyArray<Line> }).members : []
  }

  /** The member of each node that a ledger has. */
  ledger(folder = this.folder, fleet: Fleet = "shop"): ReadonlyMap<number, string> {
    return new Map(this.#lines(folder, fleet).flatMap((line) => idsOf(line).map((id) => [id, line.member] as const)))
  }

  /** The nodes that a ledger protects. */
  protectedIn(folder = this.folder, fleet: Fleet = "shop"): ReadonlySet<number> {
    return new Set(this.#lines(folder, fleet).flatMap((line) => (line.protect === true ? idsOf(line) : [])))
  }

  /** A node that a ledger has twice; undefined if there is none. */
  twiceIn(fleet: Fleet): number | undefined {
    const ids = this.#lines(this.folder, fleet).flatMap(idsOf)
    return ids.find((id, at) => ids.indexOf(id) !== at)
  }

  /** The nodes that both ledgers have. */
  shared(): ReadonlySet<number> {
    return new Set(this.ledger().keys()).intersection(new Set(this.ledger(this.folder, "other").keys()))
  }

  /** Carries a step out. Returns the result if it was a command. */
  async play(step: Step): Promise<Ran | undefined> {
    switch (step.step) {
      case "edit":
        return void this.#edit(step.edit)
      case "others":
        return void this.happen(step.happening)
      case "wait":
        return void this.time.pass(step.seconds * 1000)
      case "state":
        return void this.#changeState(step.is)
      case "ledger":
        return void this.#changeLedger(step.is)
      case "account":
        return void this.#changeAccount(step.has)
      case "place":
        return void (this.#place = step.is)
      default:
        return await this.#command(step)
    }
  }

  #edit(edit: Edit): void {
    if (edit.sets === "everything") {
      const before = this.#before.pop()
      if (before !== undefined) this.file = before
      return this.#write()
    }
    const isOther = fleetOfGroup(edit.group) === "other"
    const file = isOther ? this.otherFile : this.file
    const { [edit.group]: found, ...others } = file
    const next = this.#edited(edit, file, found, others)
    if (next === undefined) return
    if (isOther) this.otherFile = next
    else {
      this.#before.push(this.file)
      this.file = next
    }
    this.#write()
  }

  #edited(
    edit: Exclude<Edit, { readonly sets: "everything" }>,
    file: FleetFile,
    found: FleetFile[string] | undefined,
    others: FleetFile
  ): FleetFile | undefined {
    if (edit.sets === "group") {
      if (edit.to === "removed") return found && others
      return found === undefined ? { ...file, [edit.group]: { ...group, count: 1 } } : undefined
    }
    if (found === undefined) return undefined
    if (edit.sets === "group name") return edit.to in file ? undefined : { ...others, [edit.to]: found }
    return { ...file, [edit.group]: { ...found, [edit.sets]: edit.to } }
  }

  happen(happening: Happening): void {
    const { service } = this
    const named = (name: string) => this.#named(name)
    switch (happening.does) {
      case "create":
        service.make(happening.name, plans[happening.plan], images.ubuntu, "somebody else", this.#placeNow())
        return
      case "delete": {
        const node = named(happening.name)
        if (node !== undefined) service.remove(node, "somebody else")
        return
      }
      case "rename": {
        const node = named(happening.name)
        if (node !== undefined) node.name = happening.to
        return
      }
      case "stop":
      case "start": {
        const node = named(happening.name)
        if (node !== undefined) node.isOff = happening.does === "stop"
        return
      }
      case "raise prices":
        service.prices[happening.plan] *= happening.times
        service.flatPrices[happening.plan] *= happening.times
        return
      case "raise minimums":
        service.minimums[happening.plan] *= happening.times
        return
      case "change the currency":
        service.currency = happening.to
        return
      case "step the clock":
        this.time.stepMillis += happening.minutes * 60_000
        return
      case "raise commitments":
        service.commitmentFactor *= happening.times
    }
  }

  #changeState(is: Extract<Step, { readonly step: "state" }>["is"]): void {
    if (is === "saved") {
      rmSync(this.saved, { recursive: true, force: true })
      if (existsSync(this.state)) cpSync(this.state, this.saved, { recursive: true })
      else mkdirSync(this.saved)
      return
    }
    if (is === "restored" && !existsSync(this.saved)) return
    this.isStateBroken = true
    this.isFleetKnown = false
    this.protectedNodes.clear()
    rmSync(this.state, { recursive: true, force: true })
    if (is === "restored") cpSync(this.saved, this.state, { recursive: true })
  }

  #changeLedger(is: Extract<Step, { readonly step: "ledger" }>["is"]): void {
    const [ledger, committed] = [join(this.folder, "fleet.ledger.json"), join(this.folder, "committed.json")]
    const [from, to] = is === "committed" ? [ledger, committed] : [committed, ledger]
    if (existsSync(from)) cpSync(from, to)
    if (is === "checked out") this.isLedgerOld = true
  }

  #changeAccount(has: ApiKey | Address): void {
    if (has === "first key" || has === "second key") this.#apiKey = has
    else this.#address = has
  }

  /** Only this machine has profiles. */
  #keyOf(step: Step): ApiKey {
    return this.#profile === undefined || isElsewhere(step) || step.step === "login" ? this.#apiKey : this.#profile.key
  }

  /** The environment overrides the profile, also for a login. */
  #placeNow(isProfileUsed = true): Place {
    return this.#place === "first" && isProfileUsed ? (this.#profile?.place ?? "first") : this.#place
  }

  #env(folder: string, step: Step): Record<string, string> {
    const isFromProfile = this.#profile !== undefined && !isElsewhere(step) && step.step !== "login"
    const credentials = {
      BERTH_API_KEY: secrets[this.#apiKey],
      BERTH_ACCESS_TOKEN: secrets.accessToken
    }
    const { location, project } = places[this.#place]
    return {
      HOME: folder,
      XDG_STATE_HOME: join(folder, "state"),
      XDG_CACHE_HOME: join(folder, "cache"),
      XDG_CONFIG_HOME: join(folder, "config"),
      ...(isFromProfile ? {} : { BERTH_BASE_URL: addresses[this.#address], ...credentials }),
      ...(project !== undefined && { BERTH_PROJECT: project, BERTH_LOCATION: location }),
      NO_COLOR: "1",
      TERM: "dumb"
    }
  }

  /** A copy of the fleet's folder on a machine with a separate state. */
  #clone(): string {
    const clone = join(this.folder, `clone-${++this.#clones}`)
    mkdirSync(clone)
    for (const name of ["fleet.yaml", "fleet.ledger.json", "start.sh"]) {
      if (existsSync(join(this.folder, name))) cpSync(join(this.folder, name), join(clone, name))
    }
    return clone
  }

  #handBack(clone: string): void {
    const ledger = join(clone, "fleet.ledger.json")
    if (existsSync(ledger)) cpSync(ledger, join(this.folder, "fleet.ledger.json"))
  }

  async #command(step: Extract<Step, Around>): Promise<Ran | undefined> {
    const isThere = isElsewhere(step)
    const folder = isThere ? this.#clone() : this.folder
    if (isApart(step)) this.isStateBroken = true
    const fleet = fleetOfStep(step)
    const found = this.#argsOf(step, join(folder, fileNames[fleet]))
    if (found === undefined) return undefined
    const { args, conversation, proposal } = found
    const { service, time } = this
    const { answer, clock, columns, cut, disk, meanwhile, stateGoneAt, weather = {} } = step
    let requests = 0
    service.begin(weather)
    const away = `${this.state}.away`
    const onRequest = (n: number) => {
      requests = n
      if (n === clock?.atRequest) this.happen({ does: "step the clock", minutes: clock.minutes })
      if (n !== stateGoneAt || !existsSync(this.state) || existsSync(away)) return
      renameSync(this.state, away)
      writeFileSync(this.state, "")
    }
    const invocation: Invocation = {
      args,
      env: this.#env(folder, step),
      folders: [folder],
      ...(answer !== undefined && { answers: [answer] }),
      ...(conversation !== undefined && { conversation }),
      ...(meanwhile !== undefined && { beforeAnswer: () => this.happen(meanwhile) }),
      // The model has one machine's clock, so another machine is not started again.
      cut: isThere && cut?.how === "restart" ? { ...cut, how: "kill" } : cut,
      columns,
      onRequest,
      ...(disk !== undefined && {
        faultOf: (access, path) => (requests < disk.atRequest ? undefined : codeOf(disk.is, access, path))
      })
    }
    const command = this.terminal.lastCommand + 1
    this.commands.set(command, step.step === "create if absent" ? "create" : step.step)
    this.fleetOf.set(command, fleet)
    this.placeOf.set(command, this.#placeNow(!isThere))
    if (isThere) this.machineOf.set(command, folder)
    this.accountOf.set(command, this.#isJoined ? "joined" : this.#keyOf(step))
    if (step.step === "create if absent") this.keyless.add(command)
    if (stateGoneAt !== undefined) this.unrecorded.add(command)
    if (step.step === "run" && (step.reuse === true || stateGoneAt !== undefined)) this.leaseless.add(command)
    const facts = {
      step,
      args,
      atMillis: time.nowMillis,
      ledgerBefore: this.ledger(folder, fleet),
      protectedBefore: this.protectedIn(folder, fleet),
      fleet,
      file: fleet === "other" ? this.otherFile : this.file,
      sharedBefore: this.shared()
    }
    const outcome = await this.terminal.invoke(invocation)
    if (outcome.isRestart) this.lastOfEarlierBoot = command
    if (isThere && !isApart(step)) this.#handBack(folder)
    if (step.step === "login" && outcome.code === 0) this.#logIn()
    if (step.step === "logout" && outcome.code === 0) this.#profile = undefined
    if (step.step === "found" && outcome.code === 0) this.#settle(step.name)
    if (existsSync(away)) {
      rmSync(this.state, { recursive: true, force: true })
      renameSync(away, this.state)
    }
    const consent = proposal?.consent ?? ""
    if (step.step === "approve" && proposal !== undefined) {
      proposal.consent += outcome.stderr
      if (outcome.code === 0) proposal.answer ??= answer
    }
    if (step.step === "propose") this.#propose(step, outcome)
    if (step.step === "adopt" && outcome.code === 0) {
      for (const id of this.ledger(folder, fleet).keys()) {
        if (facts.ledgerBefore.has(id)) continue
        this.adopted.add(id)
        this.givenTo.set(id, fleet)
      }
    }
    const ledgerAfter = this.ledger(folder, fleet)
    if (step.step === "forget" && outcome.code === 0) {
      for (const id of facts.ledgerBefore.keys()) {
        if (ledgerAfter.has(id)) continue
        this.forgotten.add(id)
        this.givenTo.set(id, null)
      }
    }
    for (const ledger of [facts.ledgerBefore, ledgerAfter]) {
      for (const [id, member] of ledger) this.groupOf.set(id, member.replace(/-\d+$/, ""))
    }
    return { ...outcome, ...facts, ledgerAfter, protectedAfter: this.protectedIn(folder, fleet), consent, proposal }
  }

  /** From now on this machine has a profile. A login with another key shows that both keys belong to one account. */
  #logIn(): void {
    this.#isJoined ||= this.#profile !== undefined && this.#profile.key !== this.#apiKey
    this.#profile = { key: this.#apiKey, place: this.#placeNow() }
  }

  /** The last purchase for a node that has no outcome. */
  #openPurchase(name: string): ChangeTruth | undefined {
    const node = this.#named(name)
    return this.service.changes.findLast(({ id, isOpen, kind }) => kind === "commit" && id === node?.id && isOpen)
  }

  /** Records that a person has reported the outcome of a purchase. */
  #settle(name: string): void {
    const open = this.#openPurchase(name)
    for (const change of this.service.changes) {
      if (open !== undefined && change.kind === "commit" && change.id === open.id) change.isOpen = false
    }
  }

  #propose(step: Extract<Step, { readonly step: "propose" }>, { command, stdout }: Outcome): void {
    const id = /\bp[0-9a-z]{19}\b/.exec(stdout)?.[0]
    if (id !== undefined) this.proposals.push({ id, command, step, consent: "", answer: undefined })
  }

  #argsOf(step: Extract<Step, Around>, file: string) {
    const yes = "answer" in step && step.answer !== undefined ? [] : ["--yes"]
    const minimum = "maxMinimum" in step && step.maxMinimum !== undefined ? step.maxMinimum : undefined
    const given = (name: string, value: number | string | undefined) =>
      value === undefined ? [] : [name, String(value)]
    const proposal = this.proposals.at(-1)
    switch (step.step) {
      case "apply":
        return {
          args: [
            "apply",
            "-f",
            file,
            ...yes,
            ...(step.replace === true ? ["--replace", "all"] : []),
            ...(step.wait === true ? ["--wait"] : []),
            ...given("--max-cost", step.maxCost),
            ...given("--max-deletes", step.maxDeletes),
            ...given("--max-commitment", step.maxCommitment),
            ...given("--max-minimum", minimum),
            ...given("--max-unavailable", step.maxUnavailable),
            ...given("--pick", step.pick),
            ...(step.ready === undefined
              ? []
              : ["--ready-command", step.ready ? "true" : "false", "--ready-timeout", "1s"])
          ]
        }
      case "destroy":
        return { args: ["destroy", "-f", file, ...yes, ...given("--max-deletes", step.maxDeletes)] }
      case "diff":
        return { args: ["diff", "-f", file] }
      case "dry run":
        return { args: ["apply", "-f", file, "--dry-run", ...(step.replace === true ? ["--replace", "all"] : [])] }
      case "run": {
        const order = ["--name", step.name, "--plan", plans[step.plan], "--image", images.ubuntu]
        return {
          args: [
            "run",
            ...order,
            ...given("--max-cost", step.maxCost),
            ...given("--max-minimum", minimum),
            ...(step.reuse === true ? ["--reuse"] : []),
            "--",
            step.fails === true ? "false" : "true"
          ]
        }
      }
      case "reap":
        return { args: ["reap"] }
      case "create": {
        const order = ["--plan", plans[step.plan], "--image", images.ubuntu, "--idempotency-key", step.key]
        const plan = step.days === undefined ? undefined : this.service.skuOf(step.plan, step.days)
        const bounds = [
          ...given("--max-cost", step.maxCost),
          ...given("--max-commitment", step.maxCommitment),
          ...given("--max-minimum", minimum)
        ]
        const row = given("--count", step.count)
        return {
          args: ["node", "create", step.name, ...order, ...row, ...given("--committed-sku", plan), ...bounds, ...yes]
        }
      }
      case "create if absent": {
        const order = ["--plan", plans[step.plan], "--image", images.ubuntu]
        return { args: ["node", "create", step.name, ...order, "--if-absent", ...yes] }
      }
      case "commitment": {
        const node = this.#named(step.name)
        const sku = node === undefined ? 0 : this.#skuOf(node, step.days)
        return {
          args: [
            "commitment",
            "set",
            step.name,
            "auto_renew",
            "--sku",
            String(sku),
            ...given("--max-commitment", step.maxCommitment),
            ...yes
          ]
        }
      }
      case "propose": {
        const order =
          step.action === "create"
            ? { action: "create", name: step.name, plan: plans[step.plan], image: images.ubuntu }
            : step.action === "delete"
              ? { action: "delete", node: step.name }
              : {
                  action: "commit",
                  node: step.name,
                  setting: "auto_renew",
                  sku: this.#skuOf(this.#named(step.name), step.days)
                }
        return { args: mcp, conversation: calling("propose", order) }
      }
      case "approve":
        return proposal && { args: ["approve", proposal.id], proposal }
      case "execute":
        return proposal && { args: mcp, conversation: calling("execute", { proposal: proposal.id }), proposal }
      case "adopt":
        return { args: ["fleet", "adopt", step.name, "--as", step.member, "-f", file] }
      case "delete":
        return { args: ["node", "delete", step.name, ...yes] }
      case "found": {
        const open = this.#openPurchase(step.name)
        // Nobody can know the outcome until the service has processed the request or never will.
        if (open === undefined || this.time.nowMillis - open.atMillis < processedMillis) return undefined
        const { setting, sku } = orderOf(open)
        const found = open.isProcessed ? "set" : "not-set"
        const bound = found === "set" ? [] : [...yes, "--max-commitment", "200000"]
        return { args: ["commitment", "set", step.name, setting, "--sku", sku, "--found", found, ...bound] }
      }
      case "login": {
        const lines = [secrets[this.#apiKey], secrets.accessToken]
        return { args: ["auth", "login"], conversation: () => lines.shift() ?? "end" }
      }
      case "logout":
        return { args: ["auth", "logout"] }
      case "forget":
        return { args: ["fleet", "forget", step.member, "-f", file] }
      case "fleet":
        return { args: ["fleet", "list"] }
    }
  }

  #named(name: string): NodeTruth | undefined {
    return this.service.livingIn(this.#placeNow()).find((node) => node.name === name)
  }

  #skuOf(node: NodeTruth | undefined, days: number): number {
    const plan = Object.entries(plans).find((entry) => entry[1] === node?.plan)?.[0]
    return this.service.skuOf((plan ?? "tiny") as keyof typeof plans, days)
  }
}

/** The longest time that a late service takes to process a purchase. */
const processedMillis = 130_000

/** The order of a purchase, for the command line. */
const orderOf = ({ body }: ChangeTruth) => ({
  setting: String(body["node_status"]),
  sku: String(body["committed_plan"])
})

const mcp = ["mcp", "--allow", "create,delete,commit"]

/** An agent's program that calls one tool: returns its next line, given what it has read. */
const calling = (name: string, given: object) => {
  const initialize = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "model", version: "1" }
  }
  const messages = [
    { jsonrpc: "2.0", id: 1, method: "initialize", params: initialize },
    { jsonrpc: "2.0", method: "notifications/initialized" },
    { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name, arguments: given } }
  ]
  let sent = 0
  return (stdout: string): string | "end" | undefined => {
    if (sent === 1 && !/"id":1\b/.test(stdout)) return undefined
    if (sent < messages.length) return JSON.stringify(messages[sent++])
    return /"id":2\b/.test(stdout) ? "end" : undefined
  }
}
