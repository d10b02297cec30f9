/** Top-ups by every method, and what payers and providers do with the invoices. */
import { setTimeout as wait } from 'node:timers/promises';
import type { InvoiceAction } from '../../../../sandbox/src/payments/invoice.ts';
import type { Answer } from '../requester.ts';
import { countOne, type DrillContext, perform } from './drill-context.ts';
import type { Person } from './people.ts';

/** Every method with invoices; `freekassa` also by its two methods of its own. */
export const INVOICE_METHODS = [
  'cryptobot',
  'heleket',
  'yookassa',
  'mulenpay',
  'pal24',
  'platega',
  'wata',
  'freekassa',
  'freekassa_sbp',
  'freekassa_card',
  'cloudpayments',
  'kassa_ai',
  'riopay',
  'severpay',
] as const;

/** Chosen twice as often: the service asks them for refunds, and reads there what became of one. */
const REFUNDING_METHODS = ['yookassa', 'platega', 'wata', 'cloudpayments', 'riopay'] as const;

/** Their payers pay what is asked, or nothing. */
const EXACT_METHODS: ReadonlySet<string> = new Set(['wata', 'cloudpayments']);
const MIN_KOPEKS = 20_000;
const MAX_KOPEKS = 200_000;
const MAX_DELAY_MS = 2_000;

/** What becomes of an invoice, with its weight. */
const FATES: readonly (readonly [weight: number, fate: Fate])[] = [
  [34, async (act) => void (await act('pay'))],
  [8, async (act) => void (await act('overpay'))],
  [5, async (act) => void (await act('underpay'))],
  [
    4,
    async (act, later) => {
      await act('underpay');
      await later();
      await act('pay');
    },
  ],
  [
    6,
    async (act, later) => {
      await act('fail');
      await later();
      await act('pay');
    },
  ],
  [
    5,
    async (act, later) => {
      await act('expire');
      await later();
      await act('pay');
    },
  ],
  [3, async (act) => void (await act('fail'))],
  [5, async () => undefined],
  [
    6,
    async (act, later) => {
      await act('pay');
      await later();
      await act('refund');
    },
  ],
  [
    6,
    async (act, later, amountKopeks) => {
      await act('pay');
      await later();
      await act('refund', Math.floor(amountKopeks / 4));
      await later();
      await act('refund', Math.floor(amountKopeks / 3));
    },
  ],
  [
    4,
    async (act, later) => {
      await act('pay');
      await later();
      await act('chargeback');
    },
  ],
  // The money is back before the callback of its payment has been processed.
  [
    4,
    async (act) => {
      await act('pay');
      await act('refund');
    },
  ],
];
/** Of the invoices: those that are paid only on the next day, after they have expired here. */
const NEXT_DAY_SHARE = 0.08;
/** Of the invoices: those that are given back, the half of them in part, on the day after the one on which fate had them paid. */
const LATE_REFUND_SHARE = 0.15;

type Fate = (
  act: (action: InvoiceAction, refundKopeks?: number) => Promise<boolean>,
  later: () => Promise<void>,
  amountKopeks: number,
) => Promise<void>;

/** The provider has failed: the text of the specification, by a drill that makes it fail. */
const isProviderFailure = ({ status, body }: Answer) => status === 500 && /Failed to create|payment_creation_failed/.test(body);

/** A top-up by one of the methods; what becomes of the invoice follows in the background. */
export async function topUp(drill: DrillContext, person: Person): Promise<void> {
  const { random } = drill;
  const method = random.pick([...INVOICE_METHODS, ...REFUNDING_METHODS, 'messenger_stars', 'tribute']);
  const amountKopeks = random.between(MIN_KOPEKS, MAX_KOPEKS);
  if (method === 'tribute') return donate(drill, person, amountKopeks);
  if (method === 'messenger_stars') return payInStars(drill, person, amountKopeks);
  const invoiceId = await openTopup(drill, person, method, amountKopeks);
  if (invoiceId !== null) payLater(drill, { invoiceId, method, amountKopeks });
}

/** @returns the id at the fake; null when there is no invoice */
export async function openTopup(drill: DrillContext, person: Person, method: string, amountKopeks: number, option?: string) {
  const reply = await drill.client.post({
    operation: `topup ${method}`,
    path: '/cabinet/balance/topup',
    userId: person.id,
    body: { amount_kopeks: amountKopeks, payment_method: method, ...(option === undefined ? {} : { payment_option: option }) },
    isProvoked: isProviderFailure,
  });
  return reply.outcome === 'done' ? invoiceOf(reply.body.payment_url) : null;
}

/** The id of an invoice, from the address of its page. */
export const invoiceOf = (paymentUrl: string): string => paymentUrl.split('/').at(-1)!;

/** What becomes of an invoice, soon or on the next day. */
export function payLater(
  drill: DrillContext,
  { invoiceId, method, amountKopeks }: { invoiceId: string; method: string; amountKopeks: number },
): void {
  const { random } = drill;
  const fate = chooseFate(
    random.between(
      1,
      FATES.reduce((sum, [weight]) => sum + weight, 0),
    ),
  );
  const later = () => wait(random.between(0, MAX_DELAY_MS));
  const run = async (): Promise<void> => {
    await later();
    await fate(
      (action, kopeks) => perform(drill, invoiceId, EXACT_METHODS.has(method) ? exactly(action) : action, kopeks),
      later,
      amountKopeks,
    );
  };
  if (random.next() < LATE_REFUND_SHARE) {
    const kopeks = random.next() < 0.5 ? Math.floor(amountKopeks / 3) : undefined;
    drill.tomorrow.push(async () => void (await perform(drill, invoiceId, 'refund', kopeks)));
  }
  if (random.next() >= NEXT_DAY_SHARE) drill.inBackground(run);
  else drill.tomorrow.push(run);
}

const exactly = (action: InvoiceAction): InvoiceAction => (action === 'overpay' || action === 'underpay' ? 'pay' : action);

function chooseFate(at: number): Fate {
  let rest = at;
  for (const [weight, fate] of FATES) {
    rest -= weight;
    if (rest <= 0) return fate;
  }
  throw new Error('the weights of the fates are wrong');
}

/** A donation has no invoice here: the person is known by the messenger id. */
async function donate(drill: DrillContext, { messengerId }: Person, amountKopeks: number): Promise<void> {
  const { payments } = drill.fixture.fakes;
  const response = await fetch(`${payments.server.url}/tribute/donate`, {
    method: 'POST',
    body: new URLSearchParams({ messenger_id: String(messengerId), amount: (amountKopeks / 100).toFixed(2) }).toString(),
    redirect: 'manual',
  });
  const location = response.headers.get('location');
  if (location === null) throw new Error(`no donation: ${response.status}`);
  await perform(drill, invoiceOf(location), 'pay');
}

async function payInStars(drill: DrillContext, person: Person, amountKopeks: number): Promise<void> {
  const reply = await drill.client.post({
    operation: 'topup messenger_stars',
    path: '/cabinet/balance/stars-invoice',
    userId: person.id,
    body: { amount_kopeks: amountKopeks },
    isProvoked: isProviderFailure,
  });
  if (reply.outcome !== 'done') return;
  drill.inBackground(async () => {
    const payer = { id: person.messengerId, first_name: 'Drill' };
    const invoice = await drill.fixture.fakes.messenger.payStars(reply.body.invoice_url, payer);
    if (invoice) countOne(drill.deeds.actions, `messenger_stars ${invoice.status}`);
  });
}
