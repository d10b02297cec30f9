import type { Rows } from '../../core/db/columns.ts';

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
