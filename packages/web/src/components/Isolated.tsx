/** A text of unknown direction, which does not turn its surroundings. */
import { plain } from "./text.ts"

export const Isolated = ({ text }: { readonly text: string }) => <bdi>{plain(text)}</bdi>
