/** Exports for programs that receive events: the types of events, and `verify`, which checks a delivery. Loads no code of the daemon. */
export type * from "./receive/Events.ts"
export { verify, type VerifyOptions, WebhookError, type WebhookFault, type WebhookHeaders } from "./receive/verify.ts"
