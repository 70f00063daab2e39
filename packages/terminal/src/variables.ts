/**
 * The environment variables that name the service and the account, in every binary.
 */
export const variables = {
  baseUrl: "BERTH_BASE_URL",
  apiKey: "BERTH_API_KEY",
  accessToken: "BERTH_ACCESS_TOKEN"
} as const
