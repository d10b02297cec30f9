/** The port of the tax service for the self-employed (spec 03 section 2.8, spec 03a section 15). */

/**
 * What a failed call means for the receipt. `not_sent`: certainly nothing was changed there; later it may succeed. `unclear`: it may have
 * been carried out. `rejected`: the service refuses this receipt. `credentials`: it refuses the sign-in. `not_configured`: no call was made.
 */
export type ReceiptFailure = 'not_sent' | 'unclear' | 'rejected' | 'credentials' | 'not_configured';

/** The message is for administrators: it has no credential, no address and at most the code of the service. */
export class ReceiptError extends Error {
  readonly failure: ReceiptFailure;

  constructor(failure: ReceiptFailure, message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'ReceiptError';
    this.failure = failure;
  }
}

/** What all instances share of the sign-in, so that none signs in with the password while another is signed in. */
export interface ReceiptSession {
  /** 21 characters, the same as long as the installation exists: the service accepts a new one for a new device. */
  deviceId: string;
  /** The tokens as `save` got them, unreadable without the password of the account; null = none. */
  load(): Promise<string | null>;
  save(tokens: string): Promise<void>;
}

export interface ReceiptDraft {
  /** At most 256 characters; ends with the mark of the receipt. */
  name: string;
  /** Kopeks, above zero. */
  amountKopeks: number;
  /** The time of the payment, UTC; not in the future. */
  operationAt: Date;
}

/** A receipt as the service lists it. */
export interface ListedReceipt {
  uuid: string;
  name: string;
  isCancelled: boolean;
}

export interface ReceiptService {
  /** Makes a receipt. The service knows no idempotency: a repeat makes a second one. @returns its id. @throws ReceiptError */
  issue(draft: ReceiptDraft): Promise<string>;
  /** Every receipt whose operation was within a day of this time. @throws ReceiptError, neither `unclear` nor `rejected` */
  listAround(operationAt: Date): Promise<ListedReceipt[]>;
  /** Cancels a receipt because its money was returned. @throws ReceiptError */
  cancel(uuid: string): Promise<void>;
}

export interface ReceiptPort {
  /** Whether receipts are on and an account is set. Read on every call, because settings change at run time. */
  isConfigured(): boolean;
  /** The id of the device that an administrator has set; null = the service makes one. */
  configuredDeviceId(): string | null;
  open(session: ReceiptSession): ReceiptService;
  /** Where anybody may see and print a receipt; null while no account is set. */
  printUrl(uuid: string): string | null;
}

declare module '../../core/app.ts' {
  interface Ports {
    receipts: ReceiptPort;
  }
}
