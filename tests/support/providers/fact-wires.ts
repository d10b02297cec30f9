import type { LoopbackRequest } from '../../../packages/sandbox/src/loopback-server.ts';
import { cryptobotSignature } from '../../../src/integrations/payments/cryptobot-provider.ts';
import { pal24Signature } from '../../../src/integrations/payments/pal24-provider.ts';
import { notification as cloudpaymentsNotification } from './cloudpayments-case.ts';
import { signed as heleketCallback } from './heleket-case.ts';
import { notification as orderNotification } from './order-api-case.ts';
import { claimed as plategaCallback } from './platega-case.ts';
import type { RawCallback } from './provider-case.ts';
import type { ProviderFixture } from './provider-fixture.ts';
import { reported as riopayCallback } from './riopay-case.ts';
import { payinCallback } from './severpay-case.ts';
import { donation } from './tribute-case.ts';
import { reported as wataCallback } from './wata-case.ts';

/** Whose money a fact is about, seen from the payment of the table. */
export const FACT_MONEY = ['sameCharge', 'otherCharge', 'otherInvoice', 'otherMerchant', 'unknown'] as const;
export type FactMoney = (typeof FACT_MONEY)[number];
export type FactEvent = 'paid' | 'refund' | 'partial' | 'chargeback';

/** One fact about 500 rubles, in the ids of the provider. `partial` = 200 of them went back. */
export interface Fact {
  event: FactEvent;
  orderId: string;
  invoice: string;
  charge: string;
  /** Null = ours. */
  merchant: string | null;
}

export const FACT_KOPEKS = 50_000;
export const PART_KOPEKS = 20_000;

/** How our record names the invoice and the merchant. */
interface Ours {
  invoice: string;
  merchant: string | null;
}

export interface FactWire {
  /** What the provider cannot report, with the reason (03a). */
  cannot: Partial<Record<FactMoney | FactEvent, string>>;
  /** A callback about an order that is not ours reaches nobody: the provider is asked about known ones only, and it proves nothing. */
  ignoresUnknown?: boolean;
  /** Reversals are seen by asking about the order only, and one that is not ours is not asked about. */
  hidesUnknownReversal?: boolean;
  /** An id of an invoice that is not signed is a hint only: money of it is no second payment. */
  hintsAtInvoice?: boolean;
  /** The callback of the last fact; what the API answers from then on is set at the fixture. */
  report: (fixture: ProviderFixture, history: readonly Fact[], ours: Ours) => RawCallback;
}

const ONE_INVOICE = 'an invoice is paid once: its id is that of the money';
const BY_ORDER = 'the order is the invoice: the provider names no other id of it';
const MERCHANT_KEY = 'the provider signs with the key of the merchant alone';
const ASKED = 'only the invoice of our record is asked about';
const WHOLE = 'the provider gives back whole payments only';
const NO_CHARGEBACK = 'the provider reports no chargebacks';
const NO_REVERSAL = 'the provider reports no reversals';
const noReversals = { refund: NO_REVERSAL, partial: NO_REVERSAL, chargeback: NO_REVERSAL };

const last = (history: readonly Fact[]) => history.at(-1)!;
const reversalId = ({ charge, event }: Fact) => `9${charge}${event === 'partial' ? 1 : 0}`;
const isReversal = ({ event }: Fact) => event !== 'paid';
const backOf = (fact: Fact) => (fact.event === 'partial' ? PART_KOPEKS : FACT_KOPEKS);
const json = (body: object) => ({ status: 200, contentType: 'application/json', body: JSON.stringify(body) });

/** What the API says of one invoice: its latest facts, as the same merchant sees them. */
function viewOf(history: readonly Fact[], isAsked: (fact: Fact) => boolean): Fact[] {
  const latest = history.findLast(isAsked);
  return latest ? history.filter((fact) => isAsked(fact) && fact.merchant === latest.merchant) : [];
}

/** Lets the API answer from now on. */
function answer(fixture: ProviderFixture, of: (request: LoopbackRequest) => object | null): void {
  fixture.intercept((request) => {
    const body = of(request);
    return body && json(body);
  });
}

const lastSegment = ({ path }: LoopbackRequest) => path.split('/').at(-1)!;
const numberIn = ({ body }: LoopbackRequest, name: string) => new RegExp(`"${name}":"?([\\w-]+)`).exec(body)?.[1];

const orderWire = (path: string): FactWire => ({
  cannot: {
    otherInvoice: BY_ORDER,
    otherMerchant: 'the merchant is signed, and another one is refused',
    partial: WHOLE,
    chargeback: NO_CHARGEBACK,
  },
  hidesUnknownReversal: true,
  report: (fixture, history) => {
    answer(fixture, (request) => {
      if (request.path !== '/v1/orders') return null;
      const orderId = numberIn(request, 'paymentId');
      const charges = new Map(history.filter((fact) => fact.orderId === orderId).map((fact) => [fact.charge, fact]));
      const orders = [...charges].map(([charge, fact]) => ({
        merchant_order_id: orderId,
        fk_order_id: Number(charge),
        amount: 500,
        currency: 'RUB',
        status: isReversal(fact) ? 6 : 1,
      }));
      return { type: 'success', pages: 1, orders };
    });
    const { orderId, charge } = last(history);
    // Refunds have no notification of their own: any repeat makes the service ask.
    return orderNotification(fixture, path, { MERCHANT_ORDER_ID: orderId, intid: charge, P_PHONE: String(history.length) });
  },
});

/** How every provider reports facts (03a): the callback as it is on the wire, and what its API answers. */
export const FACT_WIRES: Readonly<Record<string, FactWire>> = {
  cryptobot: {
    cannot: { otherCharge: ONE_INVOICE, otherMerchant: MERCHANT_KEY, ...noReversals },
    report: (fixture, history) => {
      const { invoice, orderId } = last(history);
      const paid = {
        invoice_id: invoice,
        status: 'paid',
        currency_type: 'fiat',
        fiat: 'RUB',
        amount: '500.00',
        payload: orderId,
      };
      const body = JSON.stringify({ update_id: history.length, update_type: 'invoice_paid', payload: paid });
      const signature = cryptobotSignature(Buffer.from(body), fixture.secret);
      return {
        path: '/cryptobot-webhook',
        body,
        headers: { 'content-type': 'application/json', 'crypto-pay-api-signature': signature },
      };
    },
  },
  heleket: {
    cannot: {
      otherCharge: ONE_INVOICE,
      otherMerchant: MERCHANT_KEY,
      partial: WHOLE,
      chargeback: 'transfers cannot be taken back',
    },
    report: (fixture, history) => {
      const { invoice, orderId, event } = last(history);
      const members = { type: 'payment', uuid: invoice, order_id: orderId, amount: '500.00', payment_amount: '5.00000000' };
      const status = event === 'paid' ? 'paid' : 'refund_paid';
      return heleketCallback({ ...members, is_final: true, status, currency: 'RUB' }, fixture.secret);
    },
  },
  yookassa: {
    cannot: { otherCharge: ONE_INVOICE, chargeback: NO_CHARGEBACK },
    report: (fixture, history, ours) => {
      const refundsOf = (view: readonly Fact[]) =>
        view.filter(isReversal).map((fact) => ({
          id: reversalId(fact),
          payment_id: fact.invoice,
          status: 'succeeded',
          amount: { value: (backOf(fact) / 100).toFixed(2), currency: 'RUB' },
        }));
      answer(fixture, (request) => {
        const isList = request.path.startsWith('/refunds');
        const view = viewOf(history, ({ invoice }) =>
          isList ? invoice === last(history).invoice : invoice === lastSegment(request),
        );
        if (isList) return { type: 'list', items: refundsOf(view) };
        const fact = view.at(-1);
        if (!fact) return null;
        return {
          id: fact.invoice,
          status: 'succeeded',
          paid: true,
          amount: { value: '500.00', currency: 'RUB' },
          test: true,
          recipient: { account_id: fact.merchant ?? ours.merchant },
          metadata: { order_id: fact.orderId },
          ...(refundsOf(view).length > 0 ? { refunded_amount: { value: '1.00', currency: 'RUB' } } : {}),
        };
      });
      const fact = last(history);
      const [event, object] = isReversal(fact)
        ? ['refund.succeeded', { id: reversalId(fact), payment_id: fact.invoice }]
        : ['payment.succeeded', { id: fact.invoice, merchant: fact.merchant }];
      const body = JSON.stringify({ type: 'notification', event, object });
      return { path: '/yookassa-webhook', headers: { 'content-type': 'application/json' }, body };
    },
  },
  mulenpay: {
    cannot: { otherCharge: ONE_INVOICE, otherInvoice: ASKED, otherMerchant: ASKED, ...noReversals },
    ignoresUnknown: true,
    report: (fixture, history) => {
      const { orderId } = last(history);
      answer(fixture, (request) => {
        const [fact] = viewOf(history, ({ invoice }) => invoice === lastSegment(request));
        const payment = fact && { id: fact.invoice, uuid: fact.orderId, amount: '500.00', currency: 'rub', status: 3 };
        return payment ? { success: true, payment } : null;
      });
      const body = JSON.stringify({ id: 1, amount: 500, currency: 'RUB', uuid: orderId, payment_status: 'success' });
      return { path: '/mulenpay-webhook', headers: { 'content-type': 'application/json' }, body };
    },
  },
  pal24: {
    cannot: {
      otherCharge: ONE_INVOICE,
      otherMerchant: 'a bill is read with the credentials of the shop, which finds its own only',
    },
    ignoresUnknown: true,
    hintsAtInvoice: true,
    report: (fixture, history, ours) => {
      const fact = last(history);
      answer(fixture, (request) => {
        const id = request.query.get('id') ?? ours.invoice;
        const paid = history.some(({ invoice, event }) => invoice === id && event === 'paid');
        return { success: 'true', id, status: paid ? 'SUCCESS' : 'NEW', amount: '500.00', currency_in: 'RUB' };
      });
      const ids = { BillId: fact.invoice, PaymentId: fact.charge, Id: reversalId(fact) };
      const refund = { Amount: (backOf(fact) / 100).toFixed(2), Currency: 'RUB', ...ids };
      const fields: Record<string, string> =
        fact.event === 'paid' ? { OutSum: '500.00', InvId: fact.orderId } : fact.event === 'chargeback' ? ids : refund;
      const SignatureValue = pal24Signature(Object.values(fields), fixture.secret);
      const more: Record<string, string> = fact.event === 'paid' ? { TrsId: fact.invoice, CurrencyIn: 'RUB' } : {};
      const body = new URLSearchParams({ ...fields, ...more, Status: 'SUCCESS', SignatureValue }).toString();
      return { path: '/pal24-webhook', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body };
    },
  },
  platega: {
    cannot: { otherCharge: ONE_INVOICE, otherInvoice: ASKED, partial: WHOLE },
    ignoresUnknown: true,
    report: (fixture, history, ours) => {
      const wordOf = ({ event }: Fact) => (event === 'paid' ? 'CONFIRMED' : 'CHARGEBACKED');
      answer(fixture, (request) => {
        const fact = viewOf(history, ({ invoice }) => invoice === lastSegment(request)).at(-1);
        if (!fact) return null;
        const money = { paymentDetails: { amount: 500, currency: 'RUB' }, payload: `platega:${fact.orderId}` };
        return { id: fact.invoice, status: wordOf(fact), ...money, mechantId: fact.merchant ?? ours.merchant };
      });
      const fact = last(history);
      const named = { id: fact.invoice, payload: `platega:${fact.orderId}`, status: wordOf(fact), by: fact.merchant };
      return plategaCallback(fixture, named);
    },
  },
  wata: {
    cannot: { chargeback: NO_CHARGEBACK },
    report: (fixture, history) => {
      const fact = last(history);
      return wataCallback(fixture, {
        transactionId: isReversal(fact) ? reversalId(fact) : fact.charge,
        kind: isReversal(fact) ? 'Refund' : 'Payment',
        orderId: fact.orderId,
        paymentLinkId: fact.invoice,
        amount: (isReversal(fact) ? backOf(fact) : FACT_KOPEKS) / 100,
        ...(isReversal(fact) ? { originalTransactionId: fact.charge } : {}),
        ...(fact.merchant ? { terminalPublicId: fact.merchant } : {}),
      });
    },
  },
  freekassa: orderWire('/freekassa-webhook'),
  kassa_ai: orderWire('/kassa-ai-webhook'),
  cloudpayments: {
    cannot: { otherInvoice: BY_ORDER, chargeback: NO_CHARGEBACK },
    report: (fixture, history) => {
      const fact = last(history);
      const named = { InvoiceId: fact.orderId, ...(fact.merchant ? { AccountId: fact.merchant } : {}) };
      if (!isReversal(fact)) return cloudpaymentsNotification(fixture, 'pay', { ...named, TransactionId: fact.charge });
      return cloudpaymentsNotification(fixture, 'refund', {
        ...named,
        TransactionId: reversalId(fact),
        PaymentTransactionId: fact.charge,
        OperationType: 'Refund',
        Amount: (backOf(fact) / 100).toFixed(2),
        Currency: null,
        Status: null,
        GatewayName: null,
      });
    },
  },
  riopay: {
    cannot: { otherCharge: ONE_INVOICE, partial: WHOLE },
    report: (fixture, history) => {
      const { invoice, orderId, merchant, event } = last(history);
      const status = { paid: 'COMPLETED', refund: 'REFUND', partial: '', chargeback: 'CHARGEBACK' }[event];
      return riopayCallback(fixture, { id: invoice, externalId: orderId, status, ...(merchant ? { shopId: merchant } : {}) });
    },
  },
  severpay: {
    cannot: { otherCharge: ONE_INVOICE, ...noReversals },
    report: (fixture, history, ours) => {
      answer(fixture, (request) => {
        const fact = viewOf(history, ({ invoice }) => invoice === numberIn(request, 'id')).at(-1);
        if (!fact) return null;
        const data = { id: Number(fact.invoice), order_id: fact.orderId, amount: 500, currency: 'RUB', status: 'success' };
        return { status: true, msg: '', data: { ...data, mid: fact.merchant ?? ours.merchant } };
      });
      const { invoice, orderId, merchant } = last(history);
      return payinCallback(fixture, { id: Number(invoice), order_id: orderId, by: merchant });
    },
  },
  tribute: {
    cannot: {
      otherCharge: 'a donation has no invoice',
      otherInvoice: 'a donation has no invoice',
      otherMerchant: MERCHANT_KEY,
      unknown: 'a donation has no invoice that could be unknown',
      ...noReversals,
    },
    report: (fixture) => donation(fixture),
  },
};
