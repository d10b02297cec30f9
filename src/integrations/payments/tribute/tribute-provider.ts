import { type PaymentProvider, ProviderError } from '../../../domain/payments/ports.ts';
import { parseWireObject } from '../wire/json.ts';
import type { ProviderAccess } from '../wire/provider-access.ts';
import { providerAccount } from '../wire/provider-account.ts';
import { tributeConnection } from './connection.ts';
import { donationState, isDonation } from './donation-wire.ts';
import { receiveTributeCallback } from './tribute-callback.ts';

const METHOD = 'tribute';

/**
 * Tribute (03a section 2): donations on the page of the author. There is no call that makes one or asks about one: who paid, and how much, is
 * known from the callback alone.
 */
export function tributeProvider(access: ProviderAccess): PaymentProvider {
  const { settings } = access;
  const account = providerAccount(METHOD, 'Tribute', () => tributeConnection(access), access.isOn);
  const impossible = async (): Promise<never> => {
    throw new ProviderError(METHOD, 'rejected', 'Donations have no invoices');
  };

  return {
    method: METHOD,
    initialStatus: 'pending',
    pendingStatuses: [],
    canFetchStatus: false,
    callbackFormats: ['json'],
    asksAboutUnknown: false,
    isConfigured: account.isConfigured,
    hasCredentials: account.hasCredentials,
    paymentPage: () => (account.isConfigured() ? account.required().donateLink : null),
    webhookPath: () => settings.get('TRIBUTE_WEBHOOK_PATH'),
    createInvoice: impossible,
    fetchStatus: impossible,
    receiveCallback: async (callback) => receiveTributeCallback(callback, account.connectionFor(callback)),
    readCallback: (text) => {
      const body = parseWireObject(text);
      return body && isDonation(body) ? donationState(body) : null;
    },
  };
}
