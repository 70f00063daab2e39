/**
 * Limits of requests and connections: sizes in bytes, times in milliseconds.
 */

/** Body of a request: 1 MiB. A longer one gets 413 (assumption A4 in docs/interface/assumptions.md). */
export const maxBodyBytes = 1024 * 1024

/** Body that is the snapshot of a world: 16 MiB, about 150 000 nodes. */
export const maxSnapshotBytes = 16 * 1024 * 1024

/** Request target (path and query): 8 KiB. A longer one gets 414 (A4). */
export const maxUrlBytes = 8 * 1024

/** All header lines together with the request line: 16 KiB. A longer head gets 431. */
export const maxHeadBytes = 16 * 1024

/**
 * How much of a head Node's parser reads. If a head is longer, the server gets no request but only the packet in which parsing stopped.
 * From that packet alone, the server cannot always tell a long URL from long headers.
 */
export const maxParsedHeadBytes = 4 * maxHeadBytes

/** Times after which a slow client gets 408, or after which the server no longer waits. */
export interface Timeouts {
  /** The time from the first byte of a request to the end of its headers. */
  readonly headersMillis: number
  /** The time from the first byte of a request to the end of its body. */
  readonly requestMillis: number
  /** Time after which the server closes an idle connection. */
  readonly keepAliveMillis: number
  /**
   * How long a shutdown waits for requests in flight before it cuts them off. It does not wait for held requests (`held.ts`).
   */
  readonly drainMillis: number
}

export const defaultTimeouts: Timeouts = {
  headersMillis: 10_000,
  requestMillis: 30_000,
  keepAliveMillis: 5_000,
  drainMillis: 1_000
}
