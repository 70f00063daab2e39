/**
 * The plan of a fleet: the change of each member (a named place for one node, such as `web-2`), and the conflicts that prevent all changes.
 * `plan.ts` makes it.
 */
import type { Node } from "@berthkit/core/domain/Node"
import type { FleetFile, Group } from "./FleetFile.ts"
import type { Owned } from "./Ledger.ts"
import { type Member, memberText } from "./Member.ts"

/** A group, with the digests of its start scripts. */
export interface LoadedGroup extends Group {
  /** Digests of the start scripts. */
  readonly scripts: ReadonlyArray<string>
}

export interface LoadedFleet extends FleetFile {
  readonly groups: ReadonlyArray<LoadedGroup>
}

export interface PlanOptions {
  /** Members whose node is replaced if it differs. */
  readonly replace: "all" | ReadonlyArray<string>
  /** Members that are deleted first if there are too many. */
  readonly pick: ReadonlyArray<string>
  /** Whether all members are to be deleted. */
  readonly isDestroy: boolean
}

/** The change of one member. */
export type Change = { readonly member: Member } & (
  | {
      readonly action: "create"
      readonly group: LoadedGroup
      readonly name: string
      /** The member's previous node, which is gone. */
      readonly was: Owned | null
      /** Whether an earlier run has sent the create, so its outcome has to be found out. */
      readonly isResumed: boolean
      /** Nodes that the earlier create may have made. */
      readonly candidates: ReadonlyArray<number>
    }
  | {
      readonly action: "delete"
      readonly node: Node
      /** The old node of an unfinished replacement, which is deleted too. */
      readonly old: Node | null
      readonly why: "extra" | "removed" | "destroy"
    }
  | {
      readonly action: "replace"
      readonly group: LoadedGroup
      readonly name: string
      readonly old: Node
      /** The new node, if an earlier run has created it. */
      readonly made: Node | null
      readonly isResumed: boolean
      /** Whether this reverts a replacement. In that case `made` is the original node, which stays, and `old` is its replacement. */
      readonly isTakenBack: boolean
      /** The reasons, in words. */
      readonly reasons: ReadonlyArray<string>
      /** The commitment that this machine has bought for `made`, if the ledger does not record it yet. */
      readonly commitment?: string
    }
  | {
      readonly action: "differs"
      readonly node: Node
      /** The node that this one replaces, if an earlier run began the replacement and did not finish it. */
      readonly old: Node | null
      readonly differences: ReadonlyArray<string>
      /**
       * How to resolve the difference. A protected node is never replaced. `released` and `releasedReplace` mean that only the ledger still
       * protects the node: this run ends the protection, and the next run can make the change or replace the node.
       */
      readonly remedy: "replace" | "goOn" | "protected" | "released" | "releasedReplace" | "commitment" | "bought"
      /** The reason for its protection, if neither the file nor the ledger protects the node. */
      readonly why?: string | undefined
    }
  /** Sets the commitment of a node; null means the node made by this member's preceding change. */
  | { readonly action: "commit"; readonly node: Node | null; readonly group: LoadedGroup }
  /** Sends nothing. It says that a node that will be deleted has a commitment, which the user pays to its end. */
  | { readonly action: "forfeit"; readonly node: Node; readonly loss: string }
  /** `commitment` is what this machine has bought for the node and the ledger does not record yet. */
  | { readonly action: "unchanged"; readonly node: Node; readonly commitment?: string }
  | {
      readonly action: "kept"
      readonly node: Node
      /** Whether the file no longer protects the node, so the next run may delete it. */
      readonly isReleased: boolean
      /** The reason for its protection, if neither the file nor the ledger protects the node. */
      readonly why?: string | undefined
    }
  /** A possible second node of the member. It is shown and left alone. */
  | {
      readonly action: "doubled"
      readonly node: Node
      readonly own: Owned
      /** Whether `own` was created to replace `node`. */
      readonly isReplaced: boolean
      /** Whether the member is protected. Its old node is protected too until the replacement is finished. */
      readonly isProtected: boolean
    }
  /** The node is being deleted, or it is neither listed nor certainly gone. It is left alone. */
  | {
      readonly action: "doubted"
      readonly owned: Owned
      readonly why: "missing" | "terminating"
      /** Whether the file wants the node. */
      readonly isWanted: boolean
    }
  /** The node's commitment request got no reply. Until a person says what the portal shows, nothing is bought or deleted for the member. */
  | { readonly action: "unsure"; readonly node: Node; readonly commitment: string }
  /** Changes only the ledger: records how an earlier create, replacement or delete has ended. */
  | {
      readonly action: "settle"
      readonly what: "member" | "previous" | "restore" | "undelete"
    }
)

/** A reason to do nothing at all. */
export interface Conflict {
  readonly message: string
  readonly hint: string
  readonly kind: "usage" | "conflict"
  /** The node outside the fleet that has a member's name. */
  readonly taken?: number
}

export interface Plan {
  readonly changes: ReadonlyArray<Change>
  readonly conflicts: ReadonlyArray<Conflict>
}

/** Whether the fleet matches its file. */
export const isEqual = ({ changes }: Plan): boolean =>
  changes.every(({ action }) => action === "unchanged" || action === "settle")

/** Whether a change sends a request. */
export const isSent = ({ action }: Change): boolean => ["create", "delete", "replace", "commit"].includes(action)

/** The members that have more than one node. */
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

/** Whether the plan sends nothing. */
export const isIdle = ({ changes }: Plan): boolean => !changes.some(isSent)

/** The number of members with this kind of change. */
export const countOf = ({ changes }: Plan, action: Change["action"]): number =>
  changes.filter((change) => change.action === action).length

/** The number of nodes that the plan deletes. */
export const deletesOf = (plan: Plan): number =>
  countOf(plan, "replace") +
  plan.changes.reduce((sum, change) => sum + (change.action !== "delete" ? 0 : change.old === null ? 1 : 2), 0)
