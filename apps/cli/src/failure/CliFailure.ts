/**
 * Why a command fails before or beside the service: what was asked for cannot be asked, a setting is missing, some of
 * many failed. What the service and the way to it can fail for is `BerthError`'s, in core.
 */
import { Data } from "effect"

/** The command line asks for what cannot be. Nothing was changed. */
export class UsageFault extends Data.TaggedError("UsageFault")<{
  readonly message: string
  readonly hint: string
}> {}

/** A setting that is needed is not set, or not usable. */
export class SettingFault extends Data.TaggedError("SettingFault")<{
  /** The environment variable or the flag that holds it. */
  readonly setting: string
  /** Whether it is a part of the credentials, which makes it a matter of authentication. */
  readonly secret: boolean
  readonly message: string
  readonly hint: string
}> {}

/** A name or pattern that no node has. */
export class NameNotFound extends Data.TaggedError("NameNotFound")<{ readonly name: string }> {
  override get message() {
    return `There is no node named ${this.name} in this account.`
  }
  readonly hint = "List the nodes to see which there are: berth node list"
}

/** A name that several nodes have. */
export class NameAmbiguous extends Data.TaggedError("NameAmbiguous")<{
  readonly name: string
  readonly candidates: ReadonlyArray<{ readonly id: number; readonly status: string }>
}> {
  override get message() {
    const shown = this.candidates.slice(0, 10).map(({ id, status }) => `${id} (${status})`)
    const more = this.candidates.length > shown.length ? ", …" : ""
    return `${this.candidates.length} nodes are named ${this.name}: ${shown.join(", ")}${more}.`
  }
  readonly hint = "Name the one you mean by its id."
}

/** Some of several nodes failed; each has said why. */
export class SomeFailed extends Data.TaggedError("SomeFailed")<{ readonly failed: number; readonly of: number }> {
  override get message() {
    return `${this.failed} of ${this.of} failed.`
  }
  readonly hint = "What was said of each of them says why."
}

/** The person said no, or went away, before it was done. */
export class Interrupted extends Data.TaggedError("Interrupted")<{
  readonly message: string
  readonly hint: string
}> {}

export type CliFailure = UsageFault | SettingFault | NameNotFound | NameAmbiguous | SomeFailed | Interrupted
