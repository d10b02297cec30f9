import type { App } from '../../core/app.ts';
import { noPaymentUrl } from './errors.ts';
import type { CreatedInvoice, InvoiceRequest, PaymentProvider } from './ports.ts';
import { attachInvoice, insertPayment, markInvoiceFailed } from './repo.ts';
import { newOrderId, webUrl } from './rules.ts';

/** An invoice before the provider has heard of it; kopeks. */
export interface InvoiceDraft {
  provider: PaymentProvider;
  /** Null for people without an account. */
  userId: number | null;
  amountKopeks: number;
  description: string;
  /** Sub-option of the method. */
  option: string | null;
  /** What the money is for; decides who takes it when it comes (`PaymentPurpose`). */
  purpose: string;
  payerEmail: string | null;
  returnUrl: string | null;
  metadata: InvoiceRequest['metadata'];
}

/** A stored invoice that the provider has to be asked for, after commit. */
export interface PreparedInvoice {
  paymentId: number;
  provider: PaymentProvider;
  request: InvoiceRequest;
}

/**
 * Writes the record of an invoice, purpose included, in the caller's transaction: it is committed before the provider is called, so
 * that no callback can come too early (spec 03 H4).
 */
export async function prepareInvoice(t: App, draft: InvoiceDraft): Promise<PreparedInvoice> {
  const { provider, userId, amountKopeks, description, option, purpose, payerEmail, returnUrl, metadata } = draft;
  const orderId = newOrderId(t.random);
  const paymentId = await insertPayment(t.db, {
    method: provider.method,
    userId,
    orderId,
    amountKopeks,
    description,
    status: provider.initialStatus,
    option,
    purpose,
    now: t.clock.now(),
  });
  const request = {
    paymentId,
    orderId,
    amountKopeks,
    description,
    ...(option === null ? {} : { option }),
    ...(payerEmail === null ? {} : { payerEmail }),
    returnUrl,
    metadata,
  };
  return { paymentId, provider, request };
}

/**
 * Asks the provider for a prepared invoice, outside of any transaction: it may take seconds. A failed call leaves a failed record,
 * which a late success would still find by its order id.
 * @returns where the payer pays
 * @throws what the provider's adapter threw (`ProviderError`); AppError 500 'Payment URL not received'
 */
export async function requestInvoice(app: App, { paymentId, provider, request }: PreparedInvoice): Promise<string> {
  let invoice: CreatedInvoice;
  try {
    invoice = await provider.createInvoice(request);
  } catch (error) {
    app.log.warn({ err: error, paymentId, method: provider.method }, 'an invoice could not be made');
    await markInvoiceFailed(app.db, paymentId, app.clock.now());
    throw error;
  }
  await attachInvoice(app.db, paymentId, invoice, app.clock.now());
  const paymentUrl = webUrl(invoice.paymentUrl);
  if (paymentUrl === null) {
    await markInvoiceFailed(app.db, paymentId, app.clock.now());
    throw noPaymentUrl();
  }
  return paymentUrl;
}
