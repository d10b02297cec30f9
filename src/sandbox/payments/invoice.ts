export type SandboxInvoiceStatus = 'pending' | 'paid' | 'failed' | 'refunded';

/** The wire on which an invoice was created; its callbacks use the same one. */
export type SandboxWire = 'sandbox' | 'yookassa';

export interface SandboxInvoice {
  id: string;
  wire: SandboxWire;
  orderId: string;
  status: SandboxInvoiceStatus;
  amountKopeks: number;
  currency: string;
  description: string;
  option: string | null;
  returnUrl: string | null;
  metadata: Record<string, unknown>;
  /** ISO 8601, UTC. */
  createdAt: string;
  paidAt: string | null;
  expiresAt: string;
}

/** Actions of a payer or the sandbox page, with the state before and after each. */
export const INVOICE_ACTIONS = {
  pay: { from: 'pending', to: 'paid' },
  fail: { from: 'pending', to: 'failed' },
  refund: { from: 'paid', to: 'refunded' },
} as const satisfies Record<string, { from: SandboxInvoiceStatus; to: SandboxInvoiceStatus }>;

export type InvoiceAction = keyof typeof INVOICE_ACTIONS;

export function isInvoiceAction(text: string | undefined): text is InvoiceAction {
  return text !== undefined && Object.hasOwn(INVOICE_ACTIONS, text);
}

/** Kopeks as decimal rubles with two places. */
export function rublesText(kopeks: number): string {
  return `${Math.trunc(kopeks / 100)}.${String(kopeks % 100).padStart(2, '0')}`;
}
