/** How the fake ban system fails, for trying the service. */
export interface BanFault {
  /** Milliseconds before the answer. */
  delayMs?: number;
  /** Answer with this status and body in place of the usual one. */
  reply?: { status: number; body: string; contentType?: string };
  /** The connection is cut before the call has an effect. */
  isCut?: boolean;
}

/** Faults of the fake ban system. */
export interface BanFaults {
  /** By method and path, percent-encoded as it came: `GET /api/stats`. Each is for every call until it is removed. */
  byCall: Map<string, BanFault>;
  /** For all calls without one of their own. */
  every: BanFault | null;
}
