/**
 * The rules that must hold after every command. A command sends only what it has shown and what its limits allow, deletes only nodes that
 * are proved to be ours, deletes nothing before its replacement runs, makes one node per key, and reports every change.
 */
import { fleetOfGroup, type Group, nameOf, namesIn } from "./fleetFile.ts"
import { type ChangeTruth, freshMillis, type NodeTruth, type PlanName, plans } from "./service.ts"
import { isApart, isElsewhere, type Ran, secrets, type World } from "./world.ts"

/** A rule that does not hold, and why. */
export interface Broken {
  /** Names the rule and the command, so that the same bug has the same name in every history. */
  readonly rule: string
  readonly why: string
}

/** If one of these commands has made a node, only commands of this set own the node. */
const fleetCommands = new Set(["apply", "destroy"])
const leaseCommands = new Set(["run", "reap"])
/** These commands also finish what an earlier run began. */
const ledgerCommands = new Set(["adopt", "forget"])
const ownersFor = (step: string): ReadonlySet<string> =>
  fleetCommands.has(step) || ledgerCommands.has(step)
    ? fleetCommands
    : leaseCommands.has(step)
      ? leaseCommands
      : new Set([step])

const escaped = (text: string) => text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`)

/** Whether a string contains a word, not as part of another word. */
const has = (text: string, word: string) => new RegExp(`(?<![\\w.-])${escaped(word)}(?![\\w-]|\\.\\d)`).test(text)

const money = (amount: number) => amount.toFixed(2)

const textOfRun = ({ stderr, stdout }: Ran) => `${stderr}\n${stdout}`

const changesOf = ({ service }: World, { command }: Ran): ReadonlyArray<ChangeTruth> =>
  service.changes.filter((change) => change.command === command)

const isFair = ({ step }: Ran) =>
  step.weather === undefined && step.cut === undefined && step.stateGoneAt === undefined && step.disk === undefined

/**
 * The shown lines about a change. For a proposal and for several creates, this is the whole text. On a narrow terminal it is the whole text
 * as well, because each row of the plan has one line for each value.
 */
const shownTo = ({ consent, step }: Ran, { shown }: ChangeTruth): ReadonlyArray<string> => {
  if (step.step === "execute") return [consent.replaceAll("\n", " ")]
  const isWhole = step.columns !== undefined || (step.step === "create" && step.count !== undefined)
  return isWhole ? [shown.replaceAll("\n", " ")] : shown.split("\n")
}

type Rule = (world: World, ran: Ran, found: ReadonlyArray<ChangeTruth>) => Iterable<Broken>

/**
 * The cost of the nodes that exist when a create is sent: those that the same command has made or may have made and, for a fleet, the old
 * nodes, which cost until they are deleted.
 */
const perHourBeside = (
  service: World["service"],
  { ledgerBefore, step }: Ran,
  changes: ReadonlyArray<ChangeTruth>,
  at: ChangeTruth
): number => {
  const old = step.step === "apply" ? Array.from(ledgerBefore.keys()).filter((id) => at.living.has(id)) : []
  const oldPrices = old.map((id) => service.costOf(service.nodes.get(id)?.plan ?? "", false))
  // A create that is repeated under its key is for the same node.
  const earlier = new Map<unknown, number>()
  for (const each of changes.slice(0, changes.indexOf(at))) {
    const isThere = each.made === null ? each.isOpen : at.living.has(each.made.id)
    if (each.kind === "create" && isThere && each.body["name"] !== at.body["name"]) {
      earlier.set(each.body["name"], each.costPerHour)
    }
  }
  return [...oldPrices, ...earlier.values()].reduce((sum, price) => sum + price, 0)
}

/** 1, for a currency other than rupees: the price is shown next to the rows, and a limit in rupees refuses it. */
function* shownInForeign(
  ran: Ran,
  change: ChangeTruth,
  words: ReadonlyArray<string>,
  price: string
): Generator<Broken> {
  const { step } = ran
  const what = `${words.join(" ")} at ${change.currency} ${price}`
  const isPriceIn = price === "" || has(ran.step.step === "execute" ? ran.consent : change.shown, price)
  if (!isPriceIn || !shownTo(ran, change).some((line) => words.every((word) => has(line, word)))) {
    yield { rule: `1 shown in another currency (${step.step})`, why: `${what} was sent and not shown` }
  }
  const isLimited = ("maxCost" in step && step.maxCost !== undefined) || isMinimumLimited(step, change)
  if (isLimited && change.body["cn_id"] === undefined) {
    yield { rule: `1 limit in another currency (${step.step})`, why: `${what} was sent with a limit in rupees` }
  }
}

const isMinimumLimited = (step: Ran["step"], { minimum }: ChangeTruth): boolean =>
  minimum > 0 && "maxMinimum" in step && step.maxMinimum !== undefined

/** 1 and 6: every create was shown, with its price, and is within the limits. */
const shownAsSent: Rule = function* ({ adopted, service }, ran, changes) {
  const { step } = ran
  const changed = step.meanwhile === undefined ? "" : ", which changed after the question"
  for (const change of changes) {
    if (change.kind !== "create") continue
    const { body, costPerHour, minimum, pricePerHour } = change
    const [name, plan, image] = [String(body["name"]), String(body["plan"]), String(body["image"])]
    // A period is shown with its whole price.
    const { commitmentPrice } = change
    const price = money(commitmentPrice ?? pricePerHour)
    if (change.currency !== "INR") {
      yield* shownInForeign(ran, change, [name, plan, image], Number(price) === 0 ? "" : price)
      continue
    }
    const words = [name, plan, image, price]
    // For several creates, the minimum charges are shown as one sum.
    const count = step.step === "create" ? (step.count ?? 1) : 1
    const isMinimumIn = (line: string) =>
      commitmentPrice !== null || minimum === 0 || has(line, money(minimum)) || has(line, money(minimum * count))
    if (!shownTo(ran, change).some((line) => isMinimumIn(line) && words.every((word) => has(line, word)))) {
      yield {
        rule: `${changed === "" ? 1 : 6} shown as sent (${step.step})`,
        why: `${name} on ${plan} from ${image} at ₹${money(pricePerHour)}${changed} was sent and not shown`
      }
    }
    const maxCost = "maxCost" in step ? step.maxCost : undefined
    const beside = perHourBeside(service, ran, changes, change)
    if (maxCost !== undefined && change.body["cn_id"] === undefined && costPerHour + beside > maxCost + 1e-6) {
      yield {
        rule: `1 within --max-cost (${step.step})`,
        why: `${name} costs ₹${money(costPerHour)} per hour beside nodes of ₹${money(beside)}, more than ₹${maxCost}`
      }
    }
    const others = change.foreignOfThatName.filter((id) => !adopted.has(id))
    if (step.meanwhile?.does === "create" && others.length > 0 && ran.questions < 2) {
      yield {
        rule: `6 a same-name node after the question (${step.step})`,
        why: `${name} was made beside node ${others.join(", ")}, which nobody was shown`
      }
    }
  }
}

/** How long the service may take to process a request that got no reply. */
const openMillis = 630_000

/**
 * Whether nobody can tell somebody else's node from the result of our create: it has the name and plan of that create, was made while the
 * create was open, and its record does not state an image.
 */
const isLikeOurs = ({ commands, service, unrecorded }: World, node: NodeTruth, owners: ReadonlySet<string>): boolean =>
  service.changes.some(
    ({ atMillis, body, command, isAnswered, kind, made }) =>
      kind === "create" &&
      (made === null || !isAnswered || unrecorded.has(command)) &&
      owners.has(commands.get(command) ?? "") &&
      body["name"] === node.askedName &&
      body["plan"] === node.plan &&
      atMillis <= node.createdMillis &&
      node.createdMillis <= atMillis + openMillis
  )

/** 2: only nodes that were made for us are deleted or count as ours. */
const onlyOurs: Rule = function* (world, ran, changes) {
  const { adopted, commands, service } = world
  const { step } = ran
  const owners = ownersFor(step.step)
  const isForeign = (node: NodeTruth) =>
    node.maker === "somebody else" && !adopted.has(node.id) && !isLikeOurs(world, node, owners)
  for (const id of ran.ledgerAfter.keys()) {
    const node = service.nodes.get(id)
    if (ran.ledgerBefore.has(id) || node === undefined || !isForeign(node)) continue
    yield { rule: `2 adopted (${step.step})`, why: `node ${id} (${node.name}) of somebody else is in the ledger` }
  }
  if (step.step === "create" && ran.code === 0) {
    const id = Number(/^ID\s+(\d+)/m.exec(ran.stdout)?.[1])
    const node = service.nodes.get(id)
    if (node !== undefined && isForeign(node))
      yield { rule: "2 adopted (create)", why: `node ${id} (${node.name}) of somebody else counts as that of the key` }
  }
  for (const { id, kind, node } of changes) {
    // A person has asked for these deletes.
    if (kind !== "delete" || step.step === "execute" || step.step === "delete") continue
    const truth = node ?? (id === null ? undefined : service.nodes.get(id))
    if (truth === undefined) continue
    const isOurs = truth.maker === "berth" ? owners.has(commands.get(truth.command) ?? "") : !isForeign(truth)
    if (isOurs || (fleetCommands.has(step.step) && adopted.has(truth.id))) continue
    yield { rule: `2 only ours (${step.step})`, why: `node ${id} (${truth.name}) of ${truth.maker} was deleted` }
  }
}

/** Whether the weather hides nodes from lists. */
const hidesNodes = ({ weather = {} }: Ran["step"]): boolean =>
  weather.hiddenForSeconds !== undefined || weather.shortLists === true || weather.staleLists === true

/** 2: a member is not made beside somebody else's node of its name that was there before, because a person has to say whose it is. */
const notBesideForeign: Rule = function* ({ adopted, service }, { atMillis, ledgerBefore, step }, changes) {
  if (step.step !== "apply" || hidesNodes(step)) return
  for (const { body, foreignOfThatName, kind } of changes) {
    if (kind !== "create") continue
    const foreign = foreignOfThatName.find(
      (id) => !adopted.has(id) && !ledgerBefore.has(id) && service.nodes.get(id)!.createdMillis < atMillis - freshMillis
    )
    if (foreign !== undefined)
      yield {
        rule: "2 beside a foreign node (apply)",
        why: `${String(body["name"])} was created beside node ${foreign} of somebody else`
      }
  }
}

const fleetTexts: ReadonlySet<string> = new Set(["apply", "diff", "fleet", "destroy"])

/** 2: no command about fleets tells a person to delete somebody else's node. */
const offersOnlyOurs: Rule = function* (world, ran) {
  const { adopted, service } = world
  const { step } = ran
  if (!fleetTexts.has(step.step)) return
  for (const [, id] of textOfRun(ran).matchAll(/berth node delete (\d+)/g)) {
    const node = service.nodes.get(Number(id))
    if (node?.maker === "somebody else" && !adopted.has(node.id))
      yield {
        rule: `2 offers a foreign node (${step.step})`,
        why: `node ${id} of somebody else is offered for deletion`
      }
  }
}

/** 2: a fleet deletes only its own nodes. If nobody has moved a node, it belongs to the fleet whose command made it. */
const onlyOfTheFleet: Rule = function* (world, { fleet, step }, changes) {
  if (!fleetCommands.has(step.step)) return
  for (const { id, kind, node } of changes) {
    if (kind !== "delete" || id === null) continue
    const maker = node?.maker === "berth" ? world.fleetOf.get(node.command) : undefined
    const holder = world.givenTo.has(id) ? world.givenTo.get(id) : maker
    if (holder == null || holder === fleet) continue
    yield {
      rule: `2 only of the fleet (${step.step})`,
      why: `node ${id} of the fleet ${holder} was deleted by ${fleet}`
    }
  }
}

/** 2: a node is one member of one fleet. */
const oneMember: Rule = function* (world, { fleet, sharedBefore, step }) {
  const twice = world.twiceIn(fleet)
  if (twice !== undefined)
    yield { rule: `2 one member (${step.step})`, why: `node ${twice} is two members of ${fleet}` }
  if (world.isLedgerOld || world.isStateBroken || isElsewhere(step)) return
  for (const id of world.shared().difference(sharedBefore)) {
    yield { rule: `2 one fleet (${step.step})`, why: `node ${id} is in the ledgers of two fleets` }
  }
}

/** Whether this machine knows that a fleet protects a node. A run deletes what it has made itself. */
const isProtectedFor = (world: World, { command, protectedBefore, step }: Ran, { id, node }: ChangeTruth): boolean =>
  id !== null &&
  step.stateGoneAt === undefined &&
  node?.command !== command &&
  (world.protectedNodes.has(id) || (world.isFleetKnown && protectedBefore.has(id)))

/** 3: a protected node stays. */
const protectedStays: Rule = function* (world, ran, changes) {
  const { groupOf, protectedGroups } = world
  const { file, step } = ran
  for (const change of changes) {
    const { id, kind } = change
    if (kind !== "delete" || id === null) continue
    if (!fleetCommands.has(step.step)) {
      if (isProtectedFor(world, ran, change))
        yield { rule: `3 protected (${step.step})`, why: `node ${id} is protected by a fleet and was deleted` }
      continue
    }
    const group = groupOf.get(id)
    if (group === undefined) continue
    const isProtected = file[group] === undefined ? protectedGroups.has(group) : file[group].protect
    if (isProtected)
      yield { rule: `3 protected (${step.step})`, why: `node ${id} of ${group} is protected and was deleted` }
  }
}

/** 5: deletes and minimum charges stay within their limits. */
const withinLimits: Rule = function* (_, { step }, changes) {
  if (step.step === "apply" || step.step === "destroy") {
    const isSilent = step.answer === undefined && step.step === "apply"
    const limit = step.maxDeletes ?? (isSilent ? 0 : Number.POSITIVE_INFINITY)
    const deleted = new Set(changes.flatMap(({ id, kind }) => (kind === "delete" ? [id] : [])))
    if (deleted.size > limit) {
      yield {
        rule: `5 within --max-deletes (${step.step})`,
        why: `the nodes ${Array.from(deleted).join(", ")} were deleted, more than ${limit}`
      }
    }
  }
  if (!("maxMinimum" in step) || step.maxMinimum === undefined) return
  // A create that is sent again under its key is for the same node.
  const charges = new Map<unknown, number>()
  for (const { body, currency, isOpen, isProcessed, kind, minimum } of changes) {
    if (currency === "INR" && kind === "create" && body["cn_id"] === undefined && (isProcessed || isOpen))
      charges.set(body["name"], minimum)
  }
  const total = Array.from(charges.values()).reduce((sum, minimum) => sum + minimum, 0)
  if (total > step.maxMinimum) {
    yield {
      rule: `5 within --max-minimum (${step.step})`,
      why: `minimum charges of ₹${money(total)} were ordered, more than ₹${step.maxMinimum}`
    }
  }
}

/** 4: no node is deleted before its replacement runs. */
const replacedFirst: Rule = function* (world, { command, file, ledgerAfter, ledgerBefore, step }, changes) {
  const { givenUp, groupOf, service } = world
  if (step.step !== "apply") return
  const first = changes.find(({ kind }) => kind === "delete")
  if (first === undefined) return
  for (const id of givenUp) {
    const group = groupOf.get(id)!
    const members = new Set(
      Array.from(ledgerBefore).flatMap(([each, member]) => (groupOf.get(each) === group ? member : []))
    )
    // After the count was lowered, nobody can know which member goes.
    if ((file[group]?.count ?? 0) < members.size || !ledgerBefore.has(id)) continue
    // An unfinished replacement may already have made another node for the member.
    const nodesOfMember = Array.from(ledgerAfter).flatMap(([each, member]) =>
      member === ledgerBefore.get(id) ? [each] : []
    )
    const deleted = changes.find(
      (change) =>
        change.kind === "delete" &&
        change.id !== id &&
        change.living.has(id) &&
        !change.running.has(id) &&
        !nodesOfMember.some((each) => each !== change.id && change.running.has(each))
    )
    // A node that has its own group in the file has its own replacement.
    if (deleted === undefined || (groupOf.get(deleted.id!) ?? "") in file) continue
    yield {
      rule: "4 the old node runs (apply)",
      why: `node ${deleted.id} was deleted, and node ${id}, which the file wants again, does not run`
    }
  }
  const isMore = first.shown.split("\n").some((line) => /^\W*(?:create|replace)\s/.test(line))
  if (!isMore) return
  if (step.ready === false)
    yield { rule: "4 ready first (apply)", why: `node ${first.id} was deleted, and none was ready` }
  // Nodes that others deleted do not count, except a new node, which counts until its deletion.
  const ours = ({ command: by, fellAtMillis, id, removedBy }: NodeTruth) =>
    (removedBy !== "somebody else" || Number.isFinite(fellAtMillis)) &&
    (ledgerBefore.has(id) || ledgerAfter.has(id) || by === command)
  const own = Array.from(service.nodes.values()).filter(ours)
  const wanted = Object.values(file).reduce((sum, { count }) => sum + count, 0)
  // A node and its replacement count as one member.
  const had = new Set(own.flatMap(({ id }) => (first.living.has(id) ? (ledgerBefore.get(id) ?? []) : []))).size
  for (const change of changes) {
    if (change.kind !== "delete" || change.id === null || !change.living.has(change.id)) continue
    const isUsable = ({ id }: NodeTruth) => (ledgerBefore.has(id) ? change.living : change.running).has(id)
    const left = own.filter((node) => node.id !== change.id && isUsable(node)).length
    // A new node that fell after its old one was deleted is not missing because of this delete.
    const fellSince = Array.from(service.nodes.values()).filter(
      ({ command: by, fellAtMillis }) =>
        by === command && first.atMillis - freshMillis < fellAtMillis && fellAtMillis <= change.atMillis
    ).length
    if (left < Math.min(had, wanted) - fellSince) {
      yield {
        rule: "4 replaced first (apply)",
        why: `node ${change.id} was deleted: ${left} were left of ${had}, and the file wants ${wanted}`
      }
    }
  }
}

/** 5: each purchase was shown with its price and term, had a limit or a yes, and is made once. */
const purchases: Rule = function* (world, ran, changes) {
  const { service } = world
  const { step } = ran
  const bought = changes.filter(({ body, kind }) => kind === "commit" && Number(body["committed_plan"] ?? 0) > 0)
  for (const change of bought) {
    const { body, commitmentPrice, id } = change
    const days = Number(body["committed_plan"]) % 1000
    const isForeign = change.currency !== "INR"
    const lines = isForeign ? [shownTo(ran, change).join(" ")] : shownTo(ran, change)
    const isShown = lines.some(
      (line) => has(line, money(commitmentPrice ?? 0)) && (has(line, `${days}d`) || line.includes(`${days} days`))
    )
    const what = `a commitment of ${days} days for node ${id} at ₹${money(commitmentPrice ?? 0)}`
    if (!isShown) {
      yield {
        rule: `${step.meanwhile === undefined ? 5 : 6} purchase shown (${step.step})`,
        why: `${what} was bought and not shown`
      }
    }
    if (
      (step.step === "apply" || step.step === "commitment") &&
      step.answer === undefined &&
      (isForeign || step.maxCommitment === undefined)
    ) {
      yield { rule: `5 purchase bounded (${step.step})`, why: `${what} was bought without a bound or a yes` }
    }
    if (step.step !== "apply") continue
    const node = id === null ? undefined : service.nodes.get(id)
    const plan = Object.entries(plans).find((entry) => entry[1] === node?.plan)?.[0] as PlanName | undefined
    if (plan !== undefined && Number(body["committed_plan"]) !== service.skuOf(plan, days)) {
      yield { rule: "5 purchase of another plan (apply)", why: `${what} is that of another plan` }
    }
  }
  const total = bought.reduce(
    (sum, { commitmentPrice, currency, isOpen, isProcessed }) =>
      sum + (currency === "INR" && (isProcessed || isOpen) ? (commitmentPrice ?? 0) : 0),
    0
  )
  if (step.step === "apply" && step.maxCommitment !== undefined && total > step.maxCommitment) {
    yield {
      rule: "5 within --max-commitment (apply)",
      why: `₹${money(total)} were bought, more than ₹${step.maxCommitment}`
    }
  }
  const created = changes.filter(({ body, kind }) => kind === "create" && body["cn_id"] !== undefined)
  if (step.step === "create" && created.length > 0) {
    const price = service.optionPrice(step.plan, step.days ?? 0)
    if (
      price > (step.maxCommitment ?? (step.answer === undefined ? 0 : Number.POSITIVE_INFINITY)) &&
      step.meanwhile === undefined
    )
      yield { rule: "5 purchase bounded (create)", why: `a period at ₹${money(price)} was bought above the bound` }
  }
  if (step.step === "commitment") {
    const earlier = service.changes.filter(
      ({ body, command, kind }) => kind === "commit" && command < ran.command && Number(body["committed_plan"] ?? 0) > 0
    )
    const open = bought.find(({ id }) =>
      earlier.some((each) => each.id === id && each.isOpen && world.commands.get(each.command) === "commitment")
    )
    if (open !== undefined && !world.isStateBroken && !world.unrecorded.size)
      yield {
        rule: "5 bought once over commands (commitment)",
        why: `node ${open.id} has a purchase whose outcome is open, and another was sent`
      }
  }
  for (const change of bought) {
    const before = service.changes
      .slice(0, service.changes.indexOf(change))
      .findLast(({ id, isOpen, isProcessed, kind }) => kind === "commit" && id === change.id && (isProcessed || isOpen))
    const isSame = before !== undefined && JSON.stringify(before.body) === JSON.stringify(change.body)
    if (!isSame || world.isStateBroken || world.unrecorded.size > 0) continue
    // Another machine knows only the purchases in the ledger, which fleet commands made.
    const isElsewhere = world.machineOf.get(before.command) !== world.machineOf.get(change.command)
    if (isElsewhere && !(step.step === "apply" && world.commands.get(before.command) === "apply")) continue
    yield {
      rule: `5 bought twice over commands (${step.step})`,
      why: `${JSON.stringify(change.body)} was sent for node ${change.id} by command ${before.command}, and again by command ${change.command}`
    }
  }
  for (const [id, sent] of Map.groupBy(bought, ({ body, id }) => `${id} ${String(body["committed_plan"])}`)) {
    if (!sent.slice(0, -1).some(({ isOpen }) => isOpen)) continue
    yield {
      rule: `5 bought once (${step.step})`,
      why: `the commitment of node ${id.split(" ")[0]} was sent ${sent.length} times, after a reply that was lost`
    }
  }
}

const isCommandFor = (name: string) => (node: NodeTruth) => node.maker === "berth" && node.askedName === name

/** 7: commands report a member with more than one node, and a fleet that differs from its file. */
const saysDifferences: Rule = function* (world, ran) {
  const { commands, forgotten, placeOf, service } = world
  const { atMillis, code, command, file, ledgerAfter, step } = ran
  if ((step.step !== "diff" && step.step !== "apply") || code !== 0 || !isFair(ran) || isApart(step)) return
  if (step.meanwhile !== undefined) return
  for (const name of namesIn(file)) {
    const nodes = service
      .livingIn(placeOf.get(command)!)
      .filter(isCommandFor(name))
      .filter(({ id }) => !forgotten.has(id))
      .filter(({ command, createdMillis }) => commands.get(command) === "apply" && atMillis - createdMillis > 20_000)
    if (nodes.length > 1) {
      yield {
        rule: `7 more than one node (${step.step})`,
        why: `${name} has the nodes ${nodes.map(({ id }) => id).join(", ")}, and ${step.step} exits 0`
      }
    }
  }
  if (step.step !== "diff") return
  for (const [id, member] of ledgerAfter) {
    const [, key = "", n = ""] = /^(.+)-(\d+)$/.exec(member) ?? []
    const [group, node] = [file[key], service.nodes.get(id)]
    if (group === undefined || node === undefined || !service.isLiving(node)) continue
    for (const why of differences(key, group, Number(n), node)) {
      // A user who adopts a node accepts its name.
      if (why === "name" && world.adopted.has(id)) continue
      yield {
        rule: `7 ${why} differs (diff)`,
        why: `${member} (${id}) differs from its file: ${why}, and diff exits 0`
      }
    }
  }
}

const differences = (key: string, group: Group, n: number, node: NodeTruth): ReadonlyArray<string> => [
  ...(node.plan === plans[group.plan] ? [] : ["plan"]),
  ...(node.maker === "somebody else" || node.askedName === nameOf(key, group, n) ? [] : ["name"])
]

/** Whether this machine knows that two commands were about one account and one place. */
const isOneAccount = ({ accountOf, placeOf }: World, one: number, other: number): boolean =>
  placeOf.get(one) === placeOf.get(other) &&
  (accountOf.get(one) === accountOf.get(other) || accountOf.get(other) === "joined")

/** 8: one key, one node. */
const oneNode: Rule = function* (world, { atMillis, command, ledgerAfter, ledgerBefore, step }) {
  const { commands, forgotten, isStateBroken, keyless, service } = world
  const made = service.changes.filter((change) => change.kind === "create" && change.made !== null)
  const now = made.filter((change) => change.command === command)
  for (const name of new Set(now.map(({ body }) => String(body["name"])))) {
    const twice = now.filter(({ body }) => body["name"] === name)
    // A late service may process a create after another was sent, within the time that Berth waits for it.
    if (twice.length > 1) yield { rule: `8 one node (${step.step})`, why: `${name} was made ${twice.length} times` }
    if (step.step !== "apply" || isStateBroken) continue
    const orphan = service.living().find(
      (node) =>
        isCommandFor(name)(node) &&
        node.command < command &&
        commands.get(node.command) === "apply" &&
        !ledgerBefore.has(node.id) &&
        // The command found it and is replacing it.
        !ledgerAfter.has(node.id) &&
        !forgotten.has(node.id) &&
        node.createdMillis < atMillis
    )
    if (orphan !== undefined)
      yield {
        rule: "8 one node for a member (apply)",
        why: `${name} was made beside node ${orphan.id}, which an earlier apply made`
      }
  }
  if (step.step !== "create" || isStateBroken || now.length === 0) return
  const names =
    step.count === undefined ? [step.name] : Array.from({ length: step.count }, (_, i) => `${step.name}-${i + 1}`)
  for (const name of names) {
    const own = made.filter(
      (change) =>
        commands.get(change.command) === "create" &&
        !keyless.has(change.command) &&
        change.body["name"] === name &&
        (change.command === command || isOneAccount(world, change.command, command))
    )
    if (own.length > 1) yield { rule: "8 one key (create)", why: `the key of ${name} made ${own.length} nodes` }
  }
}

/** 8: a command waits for another machine's create as long as the service may process it. */
const waitsForOthers: Rule = function* ({ commands, machineOf, service }, { command, ledgerBefore, step }, changes) {
  if (step.step !== "apply") return
  for (const { atMillis, body, kind, living, place } of changes) {
    if (kind !== "create") continue
    const open = service.changes.find(
      (each) =>
        each.kind === "create" &&
        each.place === place &&
        each.body["name"] === body["name"] &&
        each.command < command &&
        commands.get(each.command) === "apply" &&
        machineOf.get(each.command) !== machineOf.get(command) &&
        !each.isAnswered &&
        atMillis - each.atMillis < openMillis &&
        (each.made === null || (living.has(each.made.id) && !ledgerBefore.has(each.made.id)))
    )
    if (open === undefined) continue
    yield {
      rule: "8 waits for another machine (apply)",
      why: `${String(body["name"])} was sent ${(atMillis - open.atMillis) / 1000} s after another machine had sent it, which got no reply`
    }
  }
}

/** 8: `--if-absent` makes no second node with the same name. */
const onlyIfAbsent: Rule = function* (_, { step }, changes) {
  if (step.step !== "create if absent") return
  // A command cannot know of nodes that lists hide.
  if (hidesNodes(step)) return
  for (const { body, kind, sameNamed } of changes) {
    if (kind !== "create" || sameNamed === null) continue
    yield { rule: "8 if absent (create)", why: `${String(body["name"])} was created beside node ${sameNamed}` }
  }
}

/** 8: a member is not forgotten while the service may still process its create. */
const openStays: Rule = function* (
  { commands, isStateBroken, placeOf, service, unrecorded },
  { code, command, file, ledgerBefore, step }
) {
  if (step.step !== "forget" || code !== 0 || isStateBroken || unrecorded.size > 0) return
  if (Array.from(ledgerBefore.values()).includes(step.member)) return
  const [, key = "", n = ""] = /^(.+)-(\d+)$/.exec(step.member) ?? []
  const group = file[key]
  if (group === undefined) return
  const open = service.changes.find(
    ({ atMillis, body, command: by, isAnswered, kind, isOpen, place }) =>
      kind === "create" &&
      isOpen &&
      place === placeOf.get(command) &&
      !isAnswered &&
      commands.get(by) === "apply" &&
      body["name"] === nameOf(key, group, Number(n)) &&
      service.time.nowMillis - atMillis < openMillis
  )
  if (open !== undefined)
    yield {
      rule: "8 open create stays (forget)",
      why: `${step.member} was forgotten ${(service.time.nowMillis - open.atMillis) / 1000} s after its create got no reply`
    }
}

/** 8: every change is printed, even if the command fails. */
const isSaid: Rule = function* (world, ran, changes) {
  const { code, step } = ran
  const text = textOfRun(ran)
  if (changes.some(({ isProcessed }) => isProcessed) && code === 2) {
    yield { rule: `8 exit 2 after a change (${step.step})`, why: "the exit code says that nothing was sent" }
  }
  if (step.cut !== undefined) return
  for (const { id, isAnswered, isProcessed, kind, made } of changes) {
    const changed = made?.id ?? id
    if (!isProcessed || !isAnswered || changed === null || changed === undefined) continue
    if (!has(text, String(changed)))
      yield { rule: `8 said (${step.step})`, why: `the ${kind} of node ${changed} is not printed` }
  }
}

/** 8: a run deletes its node, even if everything else fails; if the delete fails, an error names the node. */
const runLetsGo: Rule = function* ({ service }, ran, changes) {
  const { code, step } = ran
  if (step.step !== "run" || (step.cut !== undefined && step.cut.how !== "interrupt")) return
  for (const { isAnswered, made } of changes) {
    if (made === null || !isAnswered || !service.isLiving(made) || ran.stderr.includes(`Kept node ${made.id}`)) continue
    const isAsked = changes.some(({ id, kind }) => kind === "delete" && id === made.id)
    const isNamed = ran.stderr.split("\n").some((line) => /^(?:error|hint)/.test(line) && has(line, String(made.id)))
    if (!isAsked)
      yield { rule: "8 node of a run goes (run)", why: `node ${made.id} stays, and its delete was not sent` }
    else if (code === 0 || !isNamed)
      yield { rule: "8 node of a run is named (run)", why: `node ${made.id} stays and no error names it` }
  }
}

/** A lease of an earlier boot is over by then: its `--ttl` of an hour, the margin for another clock, and steps of the wall clock. */
const longLeaseMillis = 6 * 3_600_000

/** 8: the next reap finds or names the node of a run that was cut off; after a restart of the machine, once its lease is over. */
const reapFinds: Rule = function* (world, ran) {
  const { adopted, commands, isStateBroken, lastOfEarlierBoot, leaseless, service } = world
  const { atMillis, command, step } = ran
  if (step.step !== "reap" || !isFair(ran) || isStateBroken) return
  for (const node of service.living()) {
    if (commands.get(node.command) !== "run" || leaseless.has(node.command) || node.command > command) continue
    // The node belongs to the fleet, and the run or reap that saw this first has said so.
    if (adopted.has(node.id)) continue
    const leaseMillis = node.command <= lastOfEarlierBoot ? longLeaseMillis : 15_000
    if (atMillis - node.createdMillis < leaseMillis || !isOneAccount(world, node.command, command)) continue
    if (!has(textOfRun(ran), String(node.id)) && ran.code === 0)
      yield {
        rule: "8 node of a run is found (reap)",
        why: `node ${node.id} of a run that was cut off stays, and is not named`
      }
  }
}

/** 8: a single 404 does not make a command treat a node as gone. */
const deniedStays: Rule = function* ({ service }, { command, stdout, step }) {
  if (step.step !== "reap" || step.weather?.falseMissing !== "once") return
  for (const { id } of service.living()) {
    if (!new RegExp(String.raw`^\s*${id}\s.*\bgone\b`, "m").test(stdout)) continue
    yield { rule: "8 denied once (reap)", why: `node ${id} exists, and command ${command} calls it gone` }
  }
}

/** 9: a ledger loses no node that exists, except to a person who says so. */
const ledgerKeeps: Rule = function* ({ placeOf, service }, { command, ledgerAfter, ledgerBefore, step }) {
  if (step.step === "forget" || isApart(step)) return
  for (const [id, member] of ledgerBefore) {
    const node = service.nodes.get(id)
    if (ledgerAfter.has(id) || node === undefined || node.place !== placeOf.get(command) || !service.isLiving(node))
      continue
    yield { rule: `9 ledger (${step.step})`, why: `node ${id} of ${member} exists, and the ledger lost it` }
  }
}

/** 0: every request is about the place of its command, and nothing is changed or found in another place. */
const staysInPlace: Rule = function* ({ placeOf, service }, ran, changes) {
  const { command, proposal, step } = ran
  const place = placeOf.get(command)!
  for (const asked of service.asked.get(command) ?? []) {
    if (asked !== place)
      yield {
        rule: `0 place (${step.step})`,
        why: `a request was about the ${asked} place, and the command about the ${place}`
      }
  }
  for (const { id, kind, node } of changes) {
    if (node !== null && node.place !== place)
      yield {
        rule: `0 place (${step.step})`,
        why: `the ${kind} of node ${id} of the ${node.place} place was sent to the ${place}`
      }
  }
  for (const id of ran.ledgerAfter.keys()) {
    const node = service.nodes.get(id)
    const isNew = !ran.ledgerBefore.has(id) && node !== undefined && node.place !== place
    if (isNew) yield { rule: `0 place (${step.step})`, why: `node ${id} of the ${node.place} place is in the ledger` }
  }
  if (step.step === "create" && ran.code === 0) {
    const node = service.nodes.get(Number(/^ID\s+(\d+)/m.exec(ran.stdout)?.[1]))
    if (node !== undefined && node.place !== place)
      yield { rule: "0 place (create)", why: `node ${node.id} of the ${node.place} place counts as that of the key` }
  }
  if (
    step.step === "execute" &&
    changes.length > 0 &&
    proposal !== undefined &&
    placeOf.get(proposal.command) !== place
  )
    yield { rule: "0 place (execute)", why: `a proposal for the other place was carried out in the ${place}` }
}

/** 0: every command ends, shows no bug of its own, and prints no secret. */
const ends: Rule = function* (_, ran) {
  const { hangs, step } = ran
  const text = textOfRun(ran)
  if (hangs !== null) yield { rule: `0 ends (${step.step})`, why: hangs }
  if (/bug in berth/.test(text))
    yield { rule: `0 fault (${step.step})`, why: text.split("\n").find((line) => line.startsWith("error")) ?? text }
  for (const secret of Object.values(secrets)) {
    if (text.includes(secret)) yield { rule: `0 secret (${step.step})`, why: "a credential is printed" }
  }
}

const rules: ReadonlyArray<Rule> = [
  shownAsSent,
  onlyOurs,
  notBesideForeign,
  offersOnlyOurs,
  onlyOfTheFleet,
  oneMember,
  protectedStays,
  withinLimits,
  replacedFirst,
  purchases,
  saysDifferences,
  oneNode,
  waitsForOthers,
  onlyIfAbsent,
  openStays,
  isSaid,
  runLetsGo,
  reapFinds,
  deniedStays,
  staysInPlace,
  ledgerKeeps,
  ends
]

/** Notes which nodes the file no longer wants, and which running nodes it wants again. */
const noteGivenUp = ({ givenUp, groupOf, service }: World, ran: Ran): void => {
  const { code, file, ledgerBefore, step } = ran
  // Only an apply with one of these exit codes has certainly planned with the file.
  if (step.step !== "apply" || (code !== 0 && code !== 9) || isApart(step)) return
  for (const id of ledgerBefore.keys()) {
    const node = service.nodes.get(id)
    if (!(groupOf.get(id)! in file)) givenUp.add(id)
    else if (node !== undefined && service.isRunning(node)) givenUp.delete(id)
  }
}

/** Notes which nodes this machine knows to be protected. */
const noteProtected = (
  world: World,
  { code, fleet, ledgerAfter, ledgerBefore, protectedAfter, protectedBefore, step }: Ran
): void => {
  const isOfFleet = fleetCommands.has(step.step) || ledgerCommands.has(step.step)
  if (!isOfFleet || isElsewhere(step) || step.stateGoneAt !== undefined) return
  if (code === 0 || code === 9) {
    // A fleet without members is not registered.
    if (fleet === "shop" && ledgerBefore.size + ledgerAfter.size > 0) world.isFleetKnown = true
    for (const id of protectedAfter) world.protectedNodes.add(id)
  }
  for (const id of world.protectedNodes) {
    if (fleetOfGroup(world.groupOf.get(id) ?? "") !== fleet) continue
    const isReleased = protectedBefore.has(id) && ledgerAfter.has(id) && !protectedAfter.has(id)
    if (isReleased || (step.step === "forget" && !ledgerAfter.has(id))) world.protectedNodes.delete(id)
  }
}

/** The rules that a command has broken. */
export const brokenBy = (world: World, ran: Ran): ReadonlyArray<Broken> => {
  const changes = changesOf(world, ran)
  const broken = rules.flatMap((rule) => Array.from(rule(world, ran, changes)))
  noteGivenUp(world, ran)
  noteProtected(world, ran)
  // From now on these groups are protected.
  if (fleetCommands.has(ran.step.step) && ran.code === 0 && !isApart(ran.step)) {
    for (const [key, { protect }] of Object.entries(ran.file)) {
      if (protect) world.protectedGroups.add(key)
      else world.protectedGroups.delete(key)
    }
  }
  return broken
}
