import { createHmac } from 'node:crypto';
import {
  type CallbackVerdict,
  type PaymentProvider,
  type PaymentReport,
  type ProviderCallback,
  ProviderError,
} from '../../domain/payments/ports.ts';
import { isEqualBase64, isEqualHex, utf8Text } from './wire/form.ts';
import { dateField, objectField, parseWireObject, plainJson, textField, type WireObject } from './wire/json.ts';
import { type ProviderAccess, providerAccount } from './wire/provider-call.ts';
import { answerOtherMethods, OK, problem } from './wire/replies.ts';

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

const SIGNATURE_HEADER = 'trbt-signature';
const MAX_NAME = 64;

/** HMAC-SHA-256 over the body as received, with the API key. */
export function tributeSignature(body: Buffer, apiKey: string): Buffer {
  return createHmac('sha256', apiKey).update(body).digest();
}

/**
 * Verifies a callback (03a section 2): the whole body is signed. The documentation names no encoding, so that hexadecimal and base64 are read.
 * Events that are no payment are stored too, and change nothing.
 */
export function receiveTributeCallback(callback: ProviderCallback, connection: TributeConnection | null): CallbackVerdict {
  const options = { provider: 'tribute', isConfigured: connection !== null, answersGet: false, answersOptions: true };
  const other = answerOtherMethods(callback, options);
  if (other || !connection) return other ?? problem(503, 'service_not_configured');

  const signature = callback.headers[SIGNATURE_HEADER];
  if (!signature) return problem(401, 'missing_signature');
  const expected = tributeSignature(callback.rawBody, connection.apiKey);
  if (!isEqualHex(signature, expected.toString('hex')) && !isEqualBase64(signature, expected)) {
    return problem(401, 'invalid_signature');
  }

  const body = parseWireObject(utf8Text(callback.rawBody) ?? '');
  if (!body) return problem(400, 'invalid_json');
  const name = textField(body, 'name');
  if (name === null || name === '') return problem(400, 'missing_event');
  if (!isDonation(body)) {
    const eventKey = `${name.slice(0, MAX_NAME)}:${(textField(body, 'created_at') ?? '').slice(0, MAX_NAME)}`;
    return { accepted: true, reference: { externalId: null, orderId: null }, eventKey, reply: OK };
  }
  const state = donationState(body);
  if (!state) return problem(400, 'missing_payment');
  const { externalId, status } = state;
  return { accepted: true, reference: { externalId, orderId: null }, eventKey: `${status}:${externalId}`, reply: OK };
}

/** What the adapter needs of the settings. */
interface TributeConnection {
  /** The author's page where donors choose the sum. */
  donateLink: string;
  /** Key of the signatures. */
  apiKey: string;
}

/** Null while Tribute has no link or no key. */
function tributeConnection({ settings, fake }: Pick<ProviderAccess, 'settings' | 'fake'>): TributeConnection | null {
  const access = fake();
  if (access) return { donateLink: `${access.baseUrl}/donate`, apiKey: access.secret };
  const donateLink = settings.get('TRIBUTE_DONATE_LINK') ?? '';
  const apiKey = settings.get('TRIBUTE_API_KEY') ?? '';
  return donateLink !== '' && apiKey !== '' ? { donateLink, apiKey } : null;
}

/** Events that are money. `cancelled_donation` ends the repetition, and the money stays. */
const PAID_EVENTS: ReadonlySet<string> = new Set(['new_donation', 'recurrent_donation']);

/** Whole minor units, at least one. */
const MINOR_UNITS = /^[1-9]\d{0,11}$/;
const ID = /^[1-9]\d{0,15}$/;
const LINK_ID = /^[\w-]{1,64}$/;
const CREATED_AT = /^[\d:.TZ+-]{10,40}$/;
const CURRENCY = /^[a-z]{3,8}$/i;

/** Whether an event of the provider is a payment. */
function isDonation(body: WireObject): boolean {
  return PAID_EVENTS.has(textField(body, 'name') ?? '');
}

/**
 * The donation of an event (03a section 2); null when it cannot be read. The id of the provider is that of the reusable link and equal for all
 * payments, so that link, donor, sum, currency and creation identify one: `created_at` stays the same in every redelivery.
 */
export function donationState(body: WireObject): PaymentReport | null {
  const payload = objectField(body, 'payload');
  const linkId = textField(payload, 'donation_request_id') ?? '';
  const amount = textField(payload, 'amount') ?? '';
  const currency = (textField(payload, 'currency') ?? '').toUpperCase();
  const createdAt = textField(body, 'created_at') ?? '';
  const donorId = textField(payload, 'telegram_user_id') ?? '';
  const isReadable = LINK_ID.test(linkId) && MINOR_UNITS.test(amount) && CURRENCY.test(currency) && CREATED_AT.test(createdAt);
  if (!isReadable) return null;
  const donor = ID.test(donorId) ? donorId : null;
  return {
    externalId: [linkId, donor ?? 'unknown', amount, currency.toLowerCase(), createdAt].join(':'),
    orderId: null,
    status: textField(body, 'name')!,
    outcome: 'paid',
    ...{ amountKopeks: Number(amount), currency },
    paidAt: dateField(body, 'created_at'),
    donor: { messengerId: donor === null ? null : Number(donor) },
    raw: plainJson(body),
  };
}
