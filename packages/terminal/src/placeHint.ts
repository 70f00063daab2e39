/** Recognises the refusals of a service that requires a project and a location in every request. */
const place = "\\b(?:project(?:[_ ]?id)?|location)\\b"
const lack = "\\b(?:not found|required|missing|invalid|not valid|unknown|not exist|needed|specify|provide)\\b"
const shape = new RegExp(`${place}[^.;]{0,40}${lack}|${lack}[^.;]{0,40}${place}`, "i")

/** Whether the text of a refusal is about the project or the location of the request. */
export const isAboutPlace = (detail: unknown): boolean => typeof detail === "string" && shape.test(detail)

export const placeHint =
  "Name the project and the location of the nodes: --project NUMBER --location NAME, or BERTH_PROJECT and BERTH_LOCATION."
