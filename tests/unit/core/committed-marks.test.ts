/** Spec 08 S10: how far the log of the primary is, asked for many reads at once. */
import { expect, test } from 'vitest';
import type { SqlRunner } from '../../../src/core/db/db.ts';
import { committedMarks } from '../../../src/core/db/replica.ts';

/** A primary whose answers the test gives. */
function aPrimary() {
  const questions: ((mark: { lsn: string; timeline: string } | Error) => void)[] = [];
  const sql = (() =>
    new Promise((resolve, reject) => {
      questions.push((mark) => (mark instanceof Error ? reject(mark) : resolve([mark])));
    })) as unknown as SqlRunner;
  const answer = async (mark: { lsn: string; timeline: string } | Error) => {
    questions.shift()!(mark);
    await settled();
  };
  return { sql, questions, answer };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const at = (lsn: string, timeline = '00000001') => ({ lsn, timeline });

test('who comes while a question is under way waits for the next one, which all of them share', async () => {
  const { sql, questions, answer } = aPrimary();
  const committed = committedMarks(sql, () => undefined);
  const first = committed();
  await settled();
  const later = [committed(), committed(), committed()];
  await settled();
  expect(questions).toHaveLength(1);
  await answer(at('0/1'));
  expect(questions).toHaveLength(1);
  await answer(at('0/9'));
  expect((await first).lsn).toBe('0/1');
  // An answer of before they came might leave out what was committed since.
  expect((await Promise.all(later)).map(({ lsn }) => lsn)).toEqual(['0/9', '0/9', '0/9']);
});

test('a question that fails is asked again for the next read', async () => {
  const { sql, answer } = aPrimary();
  const committed = committedMarks(sql, () => undefined);
  const lost = expect(committed()).rejects.toThrow('away');
  await settled();
  await answer(new Error('away'));
  await lost;
  const next = committed();
  await settled();
  await answer(at('0/2'));
  expect((await next).lsn).toBe('0/2');
});

test('another timeline is reported once, and the read goes to the primary', async () => {
  const { sql, answer } = aPrimary();
  let changes = 0;
  const committed = committedMarks(sql, () => (changes += 1));
  const marks = [committed()];
  await settled();
  await answer(at('0/1'));
  const refused = expect(committed()).rejects.toThrow('another node has become the primary');
  await settled();
  await answer(at('0/1', '00000002'));
  await refused;
  marks.push(committed());
  await settled();
  await answer(at('0/3', '00000002'));
  expect([(await marks[0])!.lsn, (await marks[1])!.lsn, changes]).toEqual(['0/1', '0/3', 1]);
});
