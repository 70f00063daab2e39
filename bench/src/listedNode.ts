/** Records of the node list, as the service writes them. */
import { nodeRecord } from "@berth/core/testing"

/** A record with these fields. Its id comes first, as in a list: the decoder is fastest with the documented order. */
export const listedNode = (id: number, fields: Readonly<Record<string, unknown>>) =>
  Object.assign({ id }, nodeRecord({ id, ...fields }))
