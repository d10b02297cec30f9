/** Clients that move money and read, over all instances, for as long as a drill runs. */
import { createHmac } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import type { Fixture } from './fixture.ts';
import { descriptionOf } from './movement-check.ts';
import { type Call, createRequester } from './requester.ts';
import type { SeededRandom } from './seeded-random.ts';
import type { MoneyWrite, WriteBook } from './write-book.ts';

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

export function startMoneyLoad(fixture: Fixture, book: WriteBook, random: SeededRandom, options: LoadOptions): MoneyLoad {
  const { urls, clients, pauseMs } = options;
  const connections = clients.balance + clients.purchase + clients.callback + clients.read;
  const requester = createRequester({ connections, limitMs: ANSWER_LIMIT_MS });
  let isStopping = false;
  let giveUpAt = Number.POSITIVE_INFINITY;
  let remaining = options.balanceWrites ?? Number.POSITIVE_INFINITY;
  let nextPayment = 0;
  const operator = { 'x-api-key': fixture.apiToken, 'content-type': 'application/json' };
  const asUser = (id: number) => ({ authorization: `Bearer ${fixture.tokenOf(id)}`, 'content-type': 'application/json' });
  const mayTry = async (): Promise<boolean> => {
    await wait(random.between(MIN_PAUSE_MS, MAX_PAUSE_MS));
    return performance.now() < giveUpAt;
  };
  const send = (write: MoneyWrite, lane: number, call: (url: string) => Call) =>
    book.sendUntilAcknowledged(write, requester, (attempt) => call(urls[(lane + attempt) % urls.length]!), mayTry);

  const watched = options.watchedUsers ?? fixture.userIds;
  const writeBalance = async (lane: number): Promise<boolean> => {
    if (remaining <= 0) return false;
    remaining -= 1;
    const userId = random.pick(random.next() < WATCHED_SHARE ? watched : fixture.userIds);
    const sign = random.next() < (options.debitShare ?? 0) ? -1 : 1;
    const write = book.begin('balance', userId, sign * random.between(1, MAX_AMOUNT_KOPEKS));
    const body = JSON.stringify({ amount_kopeks: write.amountKopeks, description: descriptionOf(write) });
    const headers = { ...operator, 'idempotency-key': write.key };
    await send(write, lane, (url) => ({ method: 'POST', url: `${url}/users/${userId}/balance`, headers, body }));
    return true;
  };
  // Each client has other buyers, so that a user has at most one purchase that is not answered.
  const buyersOf = (lane: number) => fixture.userIds.filter((_, index) => index % clients.purchase === lane);
  const purchase = async (lane: number): Promise<boolean> => {
    const userId = random.pick(buyersOf(lane));
    const write = book.begin('purchase', userId, -fixture.priceKopeks);
    const body = JSON.stringify({ tariff_id: fixture.tariffId, period_days: 30 });
    const headers = { ...asUser(userId), 'idempotency-key': write.key };
    const path = '/cabinet/subscription/purchase-tariff';
    await send(write, lane, (url) => ({ method: 'POST', url: `${url}${path}`, headers, body }));
    return true;
  };
  const callBack = async (lane: number): Promise<boolean> => {
    const payment = fixture.payments[nextPayment++];
    if (payment === undefined) return false;
    const write = book.begin('callback', payment.userId, payment.amountKopeks, payment.externalId);
    const body = JSON.stringify({
      event_id: `${payment.externalId}:paid`,
      event: 'invoice.paid',
      invoice: { id: payment.externalId, status: 'paid', amount_kopeks: payment.amountKopeks },
    });
    const signature = createHmac('sha256', fixture.callbackSecret).update(body).digest('hex');
    const headers = { 'content-type': 'application/json', 'x-sandbox-signature': signature };
    await send(write, lane, (url) => ({ method: 'POST', url: `${url}/sandbox-payment-webhook`, headers, body }));
    return true;
  };
  const read = async (lane: number): Promise<boolean> => {
    const userId = random.pick(fixture.userIds);
    const url = random.pick(urls);
    const call: Call =
      lane % 2 === 0
        ? { method: 'GET', url: `${url}/users/${userId}`, headers: operator }
        : { method: 'GET', url: `${url}/cabinet/balance`, headers: asUser(userId) };
    const answer = await requester.send(call);
    book.count('read', answer);
    if (answer.status !== 200) await wait(MIN_PAUSE_MS);
    return true;
  };

  const lanes = (count: number, step: (lane: number) => Promise<boolean>): Promise<void>[] =>
    Array.from({ length: count }, async (_, lane) => {
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
