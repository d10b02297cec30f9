import type { App } from '../../src/core/app.ts';
import { refuseInsideTransaction } from '../../src/core/db/root-guard.ts';
import {
  type InvoiceRequest,
  type PaymentOutcome,
  type PaymentProvider,
  type PaymentReference,
  type PaymentReport,
  ProviderError,
  type ProviderFailure,
  type ProviderReversal,
} from '../../src/domain/payments/ports.ts';
import { sandboxPaymentMethodIsListed } from './payment-samples.ts';

interface ScriptedInvoice extends Partial<Pick<PaymentReport, 'chargeId' | 'merchantId' | 'isTest' | 'others'>> {
  externalId: string;
  orderId: string;
  status: string;
  outcome: PaymentOutcome;
  amountKopeks: number;
  currency: string;
  reversals?: readonly ProviderReversal[];
}

/**
 * A payment provider in memory behind the port, with the faults of real ones. The signature of its callbacks is the word `genuine`. A call
 * inside of a transaction fails: no lock may be held while a provider answers (spec 03 H19).
 */
export class ScriptedProvider implements PaymentProvider {
  readonly method = 'sandbox';
  readonly initialStatus = 'pending';
  readonly pendingStatuses = ['pending', 'waiting_for_capture'];
  readonly canFetchStatus: boolean = true;
  readonly callbackFormats = ['json'] as const;
  readonly asksAboutUnknown = true;
  readonly invoices = new Map<string, ScriptedInvoice>();
  readonly created: InvoiceRequest[] = [];
  asked = 0;
  configured = true;
  /** Fails the next calls, one each; `after` makes the invoice and loses the answer. */
  createFaults: (ProviderFailure | 'after' | 'crash')[] = [];
  fetchFaults: ProviderFailure[] = [];
  /** Runs while the provider is being asked, e.g. to make something happen in between. */
  whileAsked: () => Promise<void> = async () => undefined;
  paymentUrl = 'https://pay.example.com/';

  isConfigured = () => this.configured;
  hasCredentials = () => this.configured;
  webhookPath = () => '/scripted-webhook';

  createInvoice = async (request: InvoiceRequest) => {
    refuseInsideTransaction('createInvoice');
    const fault = this.createFaults.shift();
    if (fault === 'crash') throw new TypeError('cannot read properties of undefined');
    if (fault && fault !== 'after') throw new ProviderError(this.method, fault, 'scripted');
    this.created.push(request);
    const externalId = `ext-${request.orderId}`;
    this.invoices.set(externalId, {
      externalId,
      orderId: request.orderId,
      status: 'pending',
      outcome: 'pending',
      amountKopeks: request.amountKopeks,
      currency: 'RUB',
    });
    if (fault === 'after') throw new ProviderError(this.method, 'unavailable', 'the answer was lost');
    return { externalId, paymentUrl: `${this.paymentUrl}${request.orderId}`, status: 'pending', expiresAt: null, raw: {} };
  };

  fetchStatus = async ({ externalId, orderId }: PaymentReference) => {
    refuseInsideTransaction('fetchStatus');
    this.asked += 1;
    await this.whileAsked();
    const fault = this.fetchFaults.shift();
    if (fault) throw new ProviderError(this.method, fault, 'scripted');
    const invoice = this.invoices.get(externalId ?? `ext-${orderId}`);
    if (!invoice) throw new ProviderError(this.method, 'rejected', 'no such invoice');
    return { ...invoice, paidAt: invoice.outcome === 'paid' ? new Date('2026-01-02T03:04:05.000Z') : null, raw: { ...invoice } };
  };

  receiveCallback: PaymentProvider['receiveCallback'] = async (callback) => {
    const reply = (status: number) => ({
      status,
      contentType: 'application/json',
      body: JSON.stringify({ status: status === 200 ? 'ok' : 'error' }),
    });
    if (callback.headers['x-signature'] !== 'genuine') return { accepted: false, reply: reply(401) };
    const event = JSON.parse(callback.rawBody.toString('utf8')) as { id: string; payment: string };
    return { accepted: true, reference: { externalId: event.payment, orderId: null }, eventKey: event.id, reply: reply(200) };
  };

  /** The payer's or the provider's step. */
  set(externalId: string, outcome: PaymentOutcome, change: Partial<ScriptedInvoice> = {}): void {
    const words = { paid: 'succeeded', failed: 'canceled', pending: 'pending', underpaid: 'underpaid', blocked: 'blocked' };
    Object.assign(this.invoices.get(externalId)!, { outcome, status: words[outcome] }, change);
  }
}

/** The app with this provider as its only one, and the method listed. */
export async function withProvider(app: App, provider: ScriptedProvider): Promise<App> {
  const payments = { byMethod: (method: string) => (method === provider.method ? provider : undefined), all: () => [provider] };
  const scripted: App = { ...app, ports: { ...app.ports, payments } };
  await sandboxPaymentMethodIsListed(scripted);
  return scripted;
}
