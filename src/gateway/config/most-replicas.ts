/** The most replicas of one endpoint: policies reserve their columns for this many. */
export const MOST_REPLICAS = 1024;
