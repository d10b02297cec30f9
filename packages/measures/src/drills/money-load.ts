/** Clients that move money and read, over all instances, for as long as a drill runs. */
import { createHmac } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Fixture } from './fixture.ts';
import { descriptionOf } from './movement-check.ts';
import { type Call, createRequester } from './requester.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { MoneyWrite, WriteBook } from './write-book.ts';

/** Whose money is moved. */
export type LoadTarget = Pick<
  Fixture,
  'apiToken' | 'userIds' | 'tokenOf' | 'tariffId' | 'priceKopeks' | 'callbackSecret' | 'payments'
>;

export interface LoadOptions {
  /** Addresses that take the requests, in turn; a client's next try goes to the next one. */
  urls: readonly string[];
  /** Clients of each kind. */
  clients: { balance: number; purchase: number; callback: number; read: number };
  /** Pause of a client after each answer. */
  pauseMs: number;
  /** Balance writes to be made by all clients together; without it they go on until `stop`. */
  balanceWrites?: number;
  /** Users whose sockets are watched: a third of the writes is theirs. */
  watchedUsers?: readonly number[];
  /** Of the balance writes: those that take money; the others give it. */
  debitShare?: number;
}

export interface MoneyLoad {
  /** Resolves when the clients have made `balanceWrites`; never without it. */
  readonly balanceDone: Promise<void>;
  /**
   * Begins nothing new, and waits until what was sent is acknowledged, at most `limitMs`.
   * @param callbacksMs how long the load goes on before, at most, until every payment was reported: the providers know all of them as paid
   *   from the beginning, and after an outage the service asks for them by itself (spec 10 F2)
   */
  stop(limitMs: number, callbacksMs?: number): Promise<void>;
}

const ANSWER_LIMIT_MS = 30_000;
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 400;
const MAX_AMOUNT_KOPEKS = 5_000;
const WATCHED_SHARE = 1 / 3;

export function startMoneyLoad(target: LoadTarget, book: WriteBook, random: SeededRandom, options: LoadOptions): MoneyLoad {
  const { urls, clients, pauseMs } = options;
  const connections = clients.balance + clients.purchase + clients.callback + clients.read;
  const requester = createRequester({ connections, limitMs: ANSWER_LIMIT_MS });
  let isStopping = false;
  let giveUpAt = Number.POSITIVE_INFINITY;
  let remaining = options.balanceWrites ?? Number.POSITIVE_INFINITY;
  const operator = { 'x-api-key': target.apiToken, 'content-type': 'application/json' };
  const asUser = (id: number) => ({ authorization: `Bearer ${target.tokenOf(id)}`, 'content-type': 'application/json' });
  const mayTry = async (): Promise<boolean> => {
    await wait(random.between(MIN_PAUSE_MS, MAX_PAUSE_MS));
    return performance.now() < giveUpAt;
  };
  /** The request of a write, which is the same each time that it is sent. */
  const callOf = (write: MoneyWrite): Omit<Call, 'url'> & { path: string } => {
    const keyed = (headers: Record<string, string>) => ({ ...headers, 'idempotency-key': write.key });
    switch (write.kind) {
      case 'balance': {
        const body = JSON.stringify({ amount_kopeks: write.amountKopeks, description: descriptionOf(write) });
        return { method: 'POST', path: `/users/${write.userId}/balance`, headers: keyed(operator), body };
      }
      case 'purchase': {
        const body = JSON.stringify({ tariff_id: target.tariffId, period_days: 30 });
        return { method: 'POST', path: '/cabinet/subscription/purchase-tariff', headers: keyed(asUser(write.userId)), body };
      }
      case 'callback': {
        const body = JSON.stringify({
          event_id: `${write.key}:paid`,
          event: 'invoice.paid',
          invoice: { id: write.key, status: 'paid', amount_kopeks: write.amountKopeks },
        });
        const signature = createHmac('sha256', target.callbackSecret).update(body).digest('hex');
        const headers = { 'content-type': 'application/json', 'x-sandbox-signature': signature };
        return { method: 'POST', path: '/sandbox-payment-webhook', headers, body };
      }
    }
  };
  const send = (write: MoneyWrite, lane: number): Promise<void> => {
    const { path, ...call } = callOf(write);
    const toNext = (attempt: number) => ({ ...call, url: `${urls[(lane + attempt) % urls.length]!}${path}` });
    return book.sendUntilAcknowledged(write, requester, toNext, mayTry);
  };

  const watched = options.watchedUsers ?? target.userIds;
  const writeBalance = async (lane: number): Promise<boolean> => {
    if (remaining <= 0) return false;
    remaining -= 1;
    const userId = random.pick(random.next() < WATCHED_SHARE ? watched : target.userIds);
    const sign = random.next() < (options.debitShare ?? 0) ? -1 : 1;
    await send(book.begin('balance', userId, sign * random.between(1, MAX_AMOUNT_KOPEKS)), lane);
    return true;
  };
  // Each client has other buyers, so that a user has at most one purchase that is not answered.
  const buyersOf = (lane: number) => target.userIds.filter((_, index) => index % clients.purchase === lane);
  const purchase = async (lane: number): Promise<boolean> => {
    await send(book.begin('purchase', random.pick(buyersOf(lane)), -target.priceKopeks), lane);
    return true;
  };
  let nextPayment = book.writes.filter(({ kind }) => kind === 'callback').length;
  const callBack = async (lane: number): Promise<boolean> => {
    const payment = target.payments[nextPayment++];
    if (payment === undefined) return false;
    await send(book.begin('callback', payment.userId, payment.amountKopeks, payment.externalId), lane);
    return true;
  };
  const read = async (lane: number): Promise<boolean> => {
    const userId = random.pick(target.userIds);
    const url = random.pick(urls);
    const call: Call =
      lane % 2 === 0
        ? { method: 'GET', url: `${url}/users/${userId}`, headers: operator }
        : { method: 'GET', url: `${url}/cabinet/balance`, headers: asUser(userId) };
    const answer = await requester.send(call);
    await book.countRead('read', answer);
    if (answer.status !== 200) await wait(MIN_PAUSE_MS);
    return true;
  };

  // What a killed process had sent: nothing else is begun before it is acknowledged.
  const open = book.writes.filter(({ isAcknowledged }) => !isAcknowledged);
  const resumed = Promise.all(open.map((write, index) => send(write, index)));
  const lanes = (count: number, step: (lane: number) => Promise<boolean>): Promise<void>[] =>
    Array.from({ length: count }, async (_, lane) => {
      await resumed;
      while (!isStopping && (await step(lane))) if (pauseMs > 0) await wait(pauseMs);
    });
  const balanceLanes = lanes(clients.balance, writeBalance);
  const callbackLanes = lanes(clients.callback, callBack);
  const others = [...lanes(clients.purchase, purchase), ...callbackLanes, ...lanes(clients.read, read)];
  return {
    balanceDone: Promise.all(balanceLanes).then(() => undefined),
    stop: async (limitMs, callbacksMs = 0) => {
      await Promise.race([Promise.all(callbackLanes), wait(callbacksMs)]);
      isStopping = true;
      giveUpAt = performance.now() + limitMs;
      await Promise.all([...balanceLanes, ...others]);
      requester.close();
    },
  };
}
