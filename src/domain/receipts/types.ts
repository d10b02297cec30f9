import type { Rows } from '../../core/db/columns.ts';

/**
 * `queued`: to be sent. `sending`: a call is in progress, or its process died. `unclear`: sent, but without an answer; looked up. `duplicate`:
 * the service has more than one; a person cancels the others there. `failed`: the service refused it; tried again once a day. `created` and
 * `cancelled` are final until money is returned.
 */
export type ReceiptState = Rows['Receipt']['state'];

/** A receipt as the queue works with it. Kopeks, UTC. */
export type Receipt = Pick<
  Rows['Receipt'],
  | 'id'
  | 'paymentId'
  | 'sequence'
  | 'mark'
  | 'name'
  | 'amountKopeks'
  | 'operationAt'
  | 'state'
  | 'uuid'
  | 'attempts'
  | 'sentAt'
  | 'cancelSentAt'
>;

/** A credited payment that has to have a receipt. */
export type ReceiptPayment = Pick<Rows['Payment'], 'id' | 'method' | 'purpose' | 'orderId'> & {
  amountKopeks: number;
  /** When it was paid, at the latest when it was credited. */
  operationAt: Date;
  transactionId: number;
  /** Of the payer. */
  messengerId: number | null;
};
