/** The environment variables that select the service and the account, in every program. */
export const variables = {
  baseUrl: "BERTH_BASE_URL",
  apiKey: "BERTH_API_KEY",
  accessToken: "BERTH_ACCESS_TOKEN",
  /** Whether credentials may cross a network in plain text. */
  allowHttp: "BERTH_ALLOW_HTTP",
  /** The name of the account. Berth stores the idempotency keys of creates under it. */
  account: "BERTH_ACCOUNT",
  /** The project and the location of the nodes: both or neither. */
  project: "BERTH_PROJECT",
  location: "BERTH_LOCATION",
  /** The `User-Agent` header, which a gateway may check. */
  userAgent: "BERTH_USER_AGENT",
  /** The PostgreSQL database with the state that several machines share: keys, locks, records and the rate limit. */
  stateUrl: "BERTH_STATE_URL",
  /** The token of `berth-watch`. */
  watchToken: "BERTH_WATCH_TOKEN",
  /** The name of an account that `berth auth login` saved. */
  profile: "BERTH_PROFILE",
  /** The format of data. */
  output: "BERTH_OUTPUT",
  /** Maximum duration of each call. */
  deadline: "BERTH_DEADLINE"
} as const
