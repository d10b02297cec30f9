import { MessengerError, type MessengerPort } from '../../../domain/messaging/ports.ts';
import { type CreatedInvoice, type InvoiceRequest, type PaymentProvider, ProviderError } from '../../../domain/payments/ports.ts';

const METHOD = 'messenger_stars';
const MAX_PAYLOAD_BYTES = 128;

export interface StarsConnection {
  /** `MESSENGER_STARS_ENABLED`. */
  enabled: boolean;
  /** Title of the invoice for the payer. */
  title: string;
}

export interface StarsOptions {
  messenger: Pick<MessengerPort, 'isConfigured' | 'createStarsInvoiceLink'>;
  connection: () => StarsConnection;
  /** The domain's rule at the current rate (`starsForKopeks`). */
  starsFor: (amountKopeks: number) => number;
}

/**
 * Messenger Stars (spec 03 section 2.5). The invoice is a link; pre-checkout and payment arrive as messenger updates, and the charge id
 * of the payment is the key of its credit. Until then the payload serves as external id.
 */
export function createStarsProvider({ messenger, connection, starsFor }: StarsOptions): PaymentProvider {
  const isConfigured = () => connection().enabled && messenger.isConfigured();

  const createInvoice = async (request: InvoiceRequest): Promise<CreatedInvoice> => {
    if (!isConfigured()) throw new ProviderError(METHOD, 'not_configured', 'Stars are not configured');
    const payload = request.payload ?? `balance_${request.orderId}`;
    if (payload === '' || Buffer.byteLength(payload) > MAX_PAYLOAD_BYTES) {
      throw new ProviderError(METHOD, 'rejected', 'The invoice payload must be 1 to 128 bytes long');
    }
    const stars = starsFor(request.amountKopeks);
    try {
      const paymentUrl = await messenger.createStarsInvoiceLink({
        title: connection().title,
        description: request.description,
        payload,
        stars,
      });
      return { externalId: payload, paymentUrl, status: 'pending', expiresAt: null, raw: { payload, stars, link: paymentUrl } };
    } catch (error) {
      if (!(error instanceof MessengerError)) throw error;
      const { kind } = error.failure;
      const retryable = kind === 'unavailable' || kind === 'rate_limited';
      throw new ProviderError(METHOD, retryable ? 'unavailable' : 'rejected', 'The messenger created no invoice', {
        cause: error,
      });
    }
  };

  return {
    method: METHOD,
    initialStatus: 'pending',
    pendingStatuses: ['pending'],
    canFetchStatus: false,
    callbackFormats: [],
    asksAboutUnknown: false,
    isConfigured,
    webhookPath: () => null,
    createInvoice,
    fetchStatus: async () => {
      throw new ProviderError(METHOD, 'rejected', 'The status of Stars payments cannot be requested; the messenger reports them');
    },
    receiveCallback: async () => ({
      accepted: false,
      reply: { status: 404, contentType: 'application/json', body: JSON.stringify({ detail: 'Not Found' }) },
    }),
  };
}
