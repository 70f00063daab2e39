/**
 * Decides by its name whether a header, a parameter, a field of JSON or a flag holds a secret. Errors, traces, journals, recordings and config
 * files all ask here, because a secret that one of them shows is no longer one.
 */

/** Words that only the names of secrets have. A field that is called just `key` is the name of a label. */
const secret =
  /auth\w+ation|cookie|credential|pass(phrase|w)|secret|session|signature|token|(\b|_)(auth|jwt|pass|pwd|sid|sig)(\b|_)|api-?key|.key$/i

/** Keys that are public, or mean nothing to anybody else. */
const publicKey = /(idempotency|public|ssh)[-_]?key$/i

/** Whether the name of a header, parameter, field or flag says that its value is a secret. */
export const isSecretName = (name: string): boolean => secret.test(name) && !publicKey.test(name)
