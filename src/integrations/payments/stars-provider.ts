import { MessengerError, type MessengerPort } from '../../domain/messaging/ports.ts';
import {
  type CreatedInvoice,
  type InvoiceRequest,
  type PaymentProvider,
  ProviderError,
  type RefundAnswer,
  type RefundRequest,
} from '../../domain/payments/ports.ts';

const METHOD = 'messenger_stars';
/** The messenger's own limit. */
const MAX_STARS = 10_000;

interface StarsConnection {
  /** `MESSENGER_STARS_ENABLED`. */
  enabled: boolean;
  /** Title of the invoice for the payer. */
  title: string;
}

export interface StarsOptions {
  messenger: Pick<MessengerPort, 'isConfigured' | 'createStarsInvoiceLink' | 'refundStars'>;
  connection: () => StarsConnection;
}

/**
 * Messenger Stars (03a section 1). The invoice is a link with our order id as its payload; pre-checkout and payment arrive as messenger
 * updates, and the charge id of the payment identifies the money.
 */
export function createStarsProvider({ messenger, connection }: StarsOptions): PaymentProvider {
  const isConfigured = () => connection().enabled && messenger.isConfigured();

  const createInvoice = async ({ orderId, description, stars }: InvoiceRequest): Promise<CreatedInvoice> => {
    if (!isConfigured()) throw new ProviderError(METHOD, 'not_configured', 'Stars are not configured');
    if (stars === undefined || !Number.isSafeInteger(stars) || stars < 1 || stars > MAX_STARS) {
      throw new ProviderError(METHOD, 'rejected', 'An invoice is of 1 to 10000 stars, which are stored before');
    }
    const { title } = connection();
    const request = { title, description, payload: orderId, stars };
    const paymentUrl = await called(messenger.createStarsInvoiceLink(request), 'The messenger created no invoice');
    return { externalId: orderId, paymentUrl, status: 'pending', expiresAt: null, raw: { stars, link: paymentUrl } };
  };

  const refund = async ({ chargeId, payerMessengerId, isWhole }: RefundRequest): Promise<RefundAnswer> => {
    if (!isWhole) throw new ProviderError(METHOD, 'rejected', 'A payment in Stars is given back as a whole');
    if (chargeId === null || payerMessengerId == null) {
      throw new ProviderError(METHOD, 'rejected', 'The charge or its payer is not known');
    }
    await called(messenger.refundStars(payerMessengerId, chargeId), 'The messenger gave nothing back');
    return { reversalId: chargeId, state: 'done' };
  };

  return {
    method: METHOD,
    initialStatus: 'pending',
    pendingStatuses: ['pending'],
    canFetchStatus: false,
    callbackFormats: [],
    asksAboutUnknown: false,
    isConfigured,
    hasCredentials: () => messenger.isConfigured(),
    webhookPath: () => null,
    createInvoice,
    refund,
    fetchStatus: async () => {
      throw new ProviderError(METHOD, 'rejected', 'The status of Stars payments cannot be requested; the messenger reports them');
    },
    receiveCallback: async () => ({
      accepted: false,
      reply: { status: 404, contentType: 'application/json', body: JSON.stringify({ detail: 'Not Found' }) },
    }),
  };
}

/** @throws ProviderError in place of a failure of the messenger */
async function called<T>(answer: Promise<T>, problem: string): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof MessengerError)) throw error;
    const { kind } = error.failure;
    const mayPass = kind === 'unavailable' || kind === 'rate_limited';
    throw new ProviderError(METHOD, mayPass ? 'unavailable' : 'rejected', problem, { cause: error });
  }
}
