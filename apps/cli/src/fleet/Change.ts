/**
 * The plan of a fleet: the change of each member, and the conflicts that prevent all changes. `plan.ts` makes it.
 */
import type { Node } from "@berthkit/core/domain/Node"
import type { FleetFile, Group } from "./FleetFile.ts"
import type { Owned } from "./Ledger.ts"
import { type Member, memberText } from "./Member.ts"

/** A group, and what its start scripts come to. */
export interface LoadedGroup extends Group {
  /** Digests of the start scripts. */
  readonly scripts: ReadonlyArray<string>
}

export interface LoadedFleet extends FleetFile {
  readonly groups: ReadonlyArray<LoadedGroup>
}

export interface PlanOptions {
  /** Members whose node is replaced where it differs. */
  readonly replace: "all" | ReadonlyArray<string>
  /** Members that are deleted first where there are too many. */
  readonly pick: ReadonlyArray<string>
  /** Whether the fleet is to have no members. */
  readonly isDestroy: boolean
}

/** What happens to one member. */
export type Change = { readonly member: Member } & (
  | {
      readonly action: "create"
      readonly group: LoadedGroup
      readonly name: string
      /** A node that it had, and that is gone. */
      readonly was: Owned | null
      /** Whether an earlier run has sent the create, and what became of it has to be found out. */
      readonly isResumed: boolean
      /** Nodes that it may have made by then. */
      readonly candidates: ReadonlyArray<number>
    }
  | {
      readonly action: "delete"
      readonly node: Node
      /** The node that this one was to replace, which goes with it. */
      readonly old: Node | null
      readonly why: "extra" | "removed" | "destroy"
    }
  | {
      readonly action: "replace"
      readonly group: LoadedGroup
      readonly name: string
      readonly old: Node
      /** The new node, if an earlier run has made it. */
      readonly made: Node | null
      readonly isResumed: boolean
      /** Whether this reverts a replacement: then `made` is the original node, which stays, and `old` is its replacement. */
      readonly isTakenBack: boolean
      /** Why, in words. */
      readonly reasons: ReadonlyArray<string>
      /** The commitment that this machine has bought for `made`, if the ledger does not say so yet. */
      readonly commitment?: string
    }
  | {
      readonly action: "differs"
      readonly node: Node
      /** The node that this one replaces, if an earlier run began the replacement and did not finish it. */
      readonly old: Node | null
      readonly differences: ReadonlyArray<string>
      /** What to do about it; a protected node is never replaced, and one that only the ledger protects is released first. */
      readonly remedy: "replace" | "goOn" | "protected" | "released" | "commitment" | "bought"
      /** As of a kept node. */
      readonly why?: string | undefined
    }
  /** Sets the commitment of a node. Null: the node that the preceding change of this member makes. */
  | { readonly action: "commit"; readonly node: Node | null; readonly group: LoadedGroup }
  /** Nothing is sent for it: a node that a change of this member deletes has a commitment, which is paid to its end. */
  | { readonly action: "forfeit"; readonly node: Node; readonly loss: string }
  /** `commitment`: what this machine has bought for the node and the ledger does not have yet. */
  | { readonly action: "unchanged"; readonly node: Node; readonly commitment?: string }
  | {
      readonly action: "kept"
      readonly node: Node
      /** Whether the file no longer protects it, so that the next run may delete it. */
      readonly isReleased: boolean
      /** What protects it, in words, where that is neither the file nor the ledger. */
      readonly why?: string | undefined
    }
  /** Perhaps a second node of the member: it is shown, and left alone. */
  | {
      readonly action: "doubled"
      readonly node: Node
      readonly own: Owned
      /** Whether `own` was to replace it. */
      readonly isReplaced: boolean
      /** Whether the member is protected: then so is its old node, until the replacement is finished. */
      readonly isProtected: boolean
    }
  /** Neither listed nor certainly gone, or on its way out: it is left alone. */
  | {
      readonly action: "doubted"
      readonly owned: Owned
      readonly why: "missing" | "terminating"
      /** Whether the file wants it. */
      readonly isWanted: boolean
    }
  /** Its commitment was sent and got no reply: until a person says what the portal shows, nothing is bought or deleted for the member. */
  | { readonly action: "unsure"; readonly node: Node; readonly commitment: string }
  /** Only the ledger changes: the node that was deleted, or that nobody wants any more, is gone. */
  | {
      readonly action: "settle"
      readonly what: "member" | "previous" | "restore" | "undelete"
    }
)

/** Why nothing is done at all. */
export interface Conflict {
  readonly message: string
  readonly hint: string
  readonly kind: "usage" | "conflict"
}

export interface Plan {
  readonly changes: ReadonlyArray<Change>
  readonly conflicts: ReadonlyArray<Conflict>
}

/** Whether the fleet is as its file says. */
export const isEqual = ({ changes }: Plan): boolean =>
  changes.every(({ action }) => action === "unchanged" || action === "settle")

/** Whether something is sent for a change. */
export const isSent = ({ action }: Change): boolean => ["create", "delete", "replace", "commit"].includes(action)

/** How many members have more than one node. */
export const doubledOf = ({ changes }: Plan): ReadonlyArray<string> =>
  Array.from(
    new Set(
      changes.flatMap((change) =>
        // An unfinished replacement of an earlier run also leaves two nodes.
        change.action === "doubled" || (change.action === "differs" && change.old !== null)
          ? [memberText(change.member)]
          : []
      )
    )
  )

/** Whether nothing is sent. */
export const isIdle = ({ changes }: Plan): boolean => !changes.some(isSent)

/** How many members are changed in this way. */
export const countOf = ({ changes }: Plan, action: Change["action"]): number =>
  changes.filter((change) => change.action === action).length

/** How many nodes are deleted. */
export const deletesOf = (plan: Plan): number =>
  countOf(plan, "replace") +
  plan.changes.reduce((sum, change) => sum + (change.action !== "delete" ? 0 : change.old === null ? 1 : 2), 0)
