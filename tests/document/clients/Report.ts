/** What a program gets from a generated client: the result of each endpoint, and one failure. */

export interface Account {
  readonly baseUrl: string
  readonly apiKey: string
  readonly accessToken: string
}

export interface Report {
  /** The slug of the image that passes the filters, and its plan. */
  readonly image: string
  readonly plan: string
  readonly created: { readonly name: string; readonly status: "Create" }
  readonly listed: ReadonlyArray<string>
  readonly read: {
    readonly status: "created" | "running" | "power-off" | "terminate"
    readonly diskGb: number
    readonly address: string
  }
  readonly commitment: { readonly setting: string; readonly isCommitted: boolean }
  readonly savedImages: ReadonlyArray<string>
  /** The status of the reply to the delete. */
  readonly deleted: number
  /** The failure of a read for a node that never existed. */
  readonly missing: { readonly code: 404; readonly details: ReadonlyArray<string> }
}

/** Fails the test because a call did not return the expected value. */
export const unexpected = (what: string, got: unknown): never => {
  throw new Error(`${what}: ${JSON.stringify(got)}`)
}
