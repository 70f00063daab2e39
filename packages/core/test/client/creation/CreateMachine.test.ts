/** The decisions of a create, one by one. `createRuns.test.ts` lets them run in any order. */
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { untried } from "../../../src/client/creation/Reconciliation.ts"
import { type Instant, type Intent, type SentIntent } from "../../../src/client/creation/IntentStore.ts"
import {
  type CreateEvent,
  type CreateRequest,
  type CreateState,
  type CreateStep,
  firstStep,
  next
} from "../../../src/client/creation/CreateMachine.ts"
import { BerthError } from "../../../src/domain/BerthError.ts"
import {
  type ErrorReason,
  Forbidden,
  NodeNotFound,
  RateLimited,
  unprovedList,
  ServiceFault,
  TimedOut,
  UnexpectedResponse,
  Unreachable
} from "../../../src/domain/ErrorReason.ts"
import { type Node, NodeId } from "../../../src/domain/Node.ts"
import { someNode } from "../../someNode.ts"

const keyed: CreateRequest = {
  key: "job",
  keyed: true,
  adoptOnly: false,
  name: "web",
  plan: "P",
  image: "I",
  spec: "S",
  deadlineMillis: 60_000,
  maxAttempts: 8
}
const keyless: CreateRequest = { ...keyed, key: "_x", keyed: false }

/** An instant this many milliseconds after the boot. */
const at = (millis: number, over: Partial<Instant> = {}): Instant => ({
  wallMillis: 0,
  bootMillis: millis,
  bootClock: "boot",
  serviceMillis: 0,
  ...over
})

const unsent: Intent = {
  version: 1,
  key: "job",
  name: "web",
  plan: "P",
  image: "I",
  spec: "S",
  newerThan: 100,
  sentAt: null,
  fate: "open",
  nodeId: null
}

const sent: SentIntent = { ...unsent, sentAt: at(0) }

const web = (id: number): Node => someNode(id, { name: "web", plan: "P", image: "I" })

const error = (reason: ErrorReason, operation = "nodes.create") => new BerthError({ operation, reason, attempts: [] })

const fault = error(new ServiceFault({ status: 500, detail: "oops", retryAfterMillis: null }))
const forbidden = error(new Forbidden({ detail: "no" }), "nodes.list")
const throttled = error(new RateLimited({ retryAfterMillis: null }))
const broken = error(new ServiceFault({ status: 500, detail: "no list", retryAfterMillis: null }), "nodes.list")

const contradiction = error(
  new UnexpectedResponse({ status: 200, path: "data", expected: "2 nodes", excerpt: "1 nodes" }),
  "nodes.list"
)

const turnCame: CreateEvent = { _tag: "TurnCame", now: at(0) }
const sendEnded = (result: Result.Result<Node, BerthError>, leftMillis = 60_000): CreateEvent => ({
  _tag: "SendEnded",
  result,
  draw: 0.5,
  leftMillis
})
const sendFailed = (failure: BerthError, leftMillis?: number) => sendEnded(Result.fail(failure), leftMillis)

/** The list at an instant has these nodes, and no other create with the same order is lost or under way. */
const listed = (newer: ReadonlyArray<Node>, millis = 0, over: Partial<Instant> = {}) => ({
  _tag: "ListRead" as const,
  newer,
  isWhole: true,
  claimed: new Map<NodeId, string>(),
  toldToOthers: new Set<NodeId>(),
  beside: { lost: [], underWay: new Map<string, SentIntent>() },
  now: at(millis, over)
})
const pollFailed = (failure: BerthError, isListRead = false): CreateEvent => ({
  _tag: "PollFailed",
  error: failure,
  isListRead
})

/** The step after these events, from the beginning. */
const after = (request: CreateRequest, ...events: ReadonlyArray<CreateEvent>): CreateStep =>
  events.reduce((step, event) => next(request, step.state, event), firstStep(request))

const highestId: CreateEvent = { _tag: "HighestIdRead", result: Result.succeed(100), newest: 0 }
const found = (intent: Intent, millis = 0): CreateEvent => ({ _tag: "IntentRead", intent, now: at(millis) })
const notFound: CreateEvent = { _tag: "IntentRead", intent: undefined, now: at(0) }

/** Polls until no pause is left or something else follows; returns the last step and the pauses. */
const polledWith = (request: CreateRequest, first: CreateStep, event: CreateEvent) => {
  const pauses: Array<number> = []
  let step = first
  while (step.action?._tag === "Poll") {
    pauses.push(step.action.afterMillis)
    step = next(request, step.state, event)
  }
  return { step, pauses }
}

const outcomeOf = ({ state }: { readonly state: CreateState }) =>
  state._tag === "Ended" ? state.outcome : assert.fail(`${state._tag} is not the end`)
const reasonOf = (step: CreateStep) => Result.getOrThrow(Result.flip(outcomeOf(step))).reason
const creationOf = (step: CreateStep) => Result.getOrThrow(outcomeOf(step))
const candidatesOf = (step: CreateStep) => {
  const reason = reasonOf(step)
  return reason._tag === "OutcomeUnknown" ? reason.candidates.map(Number) : assert.fail(reason._tag)
}

describe("a create under a key", () => {
  it("begins with the intent that an earlier call left, and without one with the highest id", () => {
    assert.deepStrictEqual(firstStep(keyed).action, { _tag: "FindIntent" })
    assert.deepStrictEqual(after(keyed, notFound).action, { _tag: "ReadHighestId" })
    assert.deepStrictEqual(firstStep(keyless).action, { _tag: "ReadHighestId" })
  })

  it("is recorded as unsent first, then as sent, and only then sent", () => {
    const prepared = after(keyed, notFound, highestId)
    assert.deepStrictEqual(prepared.write, { intent: unsent, isRequired: true })
    assert.deepStrictEqual(prepared.action, { _tag: "Send" })
    const going = next(keyed, prepared.state, { _tag: "TurnCame", now: at(7) })
    assert.deepStrictEqual(going.write, { intent: { ...unsent, sentAt: at(7) }, isRequired: true })
    assert.strictEqual(going.state._tag, "Sent")
  })

  it("that was not processed is written as not sent, and as sent anew when the next attempt goes", () => {
    const again = after(keyed, notFound, highestId, turnCame, { _tag: "NotProcessed" })
    assert.deepStrictEqual(again.write, { intent: unsent, isRequired: false })
    const going = next(keyed, again.state, { _tag: "TurnCame", now: at(35_000) })
    assert.deepStrictEqual(going.write?.intent?.sentAt, at(35_000))
  })

  it("is written as lost when it is interrupted after it was sent, and not before", () => {
    const going = after(keyed, notFound, highestId, turnCame)
    assert.deepStrictEqual(next(keyed, going.state, { _tag: "Interrupted" }).write?.intent, { ...sent, fate: "lost" })
    const queued = after(keyed, notFound, highestId)
    assert.isUndefined(next(keyed, queued.state, { _tag: "Interrupted" }).write)
  })

  it("writes the node of its reply, where that can be done", () => {
    const step = after(keyed, notFound, highestId, turnCame, sendEnded(Result.succeed(web(101))))
    assert.deepStrictEqual(creationOf(step), { outcome: "created", node: web(101) })
    assert.deepStrictEqual(step.write, { intent: { ...sent, nodeId: NodeId.make(101) }, isRequired: false })
  })
})

describe("a create without a key", () => {
  it("is written as it goes, goes also where it cannot be written, and leaves word of its node", () => {
    const queued = after(keyless, highestId)
    assert.isUndefined(queued.write)
    assert.deepStrictEqual(queued.action, { _tag: "Send" })
    const going = next(keyless, queued.state, turnCame)
    assert.strictEqual(going.write?.isRequired, false)
    const replied = next(keyless, going.state, sendEnded(Result.succeed(web(101))))
    assert.strictEqual(creationOf(replied).outcome, "created")
    assert.strictEqual(replied.write?.intent?.nodeId, NodeId.make(101))
  })
})

describe("a create that is refused", () => {
  it("fails for that, and its intent is removed", () => {
    for (const request of [keyed, keyless]) {
      const step = next(request, after(request, notFound, highestId, turnCame).state, sendFailed(forbidden))
      assert.strictEqual(reasonOf(step)._tag, "Forbidden")
      assert.deepStrictEqual(step.write, { intent: null, isRequired: false })
    }
  })

  it("and was not processed before, too", () => {
    const step = after(keyed, notFound, highestId, turnCame, { _tag: "NotProcessed" }, sendFailed(forbidden))
    assert.strictEqual(reasonOf(step)._tag, "Forbidden")
    assert.isNull(step.write?.intent)
  })
})

describe("a create that is refused for the rate limit", () => {
  const refusal = (leftMillis?: number) =>
    after(keyed, notFound, highestId, turnCame, sendFailed(throttled, leftMillis))

  it("looks once after a node had time to be listed, and is sent again if the list shows nothing", () => {
    const first = refusal()
    assert.deepStrictEqual(first.write, { intent: { ...sent, fate: "refused" }, isRequired: false })
    assert.deepInclude(first.action, { _tag: "Poll", afterMillis: 13_500 })
    const again = next(keyed, first.state, listed([]))
    assert.deepStrictEqual(again.action, { _tag: "Send" })
    assert.deepStrictEqual(again.write, { intent: unsent, isRequired: true })
  })

  it("looks after the pause that any call makes where that is longer", () => {
    const later = error(new RateLimited({ retryAfterMillis: 20_000 }))
    const step = after(keyed, notFound, highestId, turnCame, sendFailed(later))
    assert.deepInclude(step.action, { _tag: "Poll", afterMillis: 20_000 })
  })

  it("takes no node, because it probably made none, and is not sent again while a node exists that it may have made", () => {
    for (const nodes of [[web(101)], [web(101), web(102)]]) {
      const { step } = polledWith(keyed, refusal(), listed(nodes))
      assert.deepStrictEqual(
        candidatesOf(step),
        nodes.map(({ id }) => Number(id))
      )
      assert.deepStrictEqual(step.write?.intent, { ...sent, fate: "refused", seen: nodes.map(({ id }) => id) })
    }
  })

  it("is sent eight times at most, and then fails for the rate limit", () => {
    let step = refusal()
    for (let count = 1; count < 8; count++) {
      const again = next(keyed, step.state, listed([]))
      assert.strictEqual(again.action?._tag, "Send")
      step = next(keyed, next(keyed, again.state, turnCame).state, sendFailed(throttled))
    }
    const end = next(keyed, step.state, listed([]))
    assert.strictEqual(reasonOf(end)._tag, "RateLimited")
  })

  it("and fails for that is known to a later call under its key, and to none without one", () => {
    const ended = (request: CreateRequest) => {
      const events = [...(request.keyed ? [notFound] : []), highestId, turnCame, sendFailed(throttled, 500)]
      return next(request, after(request, ...events).state, listed([]))
    }
    assert.strictEqual(reasonOf(ended(keyed))._tag, "RateLimited")
    assert.isUndefined(ended(keyed).write)
    assert.isNull(ended(keyless).write?.intent)
  })

  it("looks at once if the deadline has no room for the pause, and fails because of the rate limit if nothing was made", () => {
    for (const leftMillis of [500, 13_500]) {
      const first = refusal(leftMillis)
      assert.deepInclude(first.action, { _tag: "Poll", afterMillis: 0 })
      assert.strictEqual(reasonOf(next(keyed, first.state, listed([])))._tag, "RateLimited")
    }
  })

  it("is unknown where it cannot look", () => {
    const step = next(keyed, refusal(500).state, pollFailed(broken))
    assert.deepInclude(reasonOf(step), { _tag: "OutcomeUnknown", because: "RateLimited", listRead: false })
  })

  describe("and was then killed or given up, when it is asked for again,", () => {
    const asked = (millis: number) => after(keyed, found({ ...sent, fate: "refused" }, millis))

    it("looks at once, and twelve seconds later, and is then sent again", () => {
      const first = asked(629_999)
      assert.deepInclude(first.action, { _tag: "Poll", afterMillis: 0 })
      for (const event of [listed([]), pollFailed(broken)]) {
        const second = next(keyed, first.state, event)
        assert.deepInclude(second.action, { _tag: "Poll", afterMillis: 12_000 })
        assert.deepStrictEqual(candidatesOf(polledWith(keyed, second, listed([web(101)])).step), [101])
        assert.deepStrictEqual(next(keyed, second.state, listed([])).action, { _tag: "Send" })
      }
    })

    it("does not take the node that the first look shows", () => {
      assert.deepStrictEqual(candidatesOf(polledWith(keyed, asked(0), listed([web(101)])).step), [101])
    })

    it("is sent again at once after ten minutes and a half", () => {
      const step = asked(630_000)
      assert.deepInclude(step.action, { _tag: "Poll", afterMillis: 0 })
      assert.deepStrictEqual(next(keyed, step.state, listed([])).action, { _tag: "Send" })
    })
  })
})

describe("a create without a key that ends unknown", () => {
  it("leaves word that it may have made a node", () => {
    const going = after(keyless, highestId, turnCame)
    const left = { intent: { ...sent, key: "_x", fate: "reported" as const }, isRequired: false }
    const lost = next(keyless, going.state, sendFailed(fault))
    assert.deepStrictEqual(polledWith(keyless, lost, listed([])).step.write, left)
    assert.deepStrictEqual(next(keyless, going.state, { _tag: "DeadlineReached", tried: untried }).write, left)
    assert.deepStrictEqual(next(keyless, lost.state, { _tag: "DeadlineReached", tried: untried }).write, left)
  })
})

describe("a create whose reply is lost", () => {
  const lost = after(keyed, notFound, highestId, turnCame, sendFailed(fault))

  it("is written as lost, and polled for four times within twelve seconds", () => {
    assert.deepStrictEqual(lost.write, { intent: { ...sent, fate: "lost" }, isRequired: false })
    const { pauses, step } = polledWith(keyed, lost, listed([]))
    assert.deepStrictEqual(pauses, [0, 1000, 3000, 8000])
    assert.deepStrictEqual(candidatesOf(step), [])
  })

  it("adopts its node, and writes it", () => {
    const step = next(keyed, lost.state, listed([web(101)]))
    assert.deepStrictEqual(creationOf(step), { outcome: "adopted", node: web(101) })
    assert.deepStrictEqual(step.write?.intent?.nodeId, NodeId.make(101))
  })

  it("is never sent again by the same call, however long its polls take", () => {
    assert.deepStrictEqual(candidatesOf(polledWith(keyed, lost, listed([], 86_400_000)).step), [])
  })

  it("waits for creates alike that are under way, and names the candidates when it cannot wait any more", () => {
    const underWay = {
      ...listed([web(101)]),
      beside: { lost: [], underWay: new Map([["other", { ...sent, key: "other" }]]) }
    }
    const { pauses, step } = polledWith(keyed, lost, underWay)
    assert.lengthOf(pauses, 4)
    assert.deepStrictEqual(candidatesOf(step), [101])
  })

  it("fails at once where there are more candidates than lost replies", () => {
    assert.deepStrictEqual(candidatesOf(next(keyed, lost.state, listed([web(101), web(102)]))), [101, 102])
  })

  it("is not sent again after a list that may lack its node, neither in this call nor in a later one", () => {
    const unseen = { ...listed([]), isWhole: false, now: at(3_600_000) }
    assert.deepInclude(reasonOf(polledWith(keyed, lost, unseen).step), { listFault: unprovedList, candidates: [] })
    for (const fate of ["lost", "refused"] as const) {
      const later = after(keyed, found({ ...sent, fate }, 3_600_000))
      assert.deepInclude(reasonOf(polledWith(keyed, later, unseen).step), { listFault: unprovedList, retryable: false })
    }
    for (const request of [keyed, keyless]) {
      const refused = after(request, ...(request.keyed ? [notFound] : []), highestId, turnCame, sendFailed(throttled))
      const { pauses, step } = polledWith(request, refused, unseen)
      assert.lengthOf(pauses, 1)
      assert.deepInclude(reasonOf(step), { because: "RateLimited", listFault: unprovedList, retryable: false })
    }
  })

  it("is looked for until the deadline while the list contradicts itself, and is then found", () => {
    let step = lost
    for (let poll = 0; poll < 20; poll++) {
      assert.strictEqual(step.action?._tag, "Poll")
      step = next(keyed, step.state, pollFailed(contradiction))
    }
    assert.deepInclude(reasonOf(next(keyed, step.state, { _tag: "DeadlineReached", tried: untried })), {
      _tag: "OutcomeUnknown",
      listFault: "the list cannot be used: the reply (200) is not understood: expected 2 nodes at data, got 1 nodes"
    })
    assert.deepInclude(creationOf(next(keyed, step.state, listed([web(101)]))), { outcome: "adopted" })
  })

  it("of an earlier call is looked for as long as usual while the list contradicts itself", () => {
    const { pauses, step } = polledWith(
      keyed,
      after(keyed, found({ ...sent, fate: "lost" })),
      pollFailed(contradiction)
    )
    assert.isAbove(pauses.length, 4)
    assert.strictEqual(reasonOf(step)._tag, "UnexpectedResponse")
  })

  it("fails for the lost reply where the polls fail, after the last of them or the first that cannot succeed", () => {
    for (const [failure, polls, isListRead] of [
      [broken, 4, true],
      [forbidden, 1, false]
    ] as const) {
      const { pauses, step } = polledWith(keyed, lost, pollFailed(failure, isListRead))
      assert.lengthOf(pauses, polls)
      const reason = reasonOf(step)
      assert.deepInclude(reason, { _tag: "OutcomeUnknown", because: "ServiceFault", listRead: isListRead })
    }
  })
})

describe("a create that an earlier call left", () => {
  it("of another name, plan or image is not this one", () => {
    for (const other of [{ name: "db" }, { plan: "Q" }, { image: "J" }]) {
      assert.strictEqual(reasonOf(after(keyed, found({ ...sent, ...other })))._tag, "InvalidRequest")
    }
  })

  it("of another spec that looks the same is not this one either; one of an older Berth, which kept none, is", () => {
    const { message } = reasonOf(after(keyed, found({ ...sent, spec: "other" })))
    assert.include(message, "it belongs to another create, of web on P from I with other tags, SSH keys or settings")
    assert.strictEqual(after(keyed, found({ ...sent, spec: null })).action?._tag, "Poll")
  })

  it("returns its node again, and no other node if that one is gone", () => {
    const step = after(keyed, found({ ...sent, nodeId: NodeId.make(101) }, 60_000))
    assert.deepStrictEqual(step.action, { _tag: "GetNode", id: NodeId.make(101), afterMillis: 0 })
    const read = (result: Result.Result<Node, BerthError>) => next(keyed, step.state, { _tag: "NodeRead", result })
    assert.strictEqual(creationOf(read(Result.succeed(web(101)))).outcome, "adopted")
    const gone = error(new NodeNotFound({ nodeId: NodeId.make(101) }))
    assert.include(reasonOf(read(Result.fail(gone))).message, "it made node 101, which is gone")
    assert.strictEqual(reasonOf(read(Result.fail(fault)))._tag, "ServiceFault")
  })

  it("less than a minute ago may have made a node that the service does not find yet: it is read again for twelve seconds", () => {
    const gone = error(new NodeNotFound({ nodeId: NodeId.make(101) }))
    const pauses: Array<number> = []
    let step = after(keyed, found({ ...sent, nodeId: NodeId.make(101) }, 59_999))
    while (step.action?._tag === "GetNode") {
      pauses.push(step.action.afterMillis)
      step = next(keyed, step.state, { _tag: "NodeRead", result: Result.fail(gone) })
    }
    assert.deepStrictEqual(pauses, [0, 1000, 3000, 8000])
    assert.include(reasonOf(step).message, "which is gone")
  })

  it("is sent at once where it was not sent", () => {
    assert.deepStrictEqual(after(keyed, found(unsent)).action, { _tag: "ReadHighestId" })
  })

  for (const [fate, then] of [
    ["open", "lost"],
    ["lost", "lost"],
    ["refused", "refused"]
  ] as const) {
    it(`and that is ${fate} is written as ${then}, and has to be`, () => {
      assert.deepStrictEqual(after(keyed, found({ ...sent, fate })).write, {
        intent: { ...sent, fate: then },
        isRequired: true
      })
    })
  }

  for (const [sinceMillis, untilMillis] of [
    [0, 50_000],
    [30_000, 50_000],
    [45_000, 57_000],
    [3_600_000, 3_612_000]
  ] as const) {
    it(`${sinceMillis / 1000} s ago is polled for until ${untilMillis / 1000} s after it was sent`, () => {
      const { pauses } = polledWith(keyed, after(keyed, found({ ...sent, fate: "lost" }, sinceMillis)), listed([]))
      assert.strictEqual(pauses[0], 0)
      assert.strictEqual(sinceMillis + pauses.reduce((sum, pause) => sum + pause, 0), untilMillis)
    })
  }

  for (const [fate, waitMillis] of [
    ["lost", 630_000],
    ["open", 630_000]
  ] as const) {
    const last = (event: CreateEvent) => polledWith(keyed, after(keyed, found({ ...sent, fate })), event).step

    it(`and was ${fate} is sent again when it shows no node after ${waitMillis / 1000} s, and not before`, () => {
      assert.deepStrictEqual(candidatesOf(last(listed([], waitMillis - 1))), [])
      assert.deepStrictEqual(last(listed([], waitMillis)).action, { _tag: "ReadHighestId" })
    })

    it(`and was ${fate} is not sent again while a new node may have come of it`, () => {
      const otherwise = someNode(101, { name: "Web", plan: "Q", image: "I" })
      assert.deepStrictEqual(candidatesOf(last(listed([otherwise], waitMillis))), [101])
      assert.deepStrictEqual(candidatesOf(last(listed([web(101), web(102)], waitMillis))), [101, 102])
    })

    it(`and was ${fate} is not sent again after a poll that failed: the create fails for that`, () => {
      const { state } = after(keyed, found({ ...sent, fate }, waitMillis))
      const { step } = polledWith(keyed, next(keyed, state, listed([], waitMillis)), pollFailed(broken, true))
      assert.include(reasonOf(step).message, "no list")
    })

    it(`and was ${fate} is judged by the clock of the boot or the service's, by no other`, () => {
      const since = (from: Partial<Instant>, to: Partial<Instant>) => {
        const intent = { ...sent, fate, sentAt: at(0, from) }
        const { step } = polledWith(keyed, after(keyed, found(intent)), listed([], 0, to))
        return step.action?._tag ?? reasonOf(step)._tag
      }
      const otherBoot = { bootClock: "another", bootMillis: 86_400_000 }
      assert.strictEqual(since({}, { ...otherBoot, wallMillis: 86_400_000 }), "OutcomeUnknown")
      assert.strictEqual(since({ bootClock: null }, { bootClock: null, bootMillis: 86_400_000 }), "OutcomeUnknown")
      // The service's clock is known to within two seconds.
      const noon = { serviceMillis: 1_790_000_000_000 }
      const later = (millis: number) => ({ ...otherBoot, serviceMillis: noon.serviceMillis + millis })
      assert.strictEqual(since(noon, later(waitMillis + 1999)), "OutcomeUnknown")
      assert.strictEqual(since(noon, later(waitMillis + 2000)), "ReadHighestId")
      assert.strictEqual(since({}, later(waitMillis + 2000)), "OutcomeUnknown")
    })
  }
})

describe("a create whose time is up", () => {
  const late = (request: CreateRequest, ...events: ReadonlyArray<CreateEvent>) =>
    reasonOf(next(request, after(request, ...events).state, { _tag: "DeadlineReached", tried: untried }))

  it("before it was sent is timed out, and sent nothing", () => {
    for (const events of [
      [],
      [notFound],
      [notFound, highestId],
      [notFound, highestId, turnCame, { _tag: "NotProcessed" } as const]
    ]) {
      assert.deepInclude(late(keyed, ...events), { _tag: "TimedOut", sent: "no", afterMillis: 60_000 })
    }
  })

  it("after it was sent is unknown, because of the deadline or of the reply that was lost before", () => {
    const unknown = { _tag: "OutcomeUnknown", listRead: false } as const
    const sentEvents = [notFound, highestId, turnCame]
    assert.deepInclude(late(keyed, ...sentEvents), { ...unknown, because: "TimedOut" })
    assert.deepInclude(late(keyed, found({ ...sent, fate: "lost" })), { ...unknown, because: "TimedOut" })
    assert.deepInclude(late(keyed, ...sentEvents, sendFailed(fault)), { ...unknown, because: "ServiceFault" })
    assert.deepInclude(late(keyed, ...sentEvents, sendFailed(fault), listed([])), {
      ...unknown,
      because: "ServiceFault",
      listRead: true
    })
  })

  it("names the nodes that the latest list showed as possible ones", () => {
    const undecided = {
      ...listed([web(101)]),
      beside: { lost: [], underWay: new Map([["other", { ...sent, key: "other" }]]) }
    }
    const reason = late(keyed, notFound, highestId, turnCame, sendFailed(fault), undecided)
    assert.deepInclude(reason, { _tag: "OutcomeUnknown", candidates: [NodeId.make(101)] })
  })

  it("after its node was found has that node", () => {
    const adopted = after(keyed, notFound, highestId, turnCame, sendFailed(fault), listed([web(101)]))
    for (const event of [
      { _tag: "DeadlineReached", tried: untried },
      { _tag: "Interrupted" },
      pollFailed(forbidden)
    ] as const) {
      assert.strictEqual(creationOf(next(keyed, adopted.state, event)).node.id, NodeId.make(101))
    }
  })
})

describe("the failure of a request within a create", () => {
  const timedOut = error(new TimedOut({ limit: "deadline", afterMillis: 40_000, sent: "maybe" }), "nodes.list")

  it("has the deadline of the create, which is the one that its caller knows", () => {
    const step = after(keyed, notFound, highestId, turnCame, sendFailed(timedOut))
    assert.include(reasonOf(polledWith(keyed, step, listed([])).step).message, "deadline of 60 s")
  })

  it("before the create is sent has sent nothing of it", () => {
    const unreachable = error(new Unreachable({ sent: "maybe", detail: "reset" }), "nodes.list")
    for (const failure of [timedOut, unreachable]) {
      const failed: CreateEvent = { _tag: "HighestIdRead", result: Result.fail(failure), newest: 0 }
      const { operation, reason } = Result.getOrThrow(Result.flip(outcomeOf(after(keyed, notFound, failed))))
      assert.deepInclude(reason, { sent: "no" })
      assert.strictEqual(operation, "nodes.create")
    }
  })
})
