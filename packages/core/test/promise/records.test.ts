import type * as Promises from "@berthkit/core/promise"
import { readFileSync } from "node:fs"
import { expect, it } from "@effect/vitest"
import { printRecords } from "../../scripts/records.ts"
import type { Creation } from "../../src/client/creation/Creator.ts"
import type { KnownAllowance } from "../../src/domain/Allowance.ts"
import type { Attempt } from "../../src/domain/Attempt.ts"
import { commitmentSettings } from "../../src/domain/Commitment.ts"
import type { Image, ImageFilter, SavedImage } from "../../src/domain/Image.ts"
import { lanes } from "../../src/domain/Lane.ts"
import type { Node } from "../../src/domain/Node.ts"
import type { NodeSpec } from "../../src/domain/NodeSpec.ts"
import { knownStatuses } from "../../src/domain/NodeStatus.ts"
import type { Plan } from "../../src/domain/Plan.ts"
import type { Plain } from "../../src/promise/Plain.ts"

type Assignable<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false

/** Both have the same fields with the same types, and each field is optional in both or in neither. */
type Same<Written, Domain> =
  Assignable<Written, Plain<Domain>> extends true ? Assignable<Required<Written>, Required<Plain<Domain>>> : false

it("are committed as the domain prints them (`pnpm --filter @berthkit/core records` writes them)", () => {
  expect(readFileSync(new URL("../../src/promise/Records.ts", import.meta.url), "utf8")).toBe(printRecords())
})

it("have the types of the domain's values in their plain form", () => {
  // The compiler checks these.
  const same: {
    readonly Node: Same<Promises.Node, Node>
    readonly NodeSpec: Same<Promises.NodeSpec, NodeSpec>
    readonly Image: Same<Promises.Image, Image>
    readonly SavedImage: Same<Promises.SavedImage, SavedImage>
    readonly ImageFilter: Same<Promises.ImageFilter, ImageFilter>
    readonly Plan: Same<Promises.Plan, Plan>
    readonly Attempt: Same<Promises.Attempt, Attempt>
    readonly KnownAllowance: Same<Promises.KnownAllowance, KnownAllowance>
    readonly Creation: Same<Promises.Creation, Creation>
    readonly KnownStatus: Assignable<Promises.KnownStatus, (typeof knownStatuses)[number]>
    readonly Lane: Assignable<Promises.Lane, (typeof lanes)[number]>
    readonly CommitmentSetting: Assignable<Promises.CommitmentSetting, (typeof commitmentSettings)[number]>
  } = {
    Node: true,
    NodeSpec: true,
    Image: true,
    SavedImage: true,
    ImageFilter: true,
    Plan: true,
    Attempt: true,
    KnownAllowance: true,
    Creation: true,
    KnownStatus: true,
    Lane: true,
    CommitmentSetting: true
  }
  expect(Object.values(same).every(Boolean)).toBe(true)
})
