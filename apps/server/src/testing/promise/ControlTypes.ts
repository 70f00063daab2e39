/**
 * The control plane's requests and replies as JSON: instants and durations are text. In the published package these types
 * are written out (by `scripts/controlTypes.ts`), so that a test does not need Effect for them.
 */
import type { WorldEvent as Event } from "../../control/ClockGroup.ts"
import type { NodeChange as Change, NodeView as View } from "../../control/NodesGroup.ts"
import type { SavedImageOrder as Order, SavedImageView as ImageView } from "../../control/SavedImagesGroup.ts"
import type { WorldSummary as Summary } from "../../control/WorldsGroup.ts"
import type { Fault as AnyFault } from "../../injection/catalogue.ts"
import type { Expectation as AnyExpectation, ExpectedCall as Call } from "../../journal/ExpectedCall.ts"
import type { JournalEntry as Entry } from "../../journal/JournalEntry.ts"
import type { Verdict as AnyVerdict } from "../../journal/verify.ts"
import type { RateLimit as Limit, WorldOptions as Options } from "../../world/WorldOptions.ts"

/** The type of what a test passes in: optional fields may also be undefined. */
type Written<A> = { readonly [Name in keyof A]: {} extends Pick<A, Name> ? A[Name] | undefined : A[Name] }

export type WorldOptions = Written<typeof Options.Encoded>
export type RateLimit = Written<typeof Limit.Encoded>
export type NodeChange = Written<typeof Change.Encoded>
export type SavedImageOrder = Written<typeof Order.Encoded>
export type ExpectedCall = Written<typeof Call.Encoded>
export type Expectation = Written<typeof AnyExpectation.Encoded>
export type WorldSummary = typeof Summary.Encoded
export type WorldEvent = typeof Event.Encoded
export type NodeView = typeof View.Encoded
export type SavedImageView = typeof ImageView.Encoded
export type JournalEntry = typeof Entry.Encoded
export type Verdict = typeof AnyVerdict.Encoded
export type Fault = Written<typeof AnyFault.Encoded>
