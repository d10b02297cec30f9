import { describe, expect, it } from 'vitest';
import {
  compareMovements,
  descriptionOf,
  expectedBalances,
  type Movement,
} from '../../../packages/measures/src/drills/movement-check.ts';
import { WriteBook } from '../../../packages/measures/src/drills/write-book.ts';

const PRICE = -9_900;

function setUp() {
  const book = new WriteBook();
  const movements: Movement[] = [];
  const move = (movement: Partial<Movement> & Pick<Movement, 'userId' | 'type' | 'amountKopeks'>): void => {
    movements.push({ id: movements.length + 1, description: null, paymentMethod: null, externalId: null, ...movement });
  };
  const write = (
    kind: 'balance' | 'purchase' | 'callback',
    userId: number,
    kopeks: number,
    key: string,
    isAcknowledged = true,
  ) => {
    book.begin(kind, userId, kopeks, key).isAcknowledged = isAcknowledged;
  };
  const balance = (userId: number, amountKopeks: number, key: string) =>
    move({ userId, type: 'deposit', amountKopeks, description: descriptionOf({ key }) });
  const credit = (userId: number, amountKopeks: number, externalId: string) =>
    move({ userId, type: 'deposit', amountKopeks, paymentMethod: 'sandbox', externalId, description: 'Top-up' });
  const sale = (userId: number, amountKopeks = PRICE) => move({ userId, type: 'subscription_payment', amountKopeks });
  return { book, movements, write, balance, credit, sale, compare: () => compareMovements(book.writes, movements) };
}

const NONE = { lost: [], doubled: [], changed: [], unknown: [], unanswered: [] };

describe('compareMovements', () => {
  it('accepts one movement for each acknowledged write', () => {
    const { write, balance, credit, sale, compare } = setUp();
    write('balance', 1, 500, 'k1');
    balance(1, 500, 'k1');
    write('callback', 1, 50_000, 'p1');
    credit(1, 50_000, 'p1');
    for (const key of ['s1', 's2']) write('purchase', 2, PRICE, key);
    sale(2);
    sale(2);
    expect(compare()).toEqual(NONE);
  });

  it('finds acknowledged writes that are lost', () => {
    const { write, sale, compare } = setUp();
    write('balance', 1, 500, 'k1');
    write('callback', 1, 50_000, 'p1');
    for (const key of ['s1', 's2', 's3']) write('purchase', 2, PRICE, key);
    sale(2);
    expect(compare().lost).toHaveLength(4);
  });

  it('finds keys with two movements', () => {
    const { write, balance, credit, sale, compare } = setUp();
    write('balance', 1, 500, 'k1');
    balance(1, 500, 'k1');
    balance(1, 500, 'k1');
    write('callback', 1, 50_000, 'p1');
    credit(1, 50_000, 'p1');
    credit(1, 50_000, 'p1');
    write('purchase', 2, PRICE, 's1');
    sale(2);
    sale(2);
    expect(compare()).toMatchObject({ lost: [], unknown: [] });
    expect(compare().doubled).toHaveLength(3);
  });

  it('finds other amounts, other users and movements that nobody asked for', () => {
    const { write, balance, credit, sale, compare } = setUp();
    write('balance', 1, 500, 'k1');
    balance(1, 501, 'k1');
    write('balance', 1, 500, 'k2');
    balance(2, 500, 'k2');
    write('purchase', 2, PRICE, 's1');
    sale(2, -1);
    expect(compare().changed).toHaveLength(3);
    balance(1, 1, 'nobody');
    credit(1, 1, 'nobody');
    sale(9);
    expect(compare().unknown).toHaveLength(3);
  });

  it('accepts that a write without an answer was done or was not', () => {
    const { write, balance, sale, compare } = setUp();
    write('balance', 1, 500, 'done', false);
    balance(1, 500, 'done');
    write('balance', 1, 500, 'not done', false);
    write('purchase', 2, PRICE, 's1', false);
    sale(2);
    write('purchase', 3, PRICE, 's2', false);
    expect(compare()).toMatchObject({ lost: [], doubled: [], unknown: [] });
    expect(compare().unanswered).toHaveLength(4);
  });
});

it('expects balances by what was acknowledged, and by what was done without an answer', () => {
  const { book, movements, write, balance, sale } = setUp();
  write('balance', 1, 500, 'k1');
  write('balance', 1, -200, 'k2', false);
  balance(1, -200, 'k2');
  write('balance', 1, 70, 'not done', false);
  write('purchase', 2, PRICE, 's1');
  write('purchase', 2, PRICE, 's2', false);
  sale(2);
  sale(2);
  write('purchase', 3, PRICE, 's3', false);
  const before = new Map([
    [1, 1_000],
    [2, 50_000],
    [3, 5],
  ]);
  // The movement of k1 is lost: its balance is expected all the same.
  expect(expectedBalances(before, book.writes, movements)).toEqual(
    new Map([
      [1, 1_300],
      [2, 50_000 + 2 * PRICE],
      [3, 5],
    ]),
  );
});

describe('WriteBook', () => {
  const answer = (status: number) => ({ status, body: '', problem: status === 0 ? 'ECONNRESET' : null, headers: {} });

  it('sends a key again after each failure until it is acknowledged', async () => {
    const book = new WriteBook();
    const statuses = [0, 503, 500, 409, 200];
    const requester = { send: async () => answer(statuses.shift()!), close: () => undefined };
    const write = book.begin('balance', 1, 100);
    await book.sendUntilAcknowledged(
      write,
      requester,
      () => ({ method: 'POST', url: '' }),
      async () => true,
    );
    expect(write).toMatchObject({ isAcknowledged: true, tries: 5 });
    expect(book.successes).toHaveLength(1);
    expect(book.unexpected.map(({ status }) => status)).toEqual([500]);
    expect(book.total((status) => status >= 500)).toBe(2);
    expect(book.withoutRetryAfter.get('balance')).toBe(1);
    expect(book.problems.get('ECONNRESET')).toBe(1);
  });

  it('ends at a refusal, and when there is no more time', async () => {
    const book = new WriteBook();
    const send = (status: number) => ({ send: async () => answer(status), close: () => undefined });
    const refused = book.begin('balance', 1, 100);
    const late = book.begin('balance', 1, 100);
    const call = () => ({ method: 'POST' as const, url: '' });
    await book.sendUntilAcknowledged(refused, send(422), call, async () => true);
    await book.sendUntilAcknowledged(late, send(503), call, async () => false);
    expect([refused, late].map(({ isAcknowledged, tries }) => [isAcknowledged, tries])).toEqual([
      [false, 1],
      [false, 1],
    ]);
    expect(book.unexpected.map(({ status }) => status)).toEqual([422]);
  });
});
