import type { UserActor } from '../../core/actor.ts';
import type { App } from '../../core/app.ts';
import { repeatWhenLost } from '../../core/db/db-errors.ts';
import { isAppError, rethrowUnavailable } from '../../core/errors.ts';
import { formatPrice } from '../../core/money.ts';
import { limitOrRefuse } from '../../core/rate-limit.ts';
import { requireUser } from '../identity/find-user.ts';
import type { UserRecord } from '../identity/types.ts';
import { isAnswered, runOnceAround } from '../ledger/run-once.ts';
import {
  aboveMaximum,
  belowMinimum,
  invoiceFailed,
  methodNotOffered,
  methodSwitchedOff,
  noPaymentUrl,
  starsOnlyInBot,
  topupFailed,
  topupRestricted,
} from './errors.ts';
import { listPaymentMethodsFor, type MethodDefaults, methodDefaults, methodOptions, providerOf } from './payment-methods.ts';
import { topupDescription } from './payment-texts.ts';
import { type CreatedInvoice, type InvoiceRequest, type PaymentProvider, ProviderError, type ReturnUrls } from './ports.ts';
import { knownLimits, withinProviderLimits } from './provider-limits.ts';
import { attachInvoice, insertPayment, markInvoiceFailed } from './repo.ts';
import { newOrderId, webUrl } from './rules.ts';
import type { OfferedMethod } from './types.ts';

export interface TopupRequest {
  amountKopeks: number;
  method: string;
  option: string | null;
}

export interface Topup {
  /** Zero where the provider makes no invoices, so that nothing is stored before the money comes. */
  paymentId: number;
  paymentUrl: string;
  amountKopeks: number;
}

type PreparedTopup = { method: MethodDefaults; invoice: PreparedInvoice } | { page: string; amountKopeks: number };

/** Calls that create invoices, per user and minute. */
const CALLS_A_MINUTE = 10;

/**
 * Counts a call that creates an invoice. A repeat that gets the stored answer is not counted.
 * @throws AppError 429 | ValidationError 422 for a key that is too long
 */
export async function limitInvoices(app: App, actor: UserActor, idempotencyKey: string | null): Promise<void> {
  if (await isAnswered(app, actor, idempotencyKey)) return;
  await limitOrRefuse(app, `topup:user:${actor.userId}`, CALLS_A_MINUTE, 60);
}

/**
 * Starts a top-up: the record is committed before the provider is called, so that no callback can come too early
 * (spec 03 H4); the call runs outside of any transaction; its answer is stored in a second one. A failed call leaves a failed record, which a
 * late success still finds by its order id.
 * @param caller `idempotencyKey`: a repeat gets the first answer, payment URL included; `ip`: the payer's address, null = unknown
 * @throws AppError 400 | 403 | 404 | 429 | 500 | 502 with the texts of spec 03 section 3 | 409 and 422 of the key
 */
export async function topupBalance(
  app: App,
  actor: UserActor,
  request: TopupRequest,
  { idempotencyKey, ip = null }: { idempotencyKey: string | null; ip?: string | null },
): Promise<Topup> {
  await limitInvoices(app, actor, idempotencyKey);
  return runOnceAround(
    app,
    actor,
    { key: idempotencyKey, operation: 'balance.topup', input: request },
    (t) => prepareTopup(t, actor.userId, request, ip),
    (prepared) => openTopup(app, prepared),
  );
}

async function prepareTopup(t: App, userId: number, request: TopupRequest, payerIp: string | null): Promise<PreparedTopup> {
  const user = await requireUser(t, userId);
  if (user.restrictionTopup) throw topupRestricted();
  const offered = (await listPaymentMethodsFor(t, userId)).find((method) => method.id === request.method);
  const method = methodDefaults(request.method);
  if (!offered || !method) throw methodNotOffered();
  if (request.amountKopeks < offered.minAmountKopeks) throw belowMinimum(offered.minAmountKopeks);
  if (request.amountKopeks > offered.maxAmountKopeks) throw aboveMaximum(offered.maxAmountKopeks);
  if (method.id === 'messenger_stars') throw starsOnlyInBot(t.settings.get('BOT_USERNAME'));
  const provider = providerOf(t, method);
  if (!provider?.isConfigured()) throw methodSwitchedOff(method.name);
  if (provider.paymentPage) return { page: paymentPageOf(provider.paymentPage()), amountKopeks: request.amountKopeks };

  const option = chooseOption(t, method, offered, request.option);
  await checkOptionLimits(t, provider, option, request.amountKopeks);

  const invoice = await prepareInvoice(t, {
    provider,
    userId,
    amountKopeks: request.amountKopeks,
    description: invoiceDescription(t, provider.method, user, request.amountKopeks),
    option,
    purpose: 'balance_topup',
    payerEmail: user.email,
    payerIp,
    returnUrls: returnUrls(t, method),
    metadata: {
      user_id: userId,
      user_messenger_id: user.messengerId,
      user_username: user.username,
      amount_kopeks: request.amountKopeks,
      type: 'balance_topup',
    },
  });
  return { method, invoice };
}

/** The limits of one way to pay may be narrower than those of the method. @throws AppError 400 */
async function checkOptionLimits(t: App, provider: PaymentProvider, option: string | null, amountKopeks: number): Promise<void> {
  if (option === null) return;
  const any = { minKopeks: 0, maxKopeks: Number.MAX_SAFE_INTEGER };
  const { minKopeks, maxKopeks } = withinProviderLimits(any, [option], await knownLimits(t, provider));
  if (amountKopeks < minKopeks) throw belowMinimum(minKopeks);
  if (amountKopeks > maxKopeks) throw aboveMaximum(maxKopeks);
}

function paymentPageOf(page: string | null): string {
  const url = webUrl(page);
  if (url === null) throw noPaymentUrl();
  return url;
}

async function openTopup(app: App, prepared: PreparedTopup): Promise<Topup> {
  if ('page' in prepared) return { paymentId: 0, paymentUrl: prepared.page, amountKopeks: prepared.amountKopeks };
  const { method, invoice } = prepared;
  const { paymentId, request } = invoice;
  try {
    return { paymentId, paymentUrl: await requestInvoice(app, invoice), amountKopeks: request.amountKopeks };
  } catch (error) {
    rethrowUnavailable(error);
    throw isAppError(error) ? error : invoiceRefusal(method, error);
  }
}

function invoiceRefusal(method: MethodDefaults, error: unknown) {
  if (!(error instanceof ProviderError)) return topupFailed({ cause: error });
  return error.failure === 'not_configured' ? methodSwitchedOff(method.name) : invoiceFailed(method, error);
}

/**
 * The option of the invoice: the fixed one of the method, else the requested one, else the first that is on. An option that is switched
 * off or unknown is refused like the whole method.
 */
function chooseOption(app: App, method: MethodDefaults, offered: OfferedMethod, requested: string | null): string | null {
  if (method.fixedOption) return method.fixedOption;
  if (method.options.length === 0) return null;
  const shown = offered.options?.map((option) => option.id) ?? methodOptions(app, method);
  if (requested === null || requested === '') return shown[0] ?? null;
  if (!shown.includes(requested)) throw methodNotOffered();
  return requested;
}

/** Amount, and the id by which support finds the payer. */
function invoiceDescription(app: App, provider: string, user: UserRecord, amountKopeks: number): string {
  const payer = user.messengerId === null ? '' : ` (ID ${user.messengerId})`;
  return topupDescription(app, provider, user.language, `${formatPrice(amountKopeks, false)}${payer}`);
}

/** Pages of the cabinet to which the payer returns. */
function returnUrls(app: App, method: MethodDefaults): ReturnUrls {
  const result = `${app.settings.get('CABINET_URL').replace(/\/+$/, '')}/balance/top-up/result?method=${method.id}`;
  return { result, success: `${result}&status=success`, failed: `${result}&status=failed` };
}

/** An invoice that is not stored yet; kopeks. */
interface InvoiceDraft {
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
