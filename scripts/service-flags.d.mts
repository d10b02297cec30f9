/** Options of the runtime for a server process. */
export const SERVICE_FLAGS: readonly string[];
