import type { App } from '../../core/app.ts';
import { repeatWhenLost } from '../../core/db/repeat-lost.ts';
import { rethrowUnavailable } from '../../core/errors.ts';
import { noPaymentUrl } from './errors.ts';
import type { CreatedInvoice, InvoiceRequest, PaymentProvider, ReturnUrls } from './ports.ts';
import { attachInvoice, insertPayment, markInvoiceFailed } from './repo.ts';
import { newOrderId, webUrl } from './rules.ts';

/** An invoice that is not stored yet; kopeks. */
export interface InvoiceDraft {
  provider: PaymentProvider;
  /** Null for people without an account. */
  userId: number | null;
  amountKopeks: number;
  description: string;
  /** Sub-option of the method. */
  option: string | null;
  /** What the money is for; selects the `PaymentPurpose` that applies it. */
  purpose: string;
  payerEmail: string | null;
  /** Null = unknown. */
  payerIp: string | null;
  returnUrls: ReturnUrls;
  metadata: InvoiceRequest['metadata'];
}

/** A stored invoice that has to be requested from the provider, after commit. */
export interface PreparedInvoice {
  paymentId: number;
  provider: PaymentProvider;
  request: InvoiceRequest;
}

/**
 * Stores an invoice in the caller's transaction. It is committed before the provider is called, so that no callback can come too early
 * (spec 03 H4).
 */
export async function prepareInvoice(t: App, draft: InvoiceDraft): Promise<PreparedInvoice> {
  const { provider, userId, amountKopeks, description, option, purpose, payerEmail, payerIp, returnUrls, metadata } = draft;
  const orderId = newOrderId(t.random);
  const payment = {
    method: provider.method,
    userId,
    orderId,
    amountKopeks,
    description,
    status: provider.initialStatus,
    option,
    purpose,
  };
  const paymentId = await insertPayment(t.db, payment, t.clock.now());
  const request = {
    paymentId,
    orderId,
    amountKopeks,
    description,
    ...(option === null ? {} : { option }),
    ...(payerEmail === null ? {} : { payerEmail }),
    ...(payerIp === null ? {} : { payerIp }),
    returnUrls,
    metadata,
  };
  return { paymentId, provider, request };
}

/**
 * Requests a prepared invoice from the provider, outside of any transaction because it may take seconds. A failed call leaves a failed
 * record, which a late success still finds by its order id. When the answer cannot be stored, the record stays open: a callback and the check
 * at its expiry find the provider's invoice by its order id (spec 10 D1).
 * @returns the URL of the payment page
 * @throws what the provider's adapter threw (`ProviderError`); AppError 500 'Payment URL not received'
 */
export async function requestInvoice(app: App, { paymentId, provider, request }: PreparedInvoice): Promise<string> {
  let invoice: CreatedInvoice;
  try {
    invoice = await provider.createInvoice(request);
  } catch (error) {
    // Of an adapter that reads or stores something: whether the provider made the invoice is unknown, and the record stays open.
    rethrowUnavailable(error);
    app.log.warn({ err: error, paymentId, method: provider.method }, 'an invoice could not be created');
    await markInvoiceFailed(app.db, paymentId, app.clock.now());
    throw error;
  }
  await repeatWhenLost(app, () => attachInvoice(app.db, paymentId, invoice, app.clock.now()));
  const paymentUrl = webUrl(invoice.paymentUrl);
  if (paymentUrl === null) {
    await markInvoiceFailed(app.db, paymentId, app.clock.now());
    throw noPaymentUrl();
  }
  return paymentUrl;
}
