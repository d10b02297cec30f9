import { createHmac } from 'node:crypto';
import { type HttpClient, type HttpRequest, OutboundError } from '../../core/http/http-client.ts';
import {
  type CallbackVerdict,
  type PaymentOutcome,
  type PaymentProvider,
  type ProviderCallback,
  ProviderError,
} from '../../domain/payments/ports.ts';
import { isEqualText } from './wire/form.ts';
import { requireConnection } from './wire/provider-call.ts';
import { jsonReply, OK, problem, refused } from './wire/replies.ts';

const METHOD = 'sandbox';
const SIGNATURE_HEADER = 'x-sandbox-signature';
const OUTCOMES: Readonly<Record<string, PaymentOutcome>> = {
  pending: 'pending',
  paid: 'paid',
  failed: 'failed',
  expired: 'failed',
  underpaid: 'underpaid',
  refunded: 'paid',
};

export interface SandboxPaymentConnection {
  /** Address of the sandbox provider on loopback, no slash at the end. */
  baseUrl: string;
  /** Shared with the sandbox: bearer token of our requests and key of its signatures. */
  secret: string;
  webhookPath: string;
}

interface WireInvoice {
  id: string;
  order_id: string;
  status: string;
  amount_kopeks: number;
  currency: string;
  pay_url: string;
  paid_at: string | null;
  expires_at: string | null;
}

/** Adapter of the sandbox's fake provider, over real HTTP like any other; configured only while the sandbox is on (spec 00). */
export function createSandboxProvider(options: {
  http: HttpClient;
  connection: () => SandboxPaymentConnection | null;
}): PaymentProvider {
  const { http, connection } = options;
  const required = () => requireConnection(METHOD, connection(), 'The sandbox is off');

  return {
    method: METHOD,
    initialStatus: 'pending',
    pendingStatuses: ['pending'],
    canFetchStatus: true,
    callbackFormats: ['json'],
    asksAboutUnknown: true,
    isConfigured: () => connection() !== null,
    hasCredentials: () => connection() !== null,
    webhookPath: () => connection()?.webhookPath ?? '/sandbox-payment-webhook',
    createInvoice: async (request) => {
      const current = required();
      const invoice = await callInvoice(http, current, {
        method: 'POST',
        url: `${current.baseUrl}/invoices`,
        body: JSON.stringify({
          order_id: request.orderId,
          amount_kopeks: request.amountKopeks,
          currency: 'RUB',
          description: request.description,
          option: request.option ?? null,
          return_url: request.returnUrls.result,
          metadata: request.metadata,
        }),
        // The sandbox returns the same invoice for the same order id, so a retry is safe.
        idempotent: true,
      });
      const expiresAt = invoice.expires_at ? new Date(invoice.expires_at) : null;
      return { externalId: invoice.id, paymentUrl: invoice.pay_url, status: invoice.status, expiresAt, raw: invoice };
    },
    fetchStatus: async ({ externalId }) => {
      const current = required();
      if (externalId === null) throw new ProviderError(METHOD, 'rejected', 'The invoice has no id');
      const url = `${current.baseUrl}/invoices/${encodeURIComponent(externalId)}`;
      const invoice = await callInvoice(http, current, { method: 'GET', url });
      return {
        externalId: invoice.id,
        status: invoice.status,
        outcome: OUTCOMES[invoice.status] ?? 'pending',
        amountKopeks: invoice.amount_kopeks,
        currency: invoice.currency,
        orderId: invoice.order_id,
        paidAt: OUTCOMES[invoice.status] === 'paid' && invoice.paid_at ? new Date(invoice.paid_at) : null,
        reversals:
          invoice.status === 'refunded' ? [{ reversalId: `refund-${invoice.id}`, kind: 'refund', amountKopeks: null }] : [],
        raw: invoice,
      };
    },
    receiveCallback: async (callback) => verifyCallback(callback, connection()),
  };
}

async function callInvoice(http: HttpClient, connection: SandboxPaymentConnection, request: HttpRequest): Promise<WireInvoice> {
  try {
    const response = await http.request({
      ...request,
      headers: { authorization: `Bearer ${connection.secret}`, 'content-type': 'application/json' },
    });
    if (response.status !== 200) {
      const failure = response.status >= 500 || response.status === 429 ? 'unavailable' : 'rejected';
      throw new ProviderError(METHOD, failure, `The sandbox provider answered ${response.status}`);
    }
    return JSON.parse(response.text) as WireInvoice;
  } catch (error) {
    if (error instanceof OutboundError || error instanceof SyntaxError) {
      throw new ProviderError(METHOD, 'unavailable', 'The sandbox provider did not answer', { cause: error });
    }
    throw error;
  }
}

/** The signature is mandatory and covers the bytes as received (spec 03 H1, H17), compared in constant time (H18). */
function verifyCallback(callback: ProviderCallback, connection: SandboxPaymentConnection | null): CallbackVerdict {
  if (callback.method === 'GET') {
    return refused(jsonReply(200, { status: 'ok', service: 'sandbox_webhook', enabled: connection !== null }));
  }
  if (!connection) return problem(503, 'service_not_configured');
  const signature = callback.headers[SIGNATURE_HEADER];
  if (!signature) return problem(401, 'missing_signature');
  const expected = createHmac('sha256', connection.secret).update(callback.rawBody).digest('hex');
  if (!isEqualText(signature, expected)) return problem(401, 'invalid_signature');

  const event = parseEvent(callback.rawBody.toString('utf8'));
  if (!event) return problem(400, 'invalid_json');
  const reference = { externalId: event.invoiceId, orderId: null };
  return { accepted: true, reference, eventKey: event.id, reply: OK };
}

function parseEvent(text: string): { id: string; invoiceId: string } | null {
  try {
    const body = JSON.parse(text) as { event_id?: unknown; invoice?: { id?: unknown } };
    if (typeof body.event_id !== 'string' || typeof body.invoice?.id !== 'string') return null;
    return { id: body.event_id, invoiceId: body.invoice.id };
  } catch {
    return null;
  }
}
