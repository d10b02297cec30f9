import { describe, expect, it } from 'vitest';
import { compareBooks } from '../../../packages/measures/src/drills/kill-points/books.ts';
import { distinctPoints, pointAfter, pointBefore } from '../../../packages/measures/src/drills/kill-points/points.ts';

describe('points at which an operation is killed', () => {
  it('are one between an answer and the next request, since nothing happens there', () => {
    const points = [pointBefore('BEGIN'), pointAfter('BEGIN'), pointBefore('COMMIT'), pointAfter('COMMIT')];
    expect(distinctPoints(points)).toEqual([1, 2, 4]);
  });

  it('are all where requests overlap', () => {
    expect(distinctPoints([pointBefore('a'), pointBefore('b'), pointAfter('a'), pointAfter('b')])).toEqual([1, 2, 3, 4]);
  });
});

describe('books of an operation that was killed', () => {
  const books = { balance: 100, movements: [['deposit', 100]], messages: { 'Paid: #': 1 } };

  it.each([
    ['are right when they are the same', books, []],
    ['are right when a message came once more', { ...books, messages: { 'Paid: #': 2 } }, []],
    ['are wrong with another balance', { ...books, balance: 0 }, ['balance 0, without a kill 100']],
    [
      'are wrong with a second movement',
      { ...books, movements: [...books.movements, ['deposit', 100]] },
      ['movements [["deposit",100],["deposit",100]], without a kill [["deposit",100]]'],
    ],
    ['are right when a message was lost, which may be sent at most once', { ...books, messages: {} }, []],
    [
      'are wrong when a message came twice more',
      { ...books, messages: { 'Paid: #': 3 } },
      ['message "Paid: #" came 3 times, without a kill 1'],
    ],
    [
      'are wrong with another message',
      { ...books, messages: { 'Paid: #': 1, Refused: 1 } },
      ['message "Refused" came 1 times, without a kill 0'],
    ],
  ])('%s', (_name, found, wrong) => {
    expect(compareBooks(books, found)).toEqual(wrong);
  });
});
