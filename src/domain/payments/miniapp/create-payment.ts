import type { UserActor } from '../../../core/actor.ts';
import type { App } from '../../../core/app.ts';
import { type DeclaredRefusal, isAppError, refusal } from '../../../core/errors.ts';
import { rublesOf } from '../../../core/money.ts';
import { tooManyRequests } from '../../../core/rate-limit.ts';
import { idempotencyKeyInUse } from '../../ledger/run-once.ts';
import { topupRestricted } from '../errors.ts';
import { listPaymentMethodsFor, methodDefaults } from '../payment-methods.ts';
import { findPayment } from '../repo.ts';
import { createStarsInvoice } from '../stars-invoices.ts';
import { topupBalance } from '../topup-balance.ts';
import type { OfferedMethod, Payment } from '../types.ts';

const methodRequired = refusal('method_required', 400, 'Payment method is required');
const methodUnknown = refusal('method_unknown', 400, 'Unknown payment method');
const amountRequired = refusal('amount_required', 400, 'Amount must be positive');
const optionUnavailable = refusal('option_unavailable', 400, 'Selected Platega method is unavailable');
const optionInvalid = refusal('option_invalid', 400, 'Invalid Platega payment option');
const amountOutOfLimits = refusal('amount_out_of_limits', 400, 'Amount exceeds maximum');

export interface MiniappPaymentOrder {
  method: string;
  /** Kopeks; null or 0 = not given. */
  amountKopeks: number | null;
  option: string | null;
  idempotencyKey: string | null;
  /** The payer's address; null = unknown. */
  ip: string | null;
}

/** A payment that was started; kopeks. `extra` is documented by method (spec 02 section 12.5). */
export interface MiniappPayment {
  method: string;
  paymentUrl: string;
  amountKopeks: number;
  extra: Record<string, unknown>;
}

/** Methods whose limits are named in the refusal. */
const NAMES_LIMITS: ReadonlySet<string> = new Set(['cryptobot', 'heleket', 'cloudpayments', 'freekassa']);

/**
 * Starts a top-up from the mini-app: the top-up of the cabinet, with the mini-app's names and refusals. It does
 * nothing inside a transaction while the provider is asked (spec 02 H27).
 * @throws AppError 400 with the documented texts | 403 restricted | 429 | 502 when the provider made no payment
 */
export async function createMiniappPayment(app: App, actor: UserActor, order: MiniappPaymentOrder): Promise<MiniappPayment> {
  const id = order.method.trim().toLowerCase();
  if (id === '') throw methodRequired();
  if (miniappMethodTraits(id) === null) throw methodUnknown();
  const method = (await listMiniappMethods(app, actor.userId)).find((listed) => listed.id === id);
  if (!method) throw methodUnavailable();
  const amountKopeks = order.amountKopeks ?? (method.requiresAmount ? null : method.minAmountKopeks);
  if (amountKopeks === null || amountKopeks <= 0) throw amountRequired();
  if (amountKopeks < method.minAmountKopeks) throw outside(id, 'Amount is below minimum', method.minAmountKopeks);
  if (method.maxAmountKopeks !== null && amountKopeks > method.maxAmountKopeks) {
    throw outside(id, 'Amount exceeds maximum', method.maxAmountKopeks);
  }
  try {
    if (id === 'stars') return await startStars(app, actor, amountKopeks, order.idempotencyKey);
    return await startTopup(app, actor, { ...order, amountKopeks }, method);
  } catch (error) {
    throw isAppError(error) ? renamed(id, error.code, error) : error;
  }
}

async function startTopup(
  app: App,
  actor: UserActor,
  order: MiniappPaymentOrder & { amountKopeks: number },
  method: MiniappMethod,
): Promise<MiniappPayment> {
  const { amountKopeks } = order;
  const option = method.fixedOption ?? optionOf(method, order.option);
  const topup = await topupBalance(app, actor, { amountKopeks, method: method.method, option }, order);
  const payment = topup.paymentId === 0 ? null : await findPayment(app.db, topup.paymentId);
  const requestedAt = wholeSeconds(payment?.createdAt ?? app.clock.now());
  const extra = { ...(payment ? paymentIds(payment) : {}), requested_at: requestedAt };
  return { method: method.id, paymentUrl: topup.paymentUrl, amountKopeks: topup.amountKopeks, extra };
}

/** Only options that the mini-app lists are chosen here; the service's own default applies elsewhere. */
function optionOf(method: MiniappMethod, requested: string | null): string | null {
  const option = requested?.trim().toLowerCase() ?? '';
  if (method.options.length === 0 || option === '') return null;
  if (method.options.some(({ id }) => id === option)) return option;
  if (method.id !== 'platega') throw methodUnavailable();
  throw /^\d+$/.test(option) ? optionUnavailable() : optionInvalid();
}

async function startStars(app: App, actor: UserActor, requestedKopeks: number, key: string | null): Promise<MiniappPayment> {
  const { invoiceUrl, stars, amountKopeks, payload } = await createStarsInvoice(app, actor, requestedKopeks, key);
  const extra = {
    invoice_payload: payload,
    stars_amount: stars,
    requested_amount_kopeks: requestedKopeks,
    requested_at: wholeSeconds(app.clock.now()),
  };
  return { method: 'stars', paymentUrl: invoiceUrl, amountKopeks, extra };
}

/** ISO 8601 in UTC without fractions. */
function wholeSeconds(timestamp: Date): string {
  return `${timestamp.toISOString().slice(0, 19)}Z`;
}

const creationFailed = refusal('payment_creation_failed', 502, 'Failed to create payment');
const urlMissing = refusal('payment_url_missing', 502, 'Failed to obtain payment url');
const belowMinimum = refusal('amount_below_minimum', 400, 'Amount is below minimum');
const aboveMaximum = refusal('amount_above_maximum', 400, 'Amount exceeds maximum');
const methodUnavailable = refusal('method_unavailable', 400, 'Payment method is unavailable');

/** With what the mini-app refuses to start a payment. */
export const MINIAPP_PAYMENT_REFUSES: readonly DeclaredRefusal[] = [
  methodRequired,
  methodUnknown,
  methodUnavailable,
  amountRequired,
  amountOutOfLimits,
  belowMinimum,
  aboveMaximum,
  optionUnavailable,
  optionInvalid,
  topupRestricted,
  idempotencyKeyInUse,
  tooManyRequests,
  creationFailed,
  urlMissing,
];

function outside(id: string, sentence: string, limitKopeks: number) {
  const limit = NAMES_LIMITS.has(id) ? ` (${rublesOf(limitKopeks).toFixed(2)} RUB)` : '';
  return amountOutOfLimits({ detail: `${sentence}${limit}` });
}

/** The refusals of the cabinet's top-up as the mini-app answers them. */
function renamed(id: string, code: string, cause: unknown): unknown {
  switch (code) {
    case 'payment_creation_failed':
      return creationFailed({
        detail: id === 'cryptobot' || id === 'stars' ? 'Failed to create invoice' : 'Failed to create payment',
        cause,
      });
    case 'payment_url_missing':
      return urlMissing({ cause });
    case 'payment_method_off':
    case 'payment_method_unavailable':
      return methodUnavailable();
    case 'amount_below_minimum':
      return belowMinimum();
    case 'amount_above_maximum':
      return aboveMaximum();
    default:
      return cause;
  }
}

/** A payment method under its mini-app name: how it is shown, and which method of the service serves it. */
interface MiniappMethodTraits {
  id: string;
  /** Method of the service, where it has another id. */
  method?: string;
  /** Option of that method that the mini-app lists as a method of its own. */
  fixedOption?: string;
  icon: string;
  /** Only these are named; for the others clients have their own texts. */
  isNamed?: boolean;
}

/** In the order of the answer. */
const METHODS: readonly MiniappMethodTraits[] = [
  { id: 'sandbox', icon: '🧪', isNamed: true },
  { id: 'stars', method: 'messenger_stars', icon: '⭐' },
  { id: 'yookassa_sbp', method: 'yookassa', fixedOption: 'sbp', icon: '🏦' },
  { id: 'yookassa', icon: '💳' },
  { id: 'cloudpayments', icon: '💳' },
  { id: 'freekassa', icon: '💳' },
  { id: 'mulenpay', icon: '💳', isNamed: true },
  { id: 'pal24', icon: '🏦' },
  { id: 'platega', icon: '💳' },
  { id: 'wata', icon: '🌊' },
  { id: 'kassa_ai', icon: '💳', isNamed: true },
  { id: 'riopay', icon: '💳', isNamed: true },
  { id: 'severpay', icon: '💳', isNamed: true },
  { id: 'cryptobot', icon: '🪙' },
  { id: 'heleket', icon: '🪙' },
  { id: 'tribute', icon: '💎' },
];
const BY_ID = new Map(METHODS.map((method) => [method.id, method]));

/** Heleket's own lower limit in the mini-app, kopeks. */
const HELEKET_MIN_KOPEKS = 10_000;

/** A method as the mini-app lists it; kopeks. */
export interface MiniappMethod {
  id: string;
  /** Method and option of the service. */
  method: string;
  fixedOption: string | null;
  name: string | null;
  icon: string;
  requiresAmount: boolean;
  currency: string;
  minAmountKopeks: number;
  /** Null = none. */
  maxAmountKopeks: number | null;
  amountStepKopeks: number | null;
  /** Origin of the page that is shown inside the mini-app; null = the payer is redirected. */
  iframeOrigin: string | null;
  options: { id: string; icon: string; title: string; description: string }[];
}

/** The mini-app's name of a method, and the option that it stands for; null for a name that the mini-app does not know. */
export function miniappMethodTraits(id: string): { method: string; fixedOption: string | null } | null {
  const traits = BY_ID.get(id);
  return traits ? { method: traits.method ?? traits.id, fixedOption: traits.fixedOption ?? null } : null;
}

/**
 * The methods that the user may pay with in the mini-app: those of the cabinet, so with the same filters and limits (spec 03 section
 * 5.1), in the mini-app's order and under its names. @throws AppError 404
 */
export async function listMiniappMethods(app: App, userId: number): Promise<MiniappMethod[]> {
  const offered = new Map((await listPaymentMethodsFor(app, userId)).map((method) => [method.id, method]));
  return METHODS.flatMap((traits) => {
    const method = offered.get(traits.method ?? traits.id);
    return method && isListed(app, traits, method) ? [describe(app, traits, method)] : [];
  });
}

function isListed(app: App, traits: MiniappMethodTraits, method: OfferedMethod): boolean {
  if (traits.fixedOption === undefined) return true;
  if (!app.settings.get('YOOKASSA_SBP_ENABLED')) return false;
  return method.options === null || method.options.some((option) => option.id === traits.fixedOption);
}

function describe(app: App, traits: MiniappMethodTraits, method: OfferedMethod): MiniappMethod {
  const { id } = traits;
  const isStars = id === 'stars';
  const starKopeks = Math.max(1, Math.round(app.settings.get('MESSENGER_STARS_RATE_RUB') * 100));
  const minAmountKopeks = id === 'heleket' ? Math.max(HELEKET_MIN_KOPEKS, method.minAmountKopeks) : method.minAmountKopeks;
  return {
    id,
    method: method.id,
    fixedOption: traits.fixedOption ?? null,
    name: traits.isNamed ? method.name : null,
    icon: traits.icon,
    requiresAmount: id !== 'tribute',
    currency: id === 'platega' ? app.settings.get('PLATEGA_CURRENCY') : 'RUB',
    minAmountKopeks: isStars ? starKopeks : minAmountKopeks,
    maxAmountKopeks: isStars ? null : method.maxAmountKopeks,
    amountStepKopeks: isStars ? starKopeks : null,
    iframeOrigin: id === 'mulenpay' ? originOf(app.settings.get('MULENPAY_IFRAME_EXPECTED_ORIGIN')) : null,
    options: OPTIONS_SHOWN.has(id) ? describeOptions(id, method) : [],
  };
}

/** For the others the provider's own page asks. */
const OPTIONS_SHOWN: ReadonlySet<string> = new Set(['pal24', 'platega']);
const BANK_OPTIONS: ReadonlySet<string> = new Set(['sbp', '2']);

function describeOptions(id: string, method: OfferedMethod): MiniappMethod['options'] {
  const options = [...(method.options ?? [])];
  const order = methodDefaults(id)?.options ?? [];
  options.sort((a, b) => order.indexOf(a.id) - order.indexOf(b.id));
  return options.map((option) => ({
    id: option.id,
    icon: BANK_OPTIONS.has(option.id) ? '🏦' : '💳',
    title: option.name,
    description: option.description,
  }));
}

function originOf(address: string | null): string | null {
  return address !== null && URL.canParse(address) ? new URL(address).origin : null;
}

/** How one method's payments are named in the mini-app: fields of our answers, and fields by which a payment may be asked for. */
interface IdNames {
  /** Names of the provider's id in answers. */
  external?: readonly string[];
  /** Names of our order id in answers. */
  order?: readonly string[];
  /** Names of the chosen option in answers. */
  option?: readonly string[];
  hasStatus?: boolean;
  /** Fields of a query that contain the provider's id or our order id. */
  asksExternal?: readonly PaymentIdField[];
  asksOrder?: readonly PaymentIdField[];
}

type PaymentIdField = 'paymentLinkId' | 'invoiceId' | 'paymentId' | 'payload';

const NAMES: Readonly<Record<string, IdNames>> = {
  yookassa: { external: ['payment_id'], hasStatus: true, asksExternal: ['paymentId'] },
  mulenpay: { external: ['payment_id'] },
  platega: {
    external: ['payment_id'],
    order: ['correlation_id'],
    option: ['selected_option'],
    asksExternal: ['paymentId'],
    asksOrder: ['payload'],
  },
  wata: {
    external: ['payment_link_id', 'payment_id'],
    order: ['order_id'],
    hasStatus: true,
    asksExternal: ['paymentLinkId', 'paymentId', 'invoiceId'],
  },
  pal24: { external: ['bill_id'], order: ['order_id'], option: ['payment_method', 'selected_option'] },
  cryptobot: { external: ['invoice_id'], asksExternal: ['invoiceId'] },
  heleket: { external: ['uuid'], order: ['order_id'], asksExternal: ['paymentId', 'invoiceId'] },
  cloudpayments: { external: ['invoice_id'], asksExternal: ['invoiceId', 'paymentId'] },
  freekassa: { order: ['order_id'], asksOrder: ['paymentId'] },
};
/** Methods that the mini-app of others does not know. */
const USUAL: IdNames = { external: ['payment_id'], order: ['order_id'], asksExternal: ['paymentId'] };

/** How the mini-app asks for a payment: any of its ids as the answer of its creation named them. */
export interface PaymentQuery extends Partial<Record<PaymentIdField, string | null | undefined>> {
  method: string;
  localPaymentId?: number | null | undefined;
  amountKopeks?: number | null | undefined;
  startedAt?: string | null | undefined;
}

/** The ids of a payment under the names that the mini-app knows for its method. */
export function paymentIds(payment: Pick<Payment, 'id' | 'method' | 'externalId' | 'orderId' | 'option' | 'status'>) {
  const names = NAMES[payment.method] ?? USUAL;
  const named = (keys: readonly string[] | undefined, value: string | null) => (keys ?? []).map((key) => [key, value] as const);
  return {
    local_payment_id: payment.id,
    ...Object.fromEntries([
      ...named(names.external, payment.externalId),
      ...named(names.order, payment.orderId),
      ...named(names.option, payment.option),
    ]),
    ...(payment.method === 'platega' ? { payload: `${PLATEGA_PREFIX}${payment.orderId}` } : {}),
    ...(names.hasStatus ? { status: payment.status } : {}),
  };
}

const PLATEGA_PREFIX = 'platega:';

/** By which id a payment is to be looked up; null = the query names none that the method has. */
export function requestedId(
  method: string,
  query: PaymentQuery,
): { local: number } | { external: string } | { order: string } | null {
  if (query.localPaymentId != null) return { local: query.localPaymentId };
  const names = NAMES[method] ?? USUAL;
  const first = (fields: readonly PaymentIdField[] | undefined) => fields?.map((field) => query[field]?.trim()).find(Boolean);
  const external = first(names.asksExternal);
  if (external) return { external };
  const order = first(names.asksOrder);
  return order ? { order: order.replace(PLATEGA_PREFIX, '') } : null;
}
