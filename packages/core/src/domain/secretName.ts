/**
 * Decides by name whether a header, parameter, JSON field or flag contains a secret. Errors, traces, journals, recordings and config files
 * all use this module, because one leak is enough.
 */

/** Words that occur only in names of secrets. A field called just `key` does not match, because it holds the name of a label. */
const secret =
  /auth\w+ation|cookie|credential|pass(phrase|w)|secret|session|signature|token|(\b|_)(auth|jwt|pass|pwd|sid|sig)(\b|_)|api-?key|.key$/i

/** Keys that are public, or useless to others. */
const publicKey = /(idempotency|public|ssh)[-_]?key$/i

/** Whether the name of a header, parameter, field or flag says that its value is a secret. */
export const isSecretName = (name: string): boolean => secret.test(name) && !publicKey.test(name)
