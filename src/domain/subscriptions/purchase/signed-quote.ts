import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import type { App } from '../../../core/app.ts';
import { MINUTE_MS } from '../../../core/clock.ts';
import { refusal, ValidationError } from '../../../core/errors.ts';
import { storedSecret } from '../../../core/stored-secret.ts';
import type { QuotableOrder } from '../order.ts';

export const quoteChanged = refusal('quote_changed', 409, {
  code: 'quote_changed',
  message: 'The quote has expired. Nothing was charged.',
  reason: 'expired',
  price_kopeks: 1,
  quote: '<id>',
});

/** One order of one user, and what it costs. */
export interface QuotedSale {
  order: QuotableOrder;
  /** What is delivered for it, beyond what the buyer chose; the same for the preview and for the sale. */
  delivered: Terms;
  userId: number;
  priceKopeks: number;
}

type Terms = Readonly<Record<string, string | number | null | readonly string[]>>;

/** What a preview returns, with the quote of its price. */
export type Quoted<T> = T & { quote: string };

/** How long a price that was shown can be asked for, milliseconds. */
const QUOTE_MS = 10 * MINUTE_MS;

/** Of the form below; a quote of another version is refused like a forged one. */
const VERSION = 1;

/** What a quote states, readable by whoever holds it. */
const Claims = z.strictObject({
  version: z.literal(VERSION),
  product: z.string(),
  user_id: z.int(),
  /** Hash of the terms. */
  terms: z.string(),
  price_kopeks: z.int(),
  /** UTC. */
  expires_at: z.iso.datetime(),
});
type Claims = z.output<typeof Claims>;

/** Row of `service_state`: also where there is no cabinet, and so no secret in the environment, the mini-app sells. */
const SECRET = 'quotes:secret';

/** Longer than any quote, so that no long text is decoded. */
const MAX_LENGTH = 1_000;

/**
 * Signs quotes made at one time: base64url of the claims, a dot, and the signature (HMAC-SHA-256, base64url). A quote reserves nothing: it
 * only says which price the buyer agreed to.
 */
export async function quoteSigner(app: App): Promise<(sale: QuotedSale) => string> {
  return signerOf(await storedSecret(app, SECRET), app.clock.now());
}

function signerOf(secret: string, now: Date): (sale: QuotedSale) => string {
  const expiresAt = new Date(now.getTime() + QUOTE_MS).toISOString();
  return ({ order, delivered, userId, priceKopeks }) => {
    const claims: Claims = {
      ...{ version: VERSION, product: order.kind, user_id: userId, terms: hashOf(termsOf(order, delivered)) },
      ...{ price_kopeks: priceKopeks, expires_at: expiresAt },
    };
    const text = Buffer.from(JSON.stringify(claims)).toString('base64url');
    return `${text}.${signatureOf(secret, text).toString('base64url')}`;
  };
}

/** The quote of one sale, see `quoteSigner`. */
export async function signQuote(app: App, sale: QuotedSale): Promise<string> {
  return (await quoteSigner(app))(sale);
}

/** A quote that a client sent back with a purchase. */
export interface GivenQuote {
  text: string;
  /** Null = this service has not signed it. */
  claims: Claims | null;
  /** Of the quote that answers it. */
  sign: (sale: QuotedSale) => string;
}

/**
 * Reads a quote that was sent back, before the transaction of the sale: the secret must not be made, nor waited for, under its locks.
 * @param text null or undefined = the client sent none
 */
export async function readGivenQuote(app: App, text: string | null | undefined): Promise<GivenQuote | null> {
  if (text == null) return null;
  const secret = await storedSecret(app, SECRET);
  return { text, claims: readQuote(secret, text), sign: signerOf(secret, app.clock.now()) };
}

/**
 * Refuses a sale that is not the one quoted, before anything is charged. Called with the current price, under the locks of the sale.
 * @param given null = none, and whatever the price is may be charged
 * @throws ValidationError 422 for a text that this service has not signed for this user and product |
 *   AppError 409 quote_changed `{code, message, reason, price_kopeks, quote}` with the new quote; reason: `price` | `terms` | `expired`
 */
export function requireQuoted(given: GivenQuote | null, sale: QuotedSale, now: Date): void {
  if (given === null) return;
  const { text, claims, sign } = given;
  if (claims?.product !== sale.order.kind || claims.user_id !== sale.userId) {
    const issue = { loc: ['body', 'quote'], type: 'quote_invalid', msg: 'This is no quote for this purchase', input: text };
    throw new ValidationError([issue]);
  }
  const reason = changeOf(claims, sale, now);
  if (reason === null) return;
  throw quoteChanged({
    detail: {
      ...{ code: 'quote_changed', message: MESSAGES[reason], reason },
      ...{ price_kopeks: sale.priceKopeks, quote: sign(sale) },
    },
  });
}

const MESSAGES = {
  terms: 'The quote is for another order. Nothing was charged.',
  price: 'The price has changed since the quote. Nothing was charged.',
  expired: 'The quote has expired. Nothing was charged.',
} as const;

function changeOf(claims: Claims, sale: QuotedSale, now: Date): keyof typeof MESSAGES | null {
  if (claims.terms !== hashOf(termsOf(sale.order, sale.delivered))) return 'terms';
  if (claims.price_kopeks !== sale.priceKopeks) return 'price';
  return new Date(claims.expires_at) <= now ? 'expired' : null;
}

/** @returns null for anything that this service has not signed */
function readQuote(secret: string, given: string): Claims | null {
  const [text, signature, ...rest] = given.length > MAX_LENGTH ? [] : given.split('.');
  if (text === undefined || signature === undefined || rest.length > 0) return null;
  const expected = signatureOf(secret, text);
  const actual = Buffer.from(signature, 'base64url');
  if (actual.length !== expected.length || !timingSafeEqual(actual, expected)) return null;
  const parsed = Claims.safeParse(JSON.parse(Buffer.from(text, 'base64url').toString('utf8')));
  return parsed.success ? parsed.data : null;
}

function signatureOf(secret: string, text: string): Buffer {
  return createHmac('sha256', secret).update(text).digest();
}

/**
 * Everything that the buyer chose, and what is delivered for it. Where what is delivered says more than the choice, it stands for it. A release
 * that changes these terms refuses the quotes that the previous one has signed.
 */
function termsOf(order: QuotableOrder, delivered: Terms): Terms {
  switch (order.kind) {
    case 'classic': {
      const { periodDays, trafficGb, squadUuids, devices } = order;
      return { periodDays, trafficGb, servers: squadUuids.toSorted(), devices, ...delivered };
    }
    case 'tariff':
      return { tariffId: order.tariffId, periodDays: order.periodDays, ...delivered };
    default: {
      const { kind: _, ...choice } = order;
      return { ...choice, ...delivered };
    }
  }
}

/** The order of the names does not count; that of a list does. */
function hashOf(terms: Terms): string {
  const entries = Object.entries(terms).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(entries)).digest('base64url');
}
