/**
 * Decides by name whether a header, parameter, JSON field or flag contains a secret. Errors, traces, journals, recordings and config files
 * all use this module, because one leak is enough.
 */

/**
 * Short words may be part of another word, so each must stand alone, with a word boundary on both sides. The character before it may be
 * encoded.
 */
const shortWords = "(?:\\b|_|%(?:25)*[0-9a-f]{2}|u00[0-9a-f]{2})(?:auth|jwt|otp|pass|pwd|sid|sig)s?(?:\\b|_)"

/**
 * Words that occur only in names of secrets. A field that is just called `key` does not match, because it usually holds the name of a
 * label.
 */
const words = `auth(?:entic|ori[sz])ation|bearer|cookie|credential|pass(?:code|phrase|w)|secret|session|signature|token|${shortWords}|api[-_ ]?key`

const secret = new RegExp(`${words}|.key$|[-_]keys$`, "i")

/** Keys that are public, or useless to others. */
const publicKey = /(idempotency|public|ssh)[-_]?keys?$/i

/** Whether the name of a header, parameter, field or flag says that its value is a secret. */
export const isSecretName = (name: string): boolean => secret.test(name) && !publicKey.test(name)

/** Matches the name of a secret within a string: the source of a pattern that ignores case. */
export const secretNameInText = `(?:${words}|[-\\w]key\\b)[-\\w]{0,16}`
