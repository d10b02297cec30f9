/** Builds the client package where its sources have changed since. */
export declare function ensureClientBuilt(): Promise<void>;
