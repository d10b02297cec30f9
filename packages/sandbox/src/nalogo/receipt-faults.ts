/**
 * How one call fails. `lost_before`: the connection is cut before the call had an effect; `lost_after`: afterwards, so the effect is there and
 * the answer is not. `hook`: the call succeeds, and `hook` runs before its answer is sent.
 */
export interface ReceiptFault {
  /** Method and path: `POST /income`. */
  call: string;
  fault: 'unauthorized' | 'refused' | 'html' | 'unavailable' | 'lost_before' | 'lost_after' | 'hook';
  hook?: () => Promise<void>;
}

/** Faults of the fake tax service, for trying the service. */
export interface ReceiptFaults {
  /** Each fault is used by the next call that it names. */
  next: ReceiptFault[];
  /** Every call is answered with 503. */
  isDown: boolean;
}
