/**
 * Highest values that may be set without a purchase. The contract names none; these keep dates, bytes and counts within what the database
 * and the panel can store.
 */
export const MAX_DAYS = 36_500;
export const MAX_TRAFFIC_GB = 1_000_000;
export const MAX_DEVICES = 10_000;
