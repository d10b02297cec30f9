import { randomUUID } from 'node:crypto';
import { rublesText, type SandboxInvoice, type SandboxInvoiceStatus } from './invoice.ts';

/** The sandbox's invoices in the format of YooKassa's v3 API, so that its adapter is used over real HTTP. */

const STATUS: Readonly<Record<SandboxInvoiceStatus, string>> = {
  pending: 'pending',
  paid: 'succeeded',
  failed: 'canceled',
  refunded: 'succeeded',
};

const EVENTS: Readonly<Partial<Record<SandboxInvoiceStatus, string>>> = {
  paid: 'payment.succeeded',
  failed: 'payment.canceled',
  refunded: 'refund.succeeded',
};

export function yookassaPayment(invoice: SandboxInvoice, payUrl: string): Record<string, unknown> {
  const amount = { value: rublesText(invoice.amountKopeks), currency: invoice.currency };
  return {
    id: invoice.id,
    status: STATUS[invoice.status],
    paid: invoice.status === 'paid' || invoice.status === 'refunded',
    amount,
    description: invoice.description,
    created_at: invoice.createdAt,
    ...(invoice.paidAt ? { captured_at: invoice.paidAt } : {}),
    ...(invoice.status === 'pending' ? { confirmation: { type: 'redirect', confirmation_url: payUrl } } : {}),
    ...(invoice.status === 'refunded' ? { refunded_amount: amount } : {}),
    metadata: invoice.metadata,
    refundable: invoice.status === 'paid',
    test: true,
  };
}

/** Body of a notification, or null for a state without notification. */
export function yookassaNotification(invoice: SandboxInvoice, payUrl: string): string | null {
  const event = EVENTS[invoice.status];
  return event ? JSON.stringify({ type: 'notification', event, object: yookassaPayment(invoice, payUrl) }) : null;
}

interface CreateProblem {
  problem: string;
}

/** The body of POST /payments, validated like the real provider does; the amount in kopeks. */
export function readCreateBody(
  body: Record<string, unknown>,
): CreateProblem | Omit<SandboxInvoice, 'id' | 'createdAt' | 'expiresAt'> {
  const amount = body.amount as { value?: unknown; currency?: unknown } | undefined;
  const match = /^(\d{1,9})\.(\d{2})$/.exec(String(amount?.value ?? ''));
  if (!match || amount?.currency !== 'RUB') return { problem: 'amount' };
  const amountKopeks = Number(match[1]) * 100 + Number(match[2]);
  if (amountKopeks === 0) return { problem: 'amount' };
  const confirmation = body.confirmation as { type?: unknown; return_url?: unknown } | undefined;
  if (confirmation?.type !== 'redirect' || typeof confirmation.return_url !== 'string') return { problem: 'confirmation' };
  const receipt = body.receipt as { customer?: { email?: unknown; phone?: unknown }; items?: unknown } | undefined;
  if (!receipt?.customer?.email && !receipt?.customer?.phone) return { problem: 'receipt' };
  if (!Array.isArray(receipt.items) || receipt.items.length === 0) return { problem: 'receipt' };
  const metadata = (body.metadata ?? {}) as Record<string, unknown>;
  const method = body.payment_method_data as { type?: unknown } | undefined;
  return {
    wire: 'yookassa',
    orderId: String(metadata.order_id ?? randomUUID()),
    status: 'pending',
    amountKopeks,
    currency: 'RUB',
    description: String(body.description ?? ''),
    option: typeof method?.type === 'string' ? method.type : null,
    returnUrl: confirmation.return_url,
    metadata,
    paidAt: null,
  };
}
